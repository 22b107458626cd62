package io.firstseen.benchmarks.recovery;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Counts the records that a job has decided on, accepted or repeated. Flink creates the sinks in
 * this JVM, so they find the counters here; one job runs at a time.
 */
final class Decisions {
  private static final Queue<Counter> COUNTERS = new ConcurrentLinkedQueue<>();

  private Decisions() {}

  /**
   * The records of one sink.
   *
   * @param attempt of its task; 0 until the job fails
   * @param records so far; only the sink's thread changes it
   */
  record Counter(int attempt, AtomicLong records) {
    void countOne() {
      records.setOpaque(records.getPlain() + 1);
    }
  }

  /** Must be called before a job is started. */
  static void forget() {
    COUNTERS.clear();
  }

  static final class Counting<T> implements Sink<T> {
    private static final long serialVersionUID = 1;

    @Override
    public SinkWriter<T> createWriter(WriterInitContext context) {
      Counter counter = new Counter(context.getTaskInfo().getAttemptNumber(), new AtomicLong());
      COUNTERS.add(counter);
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

  /** All records of tasks in this or a later attempt. */
  static long since(int attempt) {
    long records = 0;
    for (Counter counter : COUNTERS) {
      records += counter.attempt() >= attempt ? counter.records().getOpaque() : 0;
    }
    return records;
  }
}
