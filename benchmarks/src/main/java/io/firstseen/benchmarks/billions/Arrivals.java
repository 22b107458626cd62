package io.firstseen.benchmarks.billions;

import io.firstseen.benchmarks.shared.Url;
import io.firstseen.serializers.Change;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/**
 * Counts what the dedup has decided on. Its sinks run in the threads of the dedup's tasks, and find
 * this object in {@link #CURRENT}, as Flink creates them in this JVM.
 */
final class Arrivals {
  static final Arrivals CURRENT = new Arrivals();

  /** The clock is read once in this many records: reading it for each would cost some percent. */
  private static final int RECORDS_PER_TICK = 16;

  private final List<Counter> accepted = new CopyOnWriteArrayList<>();
  private final List<Counter> duplicates = new CopyOnWriteArrayList<>();

  private Arrivals() {}

  /** The sink of the accepted events, or of the duplicates. */
  static Sink<Change<Url>> sink(boolean ofAccepted) {
    return new CountingSink(ofAccepted);
  }

  long accepted() {
    return sum(accepted, counter -> counter.records.get());
  }

  /** All records that were decided on. */
  long records() {
    return accepted() + sum(duplicates, counter -> counter.records.get());
  }

  /**
   * The longest time in which no task accepted {@value #RECORDS_PER_TICK} records, in nanoseconds,
   * since this was last called. It bounds the longest call of the operator from above.
   */
  long takeLongestGapNanos() {
    return accepted.stream()
        .mapToLong(counter -> counter.longestGapNanos.getAndSet(0))
        .max()
        .orElse(0);
  }

  private static long sum(List<Counter> counters, ToLongFunction<Counter> of) {
    return counters.stream().mapToLong(of).sum();
  }

  /** Of one sink; written by its thread alone. */
  private static final class Counter {
    final AtomicLong records = new AtomicLong();
    final AtomicLong longestGapNanos = new AtomicLong();
    private long count;
    private long lastNanos;

    void add() {
      count++;
      records.setOpaque(count);
      if (count % RECORDS_PER_TICK == 0) {
        long now = System.nanoTime();
        long gap = now - lastNanos;
        if (gap > longestGapNanos.getOpaque() && lastNanos != 0) {
          longestGapNanos.set(gap);
        }
        lastNanos = now;
      }
    }
  }

  private record CountingSink(boolean ofAccepted) implements Sink<Change<Url>> {
    @Override
    public SinkWriter<Change<Url>> createWriter(WriterInitContext context) {
      Counter counter = new Counter();
      (ofAccepted ? CURRENT.accepted : CURRENT.duplicates).add(counter);
      return new Writer(counter);
    }
  }

  private record Writer(Counter counter) implements SinkWriter<Change<Url>> {
    @Override
    public void write(Change<Url> change, Context context) {
      counter.add();
    }

    @Override
    public void flush(boolean endOfInput) {}

    @Override
    public void close() {}
  }
}
