package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.LogReplay;
import io.firstseen.filters.cuckoo.PageChange;
import io.firstseen.filters.cuckoo.PageDigest;
import io.firstseen.filters.cuckoo.PagedFilter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a shard whose backend stores bytes: the pages in memory form a cache, which the
 * shards of a task share.
 *
 * <p>A changed page is not written when it is dropped, and not for a checkpoint. Its changes are in
 * the shard's log, from which it is restored when it is loaded again. {@link #writeAll} writes all
 * changed pages in full. In between, state has the pages of the last call. A page that is narrowed
 * or merged is also written.
 *
 * <p>The insertions that a loaded page has in the log stay pending as long as possible, and so do
 * the following ones: most pages are dropped after one event.
 *
 * <p>A dropped page leaves a {@link PageDigest} in the cache, by which most new keys are added to
 * the log without loading the page.
 */
public final class CachedShardPages extends ShardPages {
  /** The repeated changes per page after which a shard is written; chosen by measurement. */
  private static final long REPEATS_PER_WRITE = 128;

  private final PageCache cache;
  private final LogRotation rotation;
  private final ShardLog log;

  /** The numbers of pages that state has, but that were split since. */
  private final HashSet<Integer> splitInState = new HashSet<>();

  /** The digests of pages that are not loaded, by the numbers of the pages. */
  private final HashMap<Integer, PageDigest> digests = new HashMap<>();

  /** The changes that were repeated since all pages were written. */
  private long repeats;

  /** Whether the current event used a page, and whether it read one from state. */
  private boolean used;

  private boolean missed;

  public CachedShardPages(
      int number,
      Integer key,
      PagedFilter filter,
      PageState state,
      @Nullable Expiry expiry,
      PageCache cache,
      LogRotation rotation) {
    super(number, key, filter, state, expiry);
    this.cache = cache;
    this.rotation = rotation;
    rotation.add(this);
    this.log = new ShardLog(key, filter.shape(), state, rotation, table.minDepth());
  }

  @Override
  public boolean lacks(long identity) {
    PageDigest digest = digest(identity);
    boolean lacks = digest != null && digest.lacks(identity);
    used |= lacks;
    return lacks;
  }

  @Override
  public boolean insertAbsent(long identity) {
    PageDigest digest = digest(identity);
    if (digest == null || !digest.insert(identity)) {
      return false;
    }
    used = true;
    log.add(PageChange.INSERTION, identity, null);
    countInsertion();
    return true;
  }

  /** Returns the digest of the page of an identity; null if the page is loaded, or has none. */
  private @Nullable PageDigest digest(long identity) {
    if (digests.isEmpty() || table.get(identity) != null) {
      return null;
    }
    return digests.get(table.idOf(identity));
  }

  @Override
  public CuckooPage get(long identity) {
    LoadedPage loaded = table.get(identity);
    used = true;
    if (loaded == null) {
      missed = true;
      loaded = load(identity);
    }
    loaded.used = true;
    CuckooPage page = loaded.page;
    return page.isFrozen() && !page.canDefer() ? thaw(page, identity).page : page;
  }

  /** Adds the pending insertions of a page to its table, and returns the page of an identity. */
  private LoadedPage thaw(CuckooPage page, long identity) {
    page.setFrozen(false);
    filter.insertPending(this, page);
    return table.get(identity);
  }

  @Override
  CuckooPage pageToSweep(long identity) {
    LoadedPage loaded = table.get(identity);
    return (loaded == null ? load(identity) : loaded).page;
  }

  /** Loads the page of an identity. */
  @Override
  public LoadedPage load(long identity) {
    int id = table.idOf(identity);
    int idInState = expectedInState(id);
    CuckooPage inState = state.read(key, idInState);
    while (inState == null && idInState > 1) {
      idInState >>>= 1;
      inState = log.isEmpty() ? null : state.read(key, idInState);
    }
    if (inState == null && (!isEmpty() && log.isEmpty())) {
      throw new IllegalStateException("state has no page " + id);
    }
    LogReplay replay = new LogReplay(filter, inState == null ? first() : inState, id);
    log.repeat(replay);
    CuckooPage frozen = idInState == id ? replay.frozenPage() : null;
    repeats += frozen == null ? replay.changes() : 0;
    for (CuckooPage page : frozen == null ? replay.pages() : List.of(frozen)) {
      // If the page was split while its log was repeated, the table had one of its ancestors.
      for (int old = page.id() >>> 1; old >= idInState; old >>>= 1) {
        release(digests.remove(old));
      }
      requirePage(page);
      long first = page.firstIdentity();
      if (table.get(first) == null) {
        LoadedPage loaded = load(page);
        loaded.dirty = inState == null || replay.changes() > 0;
        loaded.inState = inState != null && page.id() == idInState;
        loaded.digest = digests.remove(page.id());
        cache.add(loaded);
      }
    }
    if (inState != null && table.idOf(identity) != idInState) {
      splitInState.add(idInState);
    }
    return table.get(identity);
  }

