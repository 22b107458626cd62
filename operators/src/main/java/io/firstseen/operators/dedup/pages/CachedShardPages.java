package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.PagedFilter;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a shard whose backend stores bytes: the pages in memory form a write-back cache,
 * which the shards of a task share. A changed page is written when it is dropped, and before each
 * checkpoint.
 */
public final class CachedShardPages extends ShardPages {
  private final PageCache cache;

  /** Whether the current event used a page, and whether it read one from state. */
  private boolean used;

  private boolean missed;

  public CachedShardPages(
      int number,
      Integer key,
      PagedFilter filter,
      PageState state,
      @Nullable Expiry expiry,
      PageCache cache) {
    super(number, key, filter, state, expiry);
    this.cache = cache;
  }

  @Override
  public CuckooPage get(long identity) {
    LoadedPage loaded = table.get(identity);
    used = true;
    if (loaded == null) {
      missed = true;
      loaded = loadIntoCache(identity);
    }
    loaded.used = true;
    return loaded.page;
  }

  @Override
  CuckooPage pageToSweep(long identity) {
    LoadedPage loaded = table.get(identity);
    return (loaded == null ? loadIntoCache(identity) : loaded).page;
  }

  private LoadedPage loadIntoCache(long identity) {
    LoadedPage loaded = load(identity);
    cache.add(loaded);
    return loaded;
  }

  @Override
  public void makeRoom() {
    for (LoadedPage page = cache.victim(); page != null; page = cache.victim()) {
      if (page.dirty) {
        page.shard.write(page);
        cache.writeBacks().inc();
      }
      page.shard.unload(page);
      cache.remove(page);
    }
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
  void wasSplit(LoadedPage whole, LoadedPage low, LoadedPage high) {
    cache.remove(whole);
    low.dirty = true;
    cache.add(low);
    high.dirty = true;
    cache.add(high);
  }

  @Override
  public void flush() {
    if (isChanged()) {
      table.forEach(
          page -> {
            if (page.dirty) {
              write(page);
            }
          });
    }
    super.flush();
  }
}
