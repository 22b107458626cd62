package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.operators.restores.EventScript.Outcome;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/**
 * The output of a job, in order and exactly once: like a file that a restored job truncates to its
 * length in the checkpoint.
 */
final class Outcomes {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private long[] codes = new long[1024];
  private int size;
  private int awaited;
  private int cuts;
  private int lastCut;
  private int cutOff;
  private boolean failNext;
  private int failAtCheckpointOf = Integer.MAX_VALUE;
  private Semaphore permits;

  static long code(long position, int subtask, Outcome outcome) {
    return position << 16 | (long) subtask << 2 | outcome.code;
  }

  /** Fails the job at the next outcome, once. */
  synchronized void failNext() {
    failNext = true;
  }

  /** Fails the job when it hears that a checkpoint of all these outcomes is complete, once. */
  synchronized void failWhenCheckpointed(int outcomes) {
    failAtCheckpointOf = outcomes;
  }

  /** Takes no outcome without a permit. */
  synchronized Semaphore hold() {
    permits = new Semaphore(0);
    return permits;
  }

  /** Takes outcomes freely again. */
  synchronized void release() {
    Semaphore held = permits;
    permits = null;
    held.release(Integer.MAX_VALUE / 2);
  }

  synchronized int size() {
    return size;
  }

  /** How often a job went back to a checkpoint. */
  synchronized int cuts() {
    return cuts;
  }

  /** The length that the last job to go back went back to. */
  synchronized int lastCut() {
    return lastCut;
  }

  /** How many outcomes were cut off, to come a second time. */
  synchronized int cutOff() {
    return cutOff;
  }

  /** Whether there is no more to wait for. */
  @FunctionalInterface
  interface Liveness {
    /** Throws what ended the job. */
    void check() throws Exception;
  }

  /** Waits for as many outcomes as there are events let through: each event has one. */
  void awaitSize(int wanted, Liveness liveness) throws Exception {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (!isSizeSoon(wanted)) {
      assertThat(System.nanoTime())
          .as("patience, at %d of %d outcomes", size(), wanted)
          .isLessThan(deadline);
      liveness.check();
    }
  }

  private synchronized boolean isSizeSoon(int wanted) throws InterruptedException {
    long deadline = System.nanoTime() + 200_000_000;
    awaited = wanted;
    while (size != wanted) {
      long leftMillis = (deadline - System.nanoTime()) / 1_000_000;
      if (leftMillis <= 0) {
        return false;
      }
      wait(leftMillis);
    }
    return true;
  }

  /**
   * The outcome of each event, null for those without; asserts that none has two, that none is of a
   * later event, and that there are as many as there should be.
   */
  synchronized Outcome[] byPosition(int events) {
    Outcome[] outcomes = new Outcome[events];
    for (long code : Arrays.copyOf(codes, size)) {
      int position = Math.toIntExact(code >>> 16);
      assertThat(position).isLessThan(events);
      assertThat(outcomes[position]).as("a second outcome of event %d", position).isNull();
      outcomes[position] = Outcome.of((int) (code & 3));
    }
    return outcomes;
  }

  /** The subtask of the dedup that gave the outcome of each event, -1 for those without. */
  synchronized int[] subtaskByPosition(int events) {
    int[] subtasks = new int[events];
    Arrays.fill(subtasks, -1);
    for (long code : Arrays.copyOf(codes, size)) {
      subtasks[Math.toIntExact(code >>> 16)] = (int) (code >>> 2 & 0x3FFF);
    }
    return subtasks;
  }

  private void record(long code) throws InterruptedException {
    Semaphore held;
    synchronized (this) {
      held = permits;
    }
    if (held != null) {
      held.acquire();
    }
    synchronized (this) {
      if (failNext) {
        failNext = false;
        throw new DeliberateFailure();
      }
      if (size == codes.length) {
        codes = Arrays.copyOf(codes, 2 * size);
      }
      codes[size++] = code;
      if (size == awaited) {
        notifyAll();
      }
    }
  }

  private synchronized void cutTo(int length) {
    cutOff += size - length;
    size = length;
    lastCut = length;
    cuts++;
  }

  private synchronized void checkpointed(int outcomes) {
    if (outcomes >= failAtCheckpointOf) {
      failAtCheckpointOf = Integer.MAX_VALUE;
      throw new DeliberateFailure();
    }
  }

  /** A failure that a test triggers in a job. */
  static final class DeliberateFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    DeliberateFailure() {
      super("deliberate failure");
    }
  }

  /** The end of the job: one task. */
  static final class Recorder extends ProcessFunction<Long, Void>
      implements CheckpointedFunction, CheckpointListener {
    private static final long serialVersionUID = 1;

    private final InTest<Outcomes> outcomes;
    private transient ListState<Integer> length;
    private transient int lengthOfCheckpoint;

    Recorder(InTest<Outcomes> outcomes) {
      this.outcomes = outcomes;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
      length =
          context
              .getOperatorStateStore()
              .getListState(new ListStateDescriptor<>("length", Types.INT));
      if (context.isRestored()) {
        for (int restored : length.get()) {
          outcomes.get().cutTo(restored);
        }
      }
    }

    @Override
    public void processElement(Long code, Context context, Collector<Void> out)
        throws InterruptedException {
      outcomes.get().record(code);
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
      length.clear();
      lengthOfCheckpoint = outcomes.get().size();
      length.add(lengthOfCheckpoint);
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      outcomes.get().checkpointed(lengthOfCheckpoint);
    }
  }
}
