package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.LogReplay;
import io.firstseen.filters.cuckoo.LogSegment;
import io.firstseen.filters.cuckoo.PagedFilter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pages of a shard whose backend keeps them as objects: state contains the same page objects
 * that are changed here, so a change does not require a write.
 *
 * <p>A page that a checkpoint still has to write must not change. It is therefore frozen until the
 * checkpoint has written all pages of its shard. In the meantime, insertions are kept as pending
 * insertions. Every other change is made to a copy (copy-on-write), which replaces the page in
 * state; the backend keeps the replaced page for the checkpoint.
 */
public final class HeapShardPages extends ShardPages {
  private final RunningCheckpoints checkpoints;

  /** Pages that may have pending insertions; some may have split since. */
  private final List<LoadedPage> listed = new ArrayList<>();

  private boolean isLoaded;

  public HeapShardPages(
      int number,
      Integer key,
      PagedFilter filter,
      PageState state,
      @Nullable Expiry expiry,
      RunningCheckpoints checkpoints) {
    super(number, key, filter, state, expiry);
    this.checkpoints = checkpoints;
    applyLog();
  }

  /**
   * Applies the log that another backend has written. Called before the first checkpoint, which
   * must not see a page change.
   */
  private void applyLog() {
    List<LogSegment> log = new ArrayList<>();
    state.readLog(key, (segment, logState, changes) -> log.add(changes));
    if (log.isEmpty()) {
      return;
    }
    List<CuckooPage> pages = new ArrayList<>();
    state.readAll(key, pages::add);
    if (pages.isEmpty()) {
      pages.add(first());
    }
    long slots = 0;
    long bytes = 0;
    for (CuckooPage page : pages) {
      int id = page.id();
      LogReplay replay = new LogReplay(filter, page);
      log.forEach(replay::repeat);
      if (replay.pages().size() > 1) {
        state.remove(key, id);
      }
      for (CuckooPage changed : replay.pages()) {
        requirePage(changed);
        write(changed);
        slots += changed.slots();
        bytes += changed.bodyBytes();
      }
    }
    setSizes(slots, bytes);
    state.clearLog(key);
  }

  @Override
  public CuckooPage get(long identity) {
    if (!isLoaded) {
      loadAll();
      isLoaded = true;
    }
    LoadedPage loaded = table.get(identity);
    if (loaded == null) {
      loaded = load(identity);
    }
    CuckooPage page = loaded.page;
    freezeOrThaw(loaded);
    if (page.isFrozen() || !page.hasPending()) {
      return page;
    }
    filter.insertPending(this, page);
    return table.get(identity).page;
  }

  @Override
  CuckooPage pageToSweep(long identity) {
    return get(identity);
  }

  @Override
  LoadedPage load(long identity) {
    int id = table.idOf(identity);
    CuckooPage page = state.read(key, id);
    if (page != null) {
      return load(page);
    }
    if (!isEmpty()) {
      throw new IllegalStateException("state has no page " + id);
    }
    LoadedPage first = new LoadedPage(this, first());
    first.dirty = true;
    table.set(identity, first);
    return first;
  }

  private void freezeOrThaw(LoadedPage loaded) {
    loaded.page.setFrozen(checkpoints.mayRead(number, loaded.since));
  }

  @Override
  public void changed(LoadedPage page, boolean replaced) {
    if (replaced || page.dirty) {
      putIntoState(page);
    }
    list(page);
  }

  @Override
  void wasSplit(LoadedPage whole, LoadedPage low, LoadedPage high) {
    state.remove(key, whole.page.id());
    // The list may still contain it; this lets the old page be collected.
    whole.page = low.page;
    putIntoState(low);
    list(low);
    putIntoState(high);
    list(high);
  }

  @Override
  void wasMerged(LoadedPage one, LoadedPage other, LoadedPage merged) {
    // The list may still contain them; this lets the old pages be collected.
    one.page = merged.page;
    other.page = merged.page;
    putIntoState(merged);
  }

  private void putIntoState(LoadedPage page) {
    write(page);
    page.since = checkpoints.begun();
  }

  private void list(LoadedPage page) {
    if (page.page.hasPending() && !page.listed) {
      page.listed = true;
      listed.add(page);
    }
  }

  @Override
  public void flush() {
    for (int i = 0; i < listed.size(); i++) {
      LoadedPage page = listed.get(i);
      page.listed = false;
      if (page.page.hasPending() && table.get(page.page.firstIdentity()) == page) {
        freezeOrThaw(page);
        filter.insertPending(this, page.page);
      }
    }
    listed.clear();
    super.flush();
  }
}
