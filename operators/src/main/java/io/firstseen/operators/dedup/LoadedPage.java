package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;

/** A page that a task can reach without going to the state backend. */
final class LoadedPage {
  final Shard shard;
  CuckooPage page;

  /** Changed since it was last written to state. */
  boolean dirty;

  /** Asked for since the cache last looked for a page to drop. */
  boolean used;

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

  void noteCounts() {
    count = page.count();
    slots = page.slots();
    bodyBytes = page.bodyBytes();
  }
}
