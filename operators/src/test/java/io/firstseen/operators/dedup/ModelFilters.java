package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PageDirectory;
import io.firstseen.filters.cuckoo.PageStore;
import io.firstseen.filters.cuckoo.PageTable;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.Shards;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.ToLongFunction;

/**
 * The content of the filters of all shards, with access to every page and totals counted from the
 * pages, and an exact set of the live keys.
 */
final class ModelFilters {

  enum Kind {
    ACCEPTED,
    DUPLICATE,
    REMOVED,
    UNKNOWN_DELETE,
    FALSELY_DROPPED
  }

  private final CuckooShape shape;
  private final Shards shards;
  private final PagedFilter filter;
  private final List<Store> stores = new ArrayList<>();

  ModelFilters(CuckooShape shape, Shards shards) {
    this.shape = shape;
    this.shards = shards;
    this.filter = new PagedFilter(shape);
    for (int shard = 0; shard < shards.count(); shard++) {
      stores.add(new Store());
    }
  }

  /** Returns the outcome of a change; fails if the filter would mistake a key for another. */
  Kind apply(Change<String> change) {
    Store store = stores.get(shards.shardOf(change.hash()));
    long suffix = shards.suffix(change.hash());
    boolean add = change.operation() == Operation.ADD;
    boolean exact = add ? store.live.add(change.event()) : store.live.remove(change.event());
    boolean changed =
        add
            ? filter.insertIfAbsent(store, suffix) == InsertionResult.STORED
            : filter.delete(store, suffix);
    if (changed != exact) {
      throw new AssertionError("two keys of one identity: choose longer ones, " + change.event());
    }
    if (add) {
      return changed ? Kind.ACCEPTED : Kind.DUPLICATE;
    }
    return changed ? Kind.REMOVED : Kind.UNKNOWN_DELETE;
  }

  /** The exact number of live keys in some shards. */
  long keys(IntPredicate some) {
    return sum(some, store -> store.live.size());
  }

  long slots(IntPredicate some) {
    return sum(some, store -> store.sum(CuckooPage::slots));
  }

  long bodyBytes(IntPredicate some) {
    return sum(some, store -> store.sum(CuckooPage::bodyBytes));
  }

  long heapBytes(IntPredicate some) {
    return sum(some, store -> store.sum(CuckooPage::heapBytes));
  }

  long pages(IntPredicate some) {
    return sum(some, store -> store.pages.pageCount());
  }

  long splits() {
    return sum(shard -> true, store -> store.splits);
  }

  /**
   * The mean over some shards of 1 - exp(-2 n / 2^P), where 258 of 256 counts in that the cores 0
   * and 1 are one.
   */
  double predictedFalsePositiveRate(IntPredicate some) {
    double sum = 0;
    int count = 0;
    for (int shard = 0; shard < stores.size(); shard++) {
      if (some.test(shard)) {
        double expected =
            2.0 * stores.get(shard).live.size() / Math.pow(2, shape.identityBits()) * 258 / 256;
        sum += 1 - Math.exp(-expected);
        count++;
      }
    }
    return sum / count;
  }

  private long sum(IntPredicate some, ToLongFunction<Store> figure) {
    long sum = 0;
    for (int shard = 0; shard < stores.size(); shard++) {
      sum += some.test(shard) ? figure.applyAsLong(stores.get(shard)) : 0;
    }
    return sum;
  }

  private final class Store implements PageStore {
    private final Set<String> live = new HashSet<>();
    private final PageTable<CuckooPage> pages = new PageTable<>(shape, PageDirectory.first());
    private long splits;

    Store() {
      pages.set(0, CuckooPage.first(shape, null));
    }

    long sum(ToLongFunction<CuckooPage> figure) {
      long[] sum = {0};
      pages.forEach(page -> sum[0] += figure.applyAsLong(page));
      return sum[0];
    }

    @Override
    public CuckooPage get(long identity) {
      return pages.get(identity);
    }

    @Override
    public void put(long identity, CuckooPage page) {
      pages.set(identity, page);
    }

    @Override
    public void split(long identity, CuckooPage low, CuckooPage high) {
      pages.split(identity, low, high);
      splits++;
    }

    @Override
    public void merge(long identity, CuckooPage merged) {
      pages.merge(identity, merged);
    }
  }
}
