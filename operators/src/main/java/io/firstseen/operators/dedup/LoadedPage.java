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

  /** Among the pages beside which insertions may wait. */
  boolean listed;

  /** How many checkpoints had begun when the page came into a state of objects. */
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

  /** Reads what an operation will: it can lie in two lines of the processor's cache. */
  long touch() {
    return since + count + (page == null ? 0 : 1);
  }

  void noteCounts() {
    count = page.count();
    slots = page.slots();
    bodyBytes = page.bodyBytes();
  }
}
