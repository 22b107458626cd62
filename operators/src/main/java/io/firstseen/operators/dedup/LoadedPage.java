package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;

/** A page that a task can reach without going to the state backend. */
final class LoadedPage {
  final ShardPages shard;
  CuckooPage page;

  /** Changed since it was last written to state. */
  boolean dirty;

  /** Asked for since the cache last looked for a page to drop. */
  boolean used;

  /** Among the pages that may have pending insertions. */
  boolean listed;

  /** How many checkpoints had begun when the page was last put into state. */
  long since;

  /** Where in the cache's ring it stands. */
  int place;

  /** What the shard's totals hold of it. */
  int count;

  int slots;
  int bodyBytes;

  /** What the cache's total holds of it. */
  int heapBytes;

  LoadedPage(ShardPages shard, CuckooPage page) {
    this.shard = shard;
    this.page = page;
  }

  /** Reads what an operation will: it can lie in two lines of the processor's cache. */
  long touch() {
    return since + count + (page == null ? 0 : 1);
  }
}
