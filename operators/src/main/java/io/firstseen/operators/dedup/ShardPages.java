package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.PageStore;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.Shards;
import io.firstseen.types.ShardSummary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;

/**
 * The pages of a task's shards in managed keyed state, and those of them that are at hand.
 *
 * <p>A backend that has its state as objects on the heap holds the very pages that are at hand
 * here, so changing one needs no write. But what a checkpoint still has to write must not change: a
 * page is lent until all pages of its shard are written. Insertions wait beside it so long. What
 * cannot wait is done to another page, which is put into the state in its place: of what was put,
 * the backend keeps for its checkpoints what was there before.
 *
 * <p>With any other backend the pages at hand are a write-back cache: a changed page is written
 * when it is dropped, and before each checkpoint. Such a backend must not hold on to the objects
 * that it is given.
 */
final class ShardPages implements PageStore {
  private final CuckooShape shape;
  private final PagedFilter filter;
  private final MapState<Integer, CuckooPage> pages;
  private final ValueState<ShardSummary> summaries;
  private final Consumer<Integer> setCurrentKey;
  private final PageCache cache;
  private final KeyClock clock;
  private final Shards shards;
  private final Shard[] shardByNumber;
  private final List<Shard> own = new ArrayList<>();
  private final RunningCheckpoints checkpoints;

  /** Pages beside which insertions may wait; some may have split since. */
  private final List<LoadedPage> listed = new ArrayList<>();

  /** A number and not a reference, as are what is touched: see {@link #touch}. */
  private int currentShard;

  private long pageCount;
  private long splits;

  @SuppressWarnings("UnusedVariable") // What the compiler must not leave out ends here.
  private long touched;

  /** Where the next sweep goes on. */
  private int sweptShard;

  private long sweptIdentity;

  /**
   * @param setCurrentKey sets the key whose state is read and written; done before each access
   * @param cache null if the backend has its state as objects on the heap
   * @param checkpoints null unless it has
   * @param clock null if keys do not expire
   */
  ShardPages(
      CuckooShape shape,
      PagedFilter filter,
      Shards shards,
      MapState<Integer, CuckooPage> pages,
      ValueState<ShardSummary> summaries,
      Consumer<Integer> setCurrentKey,
      PageCache cache,
      RunningCheckpoints checkpoints,
      KeyClock clock) {
    this.shape = shape;
    this.filter = filter;
    this.pages = pages;
    this.summaries = summaries;
    this.setCurrentKey = setCurrentKey;
    this.cache = cache;
    this.checkpoints = checkpoints;
    this.clock = clock;
    this.shards = shards;
    this.shardByNumber = new Shard[shards.count()];
  }