  /** Returns the number of the page that state has for a page, as far as it is known. */
  private int expectedInState(int id) {
    if (!splitInState.isEmpty()) {
      for (int ancestor = id >>> 1; ancestor > 0; ancestor >>>= 1) {
        if (splitInState.contains(ancestor)) {
          return ancestor;
        }
      }
    }
    return id;
  }

  @Override
  public void makeRoom() {
    rotation.makeRoom(this);
    for (LoadedPage page = cache.victim(); page != null; page = cache.victim()) {
      drop(page);
    }
  }

  private void drop(LoadedPage page) {
    page.shard.unload(page);
    cache.remove(page);
  }

  @Override
  void unload(LoadedPage loaded) {
    super.unload(loaded);
    PageDigest digest = loaded.digest;
    release(digest);
    int bits = filter.hasTextTags() ? 0 : cache.digestBits();
    if (bits == 0) {
      return;
    }
    if (digest == null || digest.bits() > bits) {
      digest = PageDigest.of(loaded.page, bits);
    }
    if (digest != null) {
      digest.dropped(loaded.page);
      cache.addDigests(digest.heapBytes());
      digests.put(loaded.page.id(), digest);
    }
  }

  /** Counts the memory of a digest that is dropped. */
  private void release(@Nullable PageDigest digest) {
    if (digest != null) {
      cache.addDigests(-digest.heapBytes());
    }
  }

  @Override
  public void sweep(long identity) {
    super.sweep(identity);
    // The sibling of a page counts as accessed, but not by an event.
    used = false;
    missed = false;
  }

  @Override
  public void countEvent() {
    if (used) {
      (missed ? cache.misses() : cache.hits()).inc();
    }
    used = false;
    missed = false;
  }

  @Override
  public void changed(LoadedPage page, boolean replaced) {
    page.dirty = true;
    cache.resize(page);
  }

  @Override
  void log(LoadedPage page, PageChange change, long identity) {
    log.add(change, identity, expiry());
    if (page.digest != null && change == PageChange.INSERTION) {
      page.digest.add(identity);
    }
  }

  @Override
  void wasSplit(LoadedPage whole, LoadedPage low, LoadedPage high) {
    if (whole.inState) {
      splitInState.add(whole.page.id());
    }
    release(whole.digest);
    cache.remove(whole);
    low.dirty = true;
    cache.add(low);
    high.dirty = true;
    cache.add(high);
  }

  @Override
  void wasMerged(LoadedPage one, LoadedPage other, LoadedPage merged) {
    release(one.digest);
    release(other.digest);
    cache.remove(one);
    cache.remove(other);
    cache.add(merged);
  }

  @Override
  void wasShrunk(LoadedPage page) {
    write(page);
    page.inState = true;
    cache.writeBacks().inc();
    log.clear(table.minDepth());
  }

  /** Returns whether repeating changes has cost as much as writing all pages. */
  boolean repeatsMuch() {
    return repeats > REPEATS_PER_WRITE * table.pageCount();
  }

  @Override
  public int writeAll() {
    if (log.isEmpty()) {
      return 0;
    }
    int written = 0;
    long identity = 0;
    do {
      boolean isLoaded = table.get(identity) != null;
      if (!isLoaded && log.mayChange(identity)) {
        load(identity);
      }
      LoadedPage page = table.get(identity);
      if (page != null && page.page.hasPending()) {
        page = thaw(page.page, identity);
      }
      if (page != null && page.dirty) {
        write(page);
        page.inState = true;
        // The next one does not have the identities that were deleted.
        release(page.digest);
        page.digest = null;
        written++;
      }
      if (page != null && !isLoaded) {
        drop(page);
      }
      identity = table.nextPage(identity);
    } while (identity != 0);
    splitInState.forEach(id -> state.remove(key, id));
    splitInState.clear();
    repeats = 0;
    log.clear(table.minDepth());
    cache.writeBacks().inc(written);
    return written;
  }

  @Override
  public void flush() {
    log.save();
    if (table.isFull()) {
      log.release();
    }
    super.flush();
  }
}
