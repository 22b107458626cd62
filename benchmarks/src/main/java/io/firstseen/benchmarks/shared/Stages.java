package io.firstseen.benchmarks.shared;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Starts each stage of the source, and tells when its last record has passed through the job: a
 * watermark follows it and reaches the sinks after all records before it.
 *
 * <p>Flink creates sources and sinks in this JVM, so they find this object in {@link #current}; one
 * job runs at a time.
 */
public final class Stages {
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

  /** Must be called before a job is started. */
  public static Stages prepare(int stages, int sinks) {
    current = new Stages(stages, sinks);
    return current;
  }

  static Stages current() {
    return current;
  }

  /** Starts a stage. The returned future completes when the stage is done. */
  public CompletableFuture<Void> begin(int stage) {
    begun.get(stage).complete(null);
    return done.get(stage);
  }

  /** Lets the input end after the last stage. */
  public void end() {
    begun.get(begun.size() - 1).complete(null);
  }

  /** Completes when a stage may begin; the stage after the last is the end of input. */
  CompletableFuture<Void> begun(int stage) {
    return begun.get(stage);
  }

  /** Called when a sink was created, by the thread that will write to it. */
  void sinkMade() {
    sinkThreads.add(Thread.currentThread().getId());
  }

  void received(long more) {
    records.add(more);
  }

  /** Called when a sink has received all its records of a stage. */
  void arrived(long stage) {
    if (stage >= 0 && stage < done.size() && sinksLeft.get((int) stage).decrementAndGet() == 0) {
      done.get((int) stage).complete(null);
    }
  }

  /** The threads of the tasks that end in a sink. */
  public long[] sinkThreads() {
    return sinkThreads.stream().mapToLong(Long::longValue).toArray();
  }

  /**
   * The records that the sinks have received: all of completed stages, and of the stage that runs
   * those that they have told of, about thousand at a time.
   */
  public long recordsAtSinks() {
    return records.sum();
  }
}
