package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.PageChange;
import io.firstseen.filters.cuckoo.PageDirectory;
import io.firstseen.filters.cuckoo.PageStore;
import io.firstseen.filters.cuckoo.PageTable;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.near.NearRule;
import io.firstseen.types.ShardSummary;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one shard, in memory and in state. {@link HeapShardPages} for a backend that keeps
 * its state as objects on the heap, {@link CachedShardPages} for the others.
 */
public abstract class ShardPages implements PageStore {
  /** In [0, number of shards). */
  public final int number;

  /** Flink's key for this shard. */
  public final Integer key;

  public final PagedFilter filter;
  public final PageTable<LoadedPage> table;
  final PageState state;
  private final CuckooShape shape;
  private final @Nullable Expiry expiry;
  private long keys;
  private long slots;
  private long bytes;
  private long splits;

  /** Whether the summary in state is out of date. */
  private boolean changed;

  /**
   * @param filter may be shared with the other shards of a task
   * @param expiry null if keys do not expire
   */
  public ShardPages(
      int number, Integer key, PagedFilter filter, PageState state, @Nullable Expiry expiry) {
    this.number = number;
    this.key = key;
    this.filter = filter;
    this.shape = filter.shape();
    this.state = state;
    this.expiry = expiry;
    ShardSummary summary = state.readSummary(key);
    if (summary == null) {
      table = new PageTable<>(shape, PageDirectory.first());
    } else {
      table = new PageTable<>(shape, PageDirectory.of(summary.directory()));
      keys = summary.keys();
      slots = summary.slots();
      bytes = summary.bytes();
    }
  }

  @Override
  public final @Nullable Expiry expiry() {
    return expiry;
  }

  /** Makes room for the pages of the next operation; called between two operations. */
  public void makeRoom() {}

  /** Counts an event as a hit or a miss of the cache; called after its last operation. */
  public void countEvent() {}

  /** Returns the page of an identity, for a sweep. This access does not keep it in the cache. */
  abstract CuckooPage pageToSweep(long identity);

  /** Called for a page whose content differs from its content in state. */
  public abstract void changed(LoadedPage page, boolean replaced);

  /** Called when a page was split and two pages replace it. */
  abstract void wasSplit(LoadedPage whole, LoadedPage low, LoadedPage high);

  /** Called when two pages, which state no longer has, were merged into one. */
  abstract void wasMerged(LoadedPage one, LoadedPage other, LoadedPage merged);

  /** Called when a page was narrowed or merged while the log was empty. */
  void wasShrunk(LoadedPage page) {}

  @Override
  public final void put(long identity, CuckooPage page) {
    int unused = writeAll();
    wasShrunk(update(identity, page));
  }

  @Override
  public final void putInserted(long identity, CuckooPage page) {
    LoadedPage unused = update(identity, page);
  }

  private LoadedPage update(long identity, CuckooPage page) {
    LoadedPage loaded = table.get(identity);
    boolean replaced = loaded.page != page;
    if (replaced) {
      loaded.page = page;
    }
    count(loaded);
    changed(loaded, replaced);
    return loaded;
  }

  @Override
  public final void put(long identity, CuckooPage page, PageChange change) {
    log(update(identity, page), change, identity);
  }

  /** Records a change of a page in the log, if there is one. */
  void log(LoadedPage page, PageChange change, long identity) {}

  @Override
  public final void split(long identity, CuckooPage low, CuckooPage high) {
    LoadedPage whole = table.get(identity);
    discount(whole);
    LoadedPage lowLoaded = new LoadedPage(this, low);
    LoadedPage highLoaded = new LoadedPage(this, high);
    table.split(identity, lowLoaded, highLoaded);
    count(lowLoaded);
    count(highLoaded);
    splits++;
    wasSplit(whole, lowLoaded, highLoaded);
  }

  /**
   * {@inheritDoc}
   *
   * <p>A log contains no merge, so it is emptied before.
   */
  @Override
  public final void merge(long identity, CuckooPage page) {
    int unused = writeAll();
    LoadedPage one = table.get(identity);
    LoadedPage other = table.get(shape.sibling(identity, one.page.depth()));
    discount(one);
    discount(other);
    state.remove(key, one.page.id());
    state.remove(key, other.page.id());
    LoadedPage merged = new LoadedPage(this, page);
    table.merge(identity, merged);
    count(merged);
    wasMerged(one, other, merged);
    wasShrunk(merged);
  }

  /** Forgets the expired keys of a page, and returns memory that it does not need. */
  public void sweep(long identity) {
    filter.expire(this, pageToSweep(identity));
  }

  /** Updates the state; must be called before each checkpoint. */
  public void flush() {
    if (changed) {
      state.writeSummary(key, new ShardSummary(keys, slots, bytes, table.directory().toBytes()));
      changed = false;
    }
  }

