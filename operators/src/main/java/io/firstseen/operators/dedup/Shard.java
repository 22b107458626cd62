package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.PageDirectory;
import io.firstseen.types.ShardSummary;
import java.util.Arrays;
import java.util.function.Consumer;

/** The filter of one shard, as far as a task has it in memory. */
final class Shard {
  final int number;

  /** Flink's key for this shard. */
  final Integer key;

  /** What time it is; null if keys do not expire. */
  Expiry expiry;

  /** The time that state knows of. */
  long clockInState;

  long keys;
  long slots;
  long bytes;

  /** Whether all its pages were taken from a backend of objects. */
  boolean isLoaded;

  /** Whether the summary in state is out of date. */
  boolean changed;

  private PageDirectory directory;
  private LoadedPage[] loaded;

  Shard(int number, Integer key, CuckooShape shape, ShardSummary summary) {
    this.number = number;
    this.key = key;
    if (summary == null) {
      directory = PageDirectory.first(shape);
    } else {
      directory = PageDirectory.of(shape, summary.directory());
      keys = summary.keys();
      slots = summary.slots();
      bytes = summary.bytes();
    }
    loaded = new LoadedPage[directory.size()];
  }

  ShardSummary summary() {
    return new ShardSummary(keys, slots, bytes, directory.toBytes());
  }

  PageDirectory directory() {
    return directory;
  }

  /** The page of an identity, null if it is not loaded. */
  LoadedPage loaded(long identity) {
    return loaded[directory.indexOf(identity)];
  }

  /** What stands where a page belongs; null if it is not loaded. */
  LoadedPage loaded(CuckooPage page) {
    return loaded[page.prefix() * span(page)];
  }

  /** Says of a page whose it is. */
  void sign(CuckooPage page) {
    page.setTag(number + 1);
  }

  /** The number of the shard that has signed a page. */
  static int numberOf(CuckooPage page) {
    return page.tag() - 1;
  }

  /** Lets a page be found by its identities. */
  void load(LoadedPage page) {
    fill(page, page);
  }

  /** Forgets a page. */
  void unload(LoadedPage page) {
    fill(page, null);
  }

  /** Two pages take the place of the one that they were split from. */
  void split(long identity, LoadedPage low, LoadedPage high) {
    directory = directory.split(identity);
    if (loaded.length < directory.size()) {
      LoadedPage[] deeper = new LoadedPage[directory.size()];
      for (int i = 0; i < deeper.length; i++) {
        deeper[i] = loaded[i >> 1];
      }
      loaded = deeper;
    }
    load(low);
    load(high);
  }

  void forEachLoaded(Consumer<LoadedPage> visitor) {
    for (int index = 0; index < loaded.length; ) {
      LoadedPage page = loaded[index];
      if (page == null) {
        index++;
      } else {
        visitor.accept(page);
        index += span(page.page);
      }
    }
  }

  private void fill(LoadedPage where, LoadedPage page) {
    int first = where.page.prefix() * span(where.page);
    Arrays.fill(loaded, first, first + span(where.page), page);
  }

  private int span(CuckooPage page) {
    return loaded.length >> page.depth();
  }
}
