package io.firstseen.benchmarks.recovery;

import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Counts records and drops them.
 *
 * @param <T> type of the records
 */
final class DecisionSink<T> implements Sink<T> {
  private static final long serialVersionUID = 1;

  @Override
  public SinkWriter<T> createWriter(WriterInitContext context) {
    Decisions.Counter counter = Decisions.counter(context.getTaskInfo().getAttemptNumber());
    return new SinkWriter<>() {
      @Override
      public void write(T record, Context ignored) {
        counter.countOne();
      }

      @Override
      public void flush(boolean endOfInput) {}

      @Override
      public void close() {}
    };
  }
}
