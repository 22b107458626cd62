package io.firstseen.operators.dedup.pages;

import java.util.ArrayList;
import java.util.List;

/**
 * Bounds the log of a task: if it is too long, writes the pages of shards in full, in the order of
 * the shards, so that their log can be deleted.
 *
 * <p>For a checkpoint, RocksDB writes the new entries of each state to a file, and it merges the
 * files of a state when there are four. The pages are therefore written in {@value #SLICES} slices
 * that do not overlap, and the log in turn to each of {@link PageState#LOGS} states.
 */
public final class LogRotation {
  /** The parts of the shards that are written one after the other. */
  private static final int SLICES = 4;

  /** The checkpoints that write to a state for the log before the next one's turn. */
  private static final int CHECKPOINTS_OF_LOG = 3;

  /** The shards that are examined per change of the log's length, on average. */
  private static final int SHARDS_PER_CALL = 64;

  /** The log may have half the bytes of the pages, and this many more. */
  private static final long MIN_BYTES = 1 << 16;

  private final PageCache cache;
  private final List<CachedShardPages> shards = new ArrayList<>();
  private long bytes;
  private int callsUntilCheck;
  private boolean tooLong;
  private int next;

  /** Shards that are left of the current slice. */
  private int left;

  /** Events until the next shard may be written: one per page. */
  private int pause;

  private int checkpoints;

  public LogRotation(PageCache cache) {
    this.cache = cache;
  }

  void add(CachedShardPages shard) {
    shards.add(shard);
  }

  void logged(int more) {
    bytes += more;
    if (callsUntilCheck > 0) {
      callsUntilCheck--;
      return;
    }
    callsUntilCheck = shards.size() / SHARDS_PER_CALL;
    long pages = 0;
    long pageBytes = 0;
    for (int i = 0; i < shards.size(); i++) {
      pages += shards.get(i).table.pageCount();
      pageBytes += shards.get(i).bytes();
    }
    cache.setPages(pages, pageBytes);
    tooLong = bytes - MIN_BYTES > pageBytes / 2;
  }

  void inMemory(int more) {
    cache.addLog(more);
  }

  /** Returns the bytes of the log in state. */
  public long bytes() {
    return bytes;
  }

  /**
   * Writes the pages of a shard if the log is too long, or too often repeated; called between two
   * operations.
   *
   * @param shard of the next operation
   */
  void makeRoom(CachedShardPages shard) {
    if (pause > 0) {
      pause--;
    } else if (shard.repeatsMuch()) {
      pause = shard.writeAll();
    } else if (left > 0 || tooLong || cache.isLogLarge()) {
      if (left == 0) {
        int slice = (shards.size() + SLICES - 1) / SLICES;
        left = Math.min(slice - next % slice, shards.size() - next);
      }
      pause = shards.get(next).writeAll();
      left--;
      callsUntilCheck = left == 0 ? 0 : callsUntilCheck;
      next = (next + 1) % shards.size();
    }
  }

  /** Returns the state to which the log is written until the next checkpoint. */
  int log() {
    return checkpoints / CHECKPOINTS_OF_LOG % PageState.LOGS;
  }

  /** Called when all that belongs to a checkpoint is in state. */
  public void checkpointed() {
    checkpoints++;
  }
}
