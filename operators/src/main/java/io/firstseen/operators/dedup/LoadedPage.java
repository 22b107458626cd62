package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;

/** A page that a task can reach without going to the state backend. */
final class LoadedPage {
  final ShardPages shard;
  CuckooPage page;

  /** Changed since it was last written to state. */
  boolean dirty;

  /** Used since the cache last searched for a page to drop. */
  boolean used;

  /** In the list of pages that may have pending insertions. */
  boolean listed;

  /** How many checkpoints had begun when the page was last put into state. */
  long since;

  /** Its index in the cache's ring. */
  int place;

  /** The part of the shard's totals that counts this page. */
  int count;

  int slots;
  int bodyBytes;

  /** The part of the cache's total that counts this page. */
  int heapBytes;

  LoadedPage(ShardPages shard, CuckooPage page) {
    this.shard = shard;
    this.page = page;
  }

  /** Reads the fields that an operation reads; they may be in two cache lines. */
  long touch() {
    return since + count + (page == null ? 0 : 1);
  }
}
