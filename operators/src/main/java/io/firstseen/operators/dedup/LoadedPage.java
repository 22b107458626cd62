package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;

/** A page that a task can reach without going to the state backend. */
final class LoadedPage {
  private static final int NEVER = Integer.MAX_VALUE;

  final Shard shard;
  CuckooPage page;

  /** Changed since it was last written to state. */
  boolean dirty;

  /** Asked for since the cache last looked for a page to drop. */
  boolean used;

  /**
   * On a backend of objects, the one that checkpoints still read and {@link #page} was copied from;
   * null if nobody can.
   */
  CuckooPage original;

  /** How often the original will be written, if all goes well. */
  int timesToWriteOriginal;

  /** How many checkpoints had begun when {@link #page} came into the state. */
  long since;

  /** Where in the cache's ring it stands. */
  int place;

  /** What the shard's totals count of it. */
  int count;

  int slots;
  int bodyBytes;

  /** What the cache counts of it. */
  int heapBytes;

  LoadedPage(Shard shard, CuckooPage page) {
    this.shard = shard;
    this.page = page;
  }

  /**
   * Notes that the backend has replaced the page by a copy, as a checkpoint has begun.
   *
   * @param begun checkpoints so far
   * @param othersRun whether an earlier checkpoint may read the page that the last copy was made of
   */
  void copied(CuckooPage copy, long begun, boolean othersRun) {
    boolean readByOthers = othersRun && original != null && !isOriginalWritten();
    original = page;
    timesToWriteOriginal = readByOthers ? NEVER : (int) (begun - since);
    page = copy;
    since = begun;
  }

  /** Whether every checkpoint that the original is a part of has written it. */
  boolean isOriginalWritten() {
    return original.timesWritten() >= timesToWriteOriginal;
  }

  void noteCounts() {
    count = page.count();
    slots = page.slots();
    bodyBytes = page.bodyBytes();
  }
}