  /**
   * Writes all changed pages to state, in their order, and empties the log. Called between two
   * operations.
   *
   * @return the number of pages written
   */
  public int writeAll() {
    return 0;
  }

  /** Reads the page of an identity from state; creates the first page of an empty shard. */
  abstract LoadedPage load(long identity);

  /** Returns whether the shard has no key and only one page. */
  final boolean isEmpty() {
    return keys == 0 && table.pageCount() == 1;
  }

  final CuckooPage first() {
    return CuckooPage.first(shape, expiry);
  }

  final LoadedPage load(CuckooPage page) {
    LoadedPage loaded = new LoadedPage(this, page);
    noteCounts(loaded);
    page.setTag(tag());
    table.set(page.firstIdentity(), loaded);
    return loaded;
  }

  final void loadAll() {
    state.readAll(key, this::load);
  }

  /** Counts a key that was inserted without its page. */
  final void countInsertion() {
    keys++;
    changed = true;
  }

  /** Removes a page from memory whose content is in state. */
  void unload(LoadedPage page) {
    table.set(page.page.firstIdentity(), null);
  }

  final void write(LoadedPage page) {
    write(page.page);
    page.dirty = false;
  }

  final void write(CuckooPage page) {
    page.setTag(tag());
    state.write(key, page);
  }

  /**
   * Checks that a page to which the log was applied is one of the shard's pages, or was split from
   * one by insertions that were still pending when the directory was written.
   */
  final void requirePage(CuckooPage page) {
    while (table.idOf(page.firstIdentity()) < page.id()) {
      table.split(page.firstIdentity(), null, null);
      changed = true;
    }
    int id = table.idOf(page.firstIdentity());
    if (id != page.id()) {
      throw new IllegalStateException(
          "the log of shard %d gives page %d instead of page %d".formatted(number, page.id(), id));
    }
  }

  /** Sets the totals of all pages after a log was applied to them. */
  final void setSizes(long newSlots, long newBytes) {
    slots = newSlots;
    bytes = newBytes;
    changed = true;
  }

  private int tag() {
    return number + 1;
  }

  /** Returns the number of the shard of a page that was read from state or written to it. */
  public static int shardOf(CuckooPage page) {
    return page.tag() - 1;
  }

  /** Updates the totals with the current size of a page. */
  private void count(LoadedPage loaded) {
    CuckooPage page = loaded.page;
    int count = page.count();
    keys += count - loaded.count;
    loaded.count = count;
    if (page.slots() != loaded.slots) {
      slots -= loaded.slots;
      bytes -= loaded.bodyBytes;
      noteCounts(loaded);
      slots += loaded.slots;
      bytes += loaded.bodyBytes;
    }
    changed = true;
  }

  private void discount(LoadedPage page) {
    keys -= page.count;
    slots -= page.slots;
    bytes -= page.bodyBytes;
  }

  private static void noteCounts(LoadedPage loaded) {
    loaded.count = loaded.page.count();
    loaded.slots = loaded.page.slots();
    loaded.bodyBytes = loaded.page.bodyBytes();
  }

  /**
   * Reads the memory that the operations on some hashes will read, of pages that are loaded, level
   * by level, so that the waits for memory overlap.
   *
   * @return a value that depends on all reads
   */
  public final long prefetch(long[] hashes) {
    long read = 0;
    for (long hash : hashes) {
      LoadedPage loaded = table.get(shape.identity(hash));
      read += loaded == null ? 0 : loaded.touch();
    }
    for (long hash : hashes) {
      LoadedPage loaded = table.get(shape.identity(hash));
      read += loaded == null ? 0 : loaded.page.touch();
    }
    for (long hash : hashes) {
      long identity = shape.identity(hash);
      LoadedPage loaded = table.get(identity);
      read += loaded == null ? 0 : loaded.page.touch(identity);
    }
    return read;
  }

  /** Returns the number of stored identities. */
  public final long keys() {
    return keys;
  }

  /** Returns the number of slots. */
  public final long slots() {
    return slots;
  }

  /** Returns the number of bytes of the pages' bodies. */
  public final long bytes() {
    return bytes;
  }

  /** Returns the number of pages that were split since the task started. */
  public final long splits() {
    return splits;
  }

  public final double predictedFalsePositiveRate() {
    return shape.predictedFalsePositiveRate(keys);
  }

  /**
   * Returns the probability that the filter reports a new text as a duplicate.
   *
   * @param near null if keys are compared as a whole
   */
  public final double predictedFalsePositiveRate(@Nullable NearRule near) {
    double identityRate = predictedFalsePositiveRate();
    return near == null ? identityRate : near.filterRate(identityRate, keys / near.hashes());
  }
}
