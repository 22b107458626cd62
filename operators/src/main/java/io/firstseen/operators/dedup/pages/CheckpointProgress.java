package io.firstseen.operators.dedup.pages;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Tracks which shards a checkpoint has written. The thread that writes the checkpoint updates it;
 * the task's thread reads it.
 */
public final class CheckpointProgress {
  private static final long NEVER_TOLD = -1;

  private final long checkpoint;
  private final long number;
  private final int[] pagesLeft;
  private final AtomicIntegerArray written;

  /**
   * @param checkpoint Flink's number
   * @param number how many checkpoints have begun with it
   * @param pagesOfShard how many pages of each shard are to be written
   */
  CheckpointProgress(long checkpoint, long number, int[] pagesOfShard) {
    this.checkpoint = checkpoint;
    this.number = number;
    this.pagesLeft = pagesOfShard;
    this.written = new AtomicIntegerArray(pagesOfShard.length);
  }

  long checkpoint() {
    return checkpoint;
  }

  long number() {
    return number;
  }

  /** Records that a page of a shard was written; called by the writing thread. */
  public void wrote(int shard) {
    if (--pagesLeft[shard] == 0) {
      written.setRelease(shard, 1);
    }
  }

  boolean hasWritten(int shard) {
    return written.getAcquire(shard) != 0;
  }

  /** Represents a checkpoint and all earlier checkpoints, which never count as written. */
  static CheckpointProgress neverWritten(CheckpointProgress latest) {
    return new CheckpointProgress(NEVER_TOLD, latest.number, new int[latest.written.length()]);
  }
}
