package io.firstseen.benchmarks.dedup;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Lets each stage of the source begin when it shall, and tells when its last record has gone
 * through the job: a watermark follows it, and reaches the sinks when all before it is done.
 *
 * <p>Flink makes the sources and the sinks, in this JVM, so they find it in {@link #current}; one
 * job runs at a time.
 */
final class Stages {
  private static volatile Stages current = new Stages(0, 1);

  private final List<CompletableFuture<Void>> begun = new ArrayList<>();
  private final List<CompletableFuture<Void>> done = new ArrayList<>();
  private final List<AtomicInteger> sinksLeft = new ArrayList<>();
  private final Set<Long> sinkThreads = ConcurrentHashMap.newKeySet();
  private final LongAdder records = new LongAdder();

  private Stages(int stages, int sinks) {
    for (int stage = 0; stage < stages; stage++) {
      begun.add(new CompletableFuture<>());
      done.add(new CompletableFuture<>());
      sinksLeft.add(new AtomicInteger(sinks));
    }
    begun.add(new CompletableFuture<>());
  }

  /** Before a job is started. */
  static Stages prepare(int stages, int sinks) {
    current = new Stages(stages, sinks);
    return current;
  }

  static Stages current() {
    return current;
  }

  /** Lets a stage begin; the answer completes when the stage is done. */
  CompletableFuture<Void> begin(int stage) {
    begun.get(stage).complete(null);
    return done.get(stage);
  }

  /** Lets the input end after the last stage. */
  void end() {
    begun.get(begun.size() - 1).complete(null);
  }

  /** When a stage may begin; the one after the last is the end of input. */
  CompletableFuture<Void> begun(int stage) {
    return begun.get(stage);
  }

  /** A sink has been made, by the thread that will write to it. */
  void sinkMade() {
    sinkThreads.add(Thread.currentThread().getId());
  }

  /** A sink has got all records of a stage, so many of them. */
  void arrived(long stage, long written) {
    if (stage >= 0 && stage < done.size()) {
      records.add(written);
      if (sinksLeft.get((int) stage).decrementAndGet() == 0) {
        done.get((int) stage).complete(null);
      }
    }
  }

  /** The threads of the tasks that end in a sink. */
  long[] sinkThreads() {
    return sinkThreads.stream().mapToLong(Long::longValue).toArray();
  }

  /** Records that the sinks got in all stages that are done. */
  long recordsAtSinks() {
    return records.sum();
  }
}