  /** Makes a shard one of this task's, with what state knows of it. */
  void own(int number, Integer key) {
    setCurrentKey.accept(key);
    try {
      Shard shard = new Shard(number, key, shape, summaries.value());
      if (clock != null) {
        clock.read(shard, number);
      }
      shardByNumber[number] = shard;
      own.add(shard);
      pageCount += shard.directory().pageCount();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Shard current() {
    return shardByNumber[currentShard];
  }

  /** Turns to a shard. */
  ShardPages of(int number) {
    turnTo(shardByNumber[number]);
    return this;
  }

  private void turnTo(Shard shard) {
    currentShard = shard.number;
    if (clock != null) {
      filter.turnTo(clock.turnTo(shard));
    }
    if (cache != null) {
      for (LoadedPage page = cache.victim(); page != null; page = cache.victim()) {
        drop(page);
      }
    }
  }

  @Override
  public CuckooPage get(long identity) {
    if (cache == null) {
      return lendable(identity);
    }
    LoadedPage loaded = current().loaded(identity);
    if (loaded == null) {
      loaded = load(identity);
      cache.misses().inc();
    } else {
      cache.hits().inc();
    }
    loaded.used = true;
    return loaded.page;
  }

  /**
   * Has the processor fetch what the operations on some hashes will read, of pages that are at
   * hand. What says where the next thing is comes first, for all of them: so many loads as one
   * after the other must wait for each other, and no more.
   *
   * <p>What was found is not kept but looked up again: G1 has the processor wait for all loads
   * before, each time that a reference is stored into an old object.
   */
  void touch(long[] hashes, int count) {
    long read = 0;
    for (int i = 0; i < count; i++) {
      LoadedPage loaded = loaded(hashes[i]);
      read += loaded == null ? 0 : loaded.touch();
    }
    for (int i = 0; i < count; i++) {
      LoadedPage loaded = loaded(hashes[i]);
      read += loaded == null ? 0 : loaded.page.touch();
    }
    for (int i = 0; i < count; i++) {
      LoadedPage loaded = loaded(hashes[i]);
      read += loaded == null ? 0 : loaded.page.touch(identity(hashes[i]));
    }
    touched += read;
  }

  private LoadedPage loaded(long hash) {
    return shardByNumber[shards.shardOf(hash)].loaded(identity(hash));
  }

  private long identity(long hash) {
    return shape.identity(shards.rest(hash));
  }

  /** The page of an identity on a backend of objects, lent if a checkpoint may have to write it. */
  private CuckooPage lendable(long identity) {
    Shard shard = current();
    if (!shard.isLoaded) {
      loadAll(shard);
    }
    LoadedPage loaded = shard.loaded(identity);
    if (loaded == null) {
      loaded = load(identity);
    }
    CuckooPage page = loaded.page;
    page.setLent(checkpoints.mayRead(shard.number, loaded.since));
    if (page.isLent() || !page.waits()) {
      return page;
    }
    filter.settle(this, page);
    return shard.loaded(identity).page;
  }

  /** Takes the objects of a shard's pages from the backend. */
  private void loadAll(Shard shard) {
    setCurrentKey.accept(shard.key);
    try {
      for (CuckooPage page : pages.values()) {
        LoadedPage loaded = new LoadedPage(shard, page);
        loaded.noteCounts();
        shard.sign(page);
        shard.load(loaded);
      }
    } catch (Exception e) {
      throw failed(e);
    }
    shard.isLoaded = true;
  }

  /** Forgets the keys of some pages whose time is up, and goes on there at the next call. */
  void sweep(int mostPages) {
    int left = mostPages;
    for (int visits = 0; left > 0 && visits < mostPages + own.size(); visits++) {
      Shard shard = own.get(sweptShard);
      if (shard.keys > 0) {
        turnTo(shard);
        sweepPage(sweptIdentity);
        sweptIdentity = shard.directory().nextPage(sweptIdentity);
        left--;
      } else {
        sweptIdentity = 0;
      }
      if (sweptIdentity == 0) {
        sweptShard = (sweptShard + 1) % own.size();
      }
    }
  }

  /** What expires in the shard turned to, and when; null if nothing ever does. */
  Expiry expiry() {
    return current().expiry;
  }

  /** Number of this task's shards. */
  int shardCount() {
    return own.size();
  }

  /** Turns to one of this task's shards, by its place among them, and to its key. */
  void enter(int place) {
    turnTo(own.get(place));
    enter();
  }

  /** Makes the key of the shard turned to the current one, for state other than the pages. */
  void enter() {
    setCurrentKey.accept(current().key);
  }

  private void sweepPage(long identity) {
    if (cache == null) {
      filter.expire(this, lendable(identity));
      return;
    }
    LoadedPage loaded = current().loaded(identity);
    if (loaded == null) {
      // It is the first to be dropped again: nobody has asked for it.
      loaded = load(identity);
    }
    filter.expire(this, loaded.page);
  }

  @Override
  public void put(long identity, CuckooPage page) {
    LoadedPage loaded = current().loaded(identity);
    boolean replaced = loaded.page != page;
    if (replaced) {
      loaded.page = page;
    }
    count(loaded);
    if (cache != null) {
      loaded.dirty = true;
      cache.resize(loaded);
      return;
    }
    if (replaced || loaded.dirty) {
      write(loaded);
      loaded.since = checkpoints.begun();
    }
    list(loaded);
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    LoadedPage whole = current().loaded(identity);
    discount(whole);
    remove(whole.page.id());
    LoadedPage lowLoaded = new LoadedPage(current(), low);
    LoadedPage highLoaded = new LoadedPage(current(), high);
    current().split(identity, lowLoaded, highLoaded);
    splits++;
    pageCount++;
    if (cache != null) {
      cache.remove(whole);
    }
    // It may be listed; its page is not to be kept for that.
    whole.page = low;
    for (LoadedPage half : new LoadedPage[] {lowLoaded, highLoaded}) {
      count(half);
      if (cache == null) {
        write(half);
        half.since = checkpoints.begun();
        list(half);
      } else {
        half.dirty = true;
        cache.add(half);
      }
    }
  }

  private void list(LoadedPage page) {
    if (page.page.waits() && !page.listed) {
      page.listed = true;
      listed.add(page);
    }
  }

  /** Brings the state up to date; to be called before each checkpoint. */
  void flush(long checkpoint) {
    settleAll();
    for (Shard shard : own) {
      if (shard.changed) {
        currentShard = shard.number;
        if (cache != null) {
          shard.forEachLoaded(
              page -> {
                if (page.dirty) {
                  write(page);
                }
              });
        }
        updateSummary(shard);
        shard.changed = false;
      }
      if (clock != null) {
        setCurrentKey.accept(shard.key);
        clock.write(shard);
      }
    }
    if (cache == null) {
      int[] pagesOfShard = new int[shards.count()];
      own.forEach(shard -> pagesOfShard[shard.number] = shard.directory().pageCount());
      checkpoints.begin(checkpoint, pagesOfShard);
    }
  }

  /** Puts all insertions that wait in their place. */
  private void settleAll() {
    for (int i = 0; i < listed.size(); i++) {
      LoadedPage page = listed.get(i);
      page.listed = false;
      Shard shard = page.shard;
      if (page.page.waits() && shard.loaded(page.page) == page) {
        turnTo(shard);
        page.page.setLent(checkpoints.mayRead(shard.number, page.since));
        filter.settle(this, page.page);
      }
    }
    listed.clear();
  }

  /** Takes note that a checkpoint is written, or will never be used. */
  void checkpointEnded(long checkpoint) {
    if (cache == null) {
      checkpoints.end(checkpoint);
    }
  }

  /** Identities forgotten because their time was up. */
  long expired() {
    return own.stream().mapToLong(shard -> shard.expiry.expired()).sum();
  }

  /** Identities in all shards. */
  long keys() {
    return own.stream().mapToLong(shard -> shard.keys).sum();
  }

  /** Room for identities in all pages. */
  long slots() {
    return own.stream().mapToLong(shard -> shard.slots).sum();
  }

  /** Bytes of all pages' bodies. */
  long bytes() {
    return own.stream().mapToLong(shard -> shard.bytes).sum();
  }

  /** The mean of the shards' predicted false-positive rates, as a key may fall into any. */
  double predictedFalsePositiveRate() {
    return own.stream()
        .mapToDouble(shard -> shape.predictedFalsePositiveRate(shard.keys))
        .average()
        .orElse(0);
  }

  /** The predicted false-positive rate of the shard turned to. */
  double predictedFalsePositiveRateHere() {
    return shape.predictedFalsePositiveRate(current().keys);
  }

  long pageCount() {
    return pageCount;
  }

  long splits() {
    return splits;
  }

  private LoadedPage load(long identity) {
    int id = current().directory().idOf(identity);
    CuckooPage page = read(id);
    LoadedPage loaded;
    if (page != null) {
      loaded = new LoadedPage(current(), page);
      loaded.noteCounts();
    } else if (current().keys == 0 && current().directory().pageCount() == 1) {
      loaded = new LoadedPage(current(), filter.firstPage());
      loaded.dirty = true;
    } else {
      throw new IllegalStateException("state has no page " + id);
    }
    current().load(loaded);
    if (cache != null) {
      cache.add(loaded);
    }
    return loaded;
  }

  private void drop(LoadedPage page) {
    if (page.dirty) {
      write(page);
      cache.writeBacks().inc();
    }
    page.shard.unload(page);
    cache.remove(page);
  }

  /** Brings the shard's totals up to a page as it is now. */
  private static void count(LoadedPage page) {
    Shard shard = page.shard;
    discount(page);
    page.noteCounts();
    shard.keys += page.count;
    shard.slots += page.slots;
    shard.bytes += page.bodyBytes;
    shard.changed = true;
  }

  private static void discount(LoadedPage page) {
    Shard shard = page.shard;
    shard.keys -= page.count;
    shard.slots -= page.slots;
    shard.bytes -= page.bodyBytes;
  }

  private CuckooPage read(int id) {
    setCurrentKey.accept(current().key);
    try {
      return pages.get(id);
    } catch (Exception e) {
      throw failed(e);
    }
  }

  private void write(LoadedPage page) {
    setCurrentKey.accept(page.shard.key);
    page.shard.sign(page.page);
    try {
      pages.put(page.page.id(), page.page);
    } catch (Exception e) {
      throw failed(e);
    }
    page.dirty = false;
  }

  private void remove(int id) {
    setCurrentKey.accept(current().key);
    try {
      pages.remove(id);
    } catch (Exception e) {
      throw failed(e);
    }
  }

  private void updateSummary(Shard shard) {
    setCurrentKey.accept(shard.key);
    try {
      summaries.update(shard.summary());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RuntimeException failed(Exception e) {
    return new IllegalStateException("the state backend failed: " + e.getMessage(), e);
  }
}
