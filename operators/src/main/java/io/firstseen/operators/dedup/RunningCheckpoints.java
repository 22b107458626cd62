package io.firstseen.operators.dedup;

import java.util.ArrayList;
import java.util.List;

/**
 * The checkpoints that a backend of objects may still be writing, and what of them is written: the
 * pages of a shard may change again once a checkpoint has written them all.
 */
final class RunningCheckpoints {
  /** Beyond this many, the oldest are taken for one: of savepoints, nobody tells the end. */
  private static final int MAX = 8;

  private final List<CheckpointProgress> running = new ArrayList<>();
  private CheckpointProgress last;
  private long begun;

  /**
   * Takes note that a checkpoint begins.
   *
   * @param pagesOfShard how many pages of each shard it has
   */
  void begin(long checkpoint, int[] pagesOfShard) {
    begun++;
    last = new CheckpointProgress(checkpoint, begun, pagesOfShard);
    running.add(last);
    if (running.size() > MAX) {
      running.remove(0);
      running.set(0, CheckpointProgress.neverWritten(running.get(0)));
    }
  }

  /** Takes note that a checkpoint is written, or will never be used. */
  void end(long checkpoint) {
    running.removeIf(one -> one.checkpoint() == checkpoint);
  }

  /** How many checkpoints have begun. */
  long begun() {
    return begun;
  }

  /** The checkpoint that began last; null before the first. */
  CheckpointProgress last() {
    return last;
  }

  /**
   * Whether a page may still have to be written to a checkpoint.
   *
   * @param since how many checkpoints had begun when the page came into the state
   */
  boolean mayRead(int shard, long since) {
    for (int i = 0; i < running.size(); i++) {
      CheckpointProgress one = running.get(i);
      if (since < one.number() && !one.hasWritten(shard)) {
        return true;
      }
    }
    return false;
  }
}
