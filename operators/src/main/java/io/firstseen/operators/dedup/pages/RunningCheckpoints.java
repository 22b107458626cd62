package io.firstseen.operators.dedup.pages;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The checkpoints that the heap backend may still be writing, and their progress. The pages of a
 * shard may change again once a checkpoint has written all of them.
 */
public final class RunningCheckpoints {
  /**
   * The maximum number of checkpoints that are tracked separately; older checkpoints are merged
   * into one. Flink does not report the end of a savepoint, so savepoints would accumulate.
   */
  private static final int MAX = 8;

  private final List<CheckpointProgress> running = new ArrayList<>();
  private CheckpointProgress last;
  private long begun;

  /**
   * Records that a checkpoint begins.
   *
   * @param pagesOfShard how many pages of each shard it has
   */
  public void begin(long checkpoint, int[] pagesOfShard) {
    begun++;
    last = new CheckpointProgress(checkpoint, begun, pagesOfShard);
    running.add(last);
    if (running.size() > MAX) {
      running.remove(0);
      running.set(0, CheckpointProgress.neverWritten(running.get(0)));
    }
  }

  /** Records that a checkpoint is written or was aborted. */
  public void end(long checkpoint) {
    running.removeIf(one -> one.checkpoint() == checkpoint);
  }

  /** Returns how many checkpoints have begun. */
  public long begun() {
    return begun;
  }

  /** Returns the checkpoint that began last; null before the first. */
  public @Nullable CheckpointProgress last() {
    return last;
  }

  /**
   * Returns whether a page may still have to be written to a checkpoint.
   *
   * @param since how many checkpoints had begun when the page came into the state
   */
  public boolean mayRead(int shard, long since) {
    for (int i = 0; i < running.size(); i++) {
      CheckpointProgress one = running.get(i);
      if (since < one.number() && !one.hasWritten(shard)) {
        return true;
      }
    }
    return false;
  }
}
