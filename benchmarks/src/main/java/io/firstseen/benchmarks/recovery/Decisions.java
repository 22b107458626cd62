package io.firstseen.benchmarks.recovery;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

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

  /** A counter for a new sink. */
  static Counter counter(int attempt) {
    Counter counter = new Counter(attempt, new AtomicLong());
    COUNTERS.add(counter);
    return counter;
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
