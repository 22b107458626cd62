package io.firstseen.jobs.shared;

import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.streaming.api.datastream.DataStream;

/** Adds a sink, and the operators before it, to a job. */
@FunctionalInterface
public interface JobSink<T> {

  /**
   * Adds the sink.
   *
   * @param uid the uid of the sink, and the prefix of the uids of the operators before it
   */
  void addTo(DataStream<T> elements, String uid);

  /** A sink that one task writes. */
  interface OfOneTask<T> extends Sink<T>, JobSink<T> {
    @Override
    default void addTo(DataStream<T> elements, String uid) {
      elements.sinkTo(this).name(uid).uid(uid).setParallelism(1);
    }
  }
}
