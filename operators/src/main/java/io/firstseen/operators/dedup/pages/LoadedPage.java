package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.PageDigest;
import org.jspecify.annotations.Nullable;

/** A page that a task can access without the state backend. */
public final class LoadedPage {
  public final ShardPages shard;
  public CuckooPage page;

  /** Changed since it was last written to state. */
  boolean dirty;

  /** The digest that the page had before it was loaded, up to date; null if it has none. */
  @Nullable PageDigest digest;

  boolean inState;

  /** Used since the cache last searched for a page to drop. */
  public boolean used;

  /** In the list of pages that may have pending insertions. */
  public boolean listed;

  /** How many checkpoints had begun when the page was last put into state. */
  public long since;

  /** Its index in the cache's ring. */
  public int place;

  /** The contribution of this page to the shard's totals. */
  public int count;

  public int slots;
  public int bodyBytes;

  /** The contribution of this page to the cache's total. */
  public int heapBytes;

  public LoadedPage(ShardPages shard, CuckooPage page) {
    this.shard = shard;
    this.page = page;
  }

  /** Reads the fields that an operation reads; they may be in two cache lines. */
  public long touch() {
    return since + count + (page == null ? 0 : 1);
  }
}
