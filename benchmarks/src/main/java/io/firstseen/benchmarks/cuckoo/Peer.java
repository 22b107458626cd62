package io.firstseen.benchmarks.cuckoo;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import io.firstseen.benchmarks.shared.Keys;
import io.firstseen.filters.cuckoo.CuckooFilter;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.fastfilter.cuckoo.Cuckoo16;

/** The compared filters; all get the same 64-bit keys. */
public enum Peer {
  /** Ours, grown from empty. */
  FIRSTSEEN,
  /** Ours, made for the number of keys. */
  FIRSTSEEN_SIZED,
  /** Ours, grown from empty, given all keys in one call. */
  FIRSTSEEN_AT_ONCE,
  /** Ours, made for the number of keys, given all of them in one call. */
  FIRSTSEEN_SIZED_AT_ONCE,
  GUAVA_BLOOM,
  CUCKOOFILTER4J,
  /** fastfilter's cuckoo filter of 16 bits per slot: no growth, no deletion, a rate of 0.012 %. */
  CUCKOO16;

  Subject create(int keys, double rate) {
    return switch (this) {
      case FIRSTSEEN -> new Ours(CuckooFilter.forCapacity(keys, rate));
      case FIRSTSEEN_SIZED -> new Ours(CuckooFilter.sized(keys, rate));
      case FIRSTSEEN_AT_ONCE -> new OursAtOnce(CuckooFilter.forCapacity(keys, rate));
      case FIRSTSEEN_SIZED_AT_ONCE -> new OursAtOnce(CuckooFilter.sized(keys, rate));
      case GUAVA_BLOOM -> {
        BloomFilter<Long> filter = BloomFilter.create(Funnels.longFunnel(), keys, rate);
        yield new Functions(filter::put, filter::mightContain, Peer::cannotDelete);
      }
      case CUCKOOFILTER4J -> {
        com.github.mgunlogson.cuckoofilter4j.CuckooFilter<Long> filter =
            new com.github.mgunlogson.cuckoofilter4j.CuckooFilter.Builder<>(
                    Funnels.longFunnel(), keys)
                .withFalsePositiveRate(rate)
                .build();
        yield new Functions(filter::put, filter::mightContain, filter::delete);
      }
      case CUCKOO16 -> {
        Cuckoo16 filter = new Cuckoo16((int) (keys / 0.95));
        yield new Functions(filter::insert, filter::mayContain, Peer::cannotDelete);
      }
    };
  }

  private static boolean cannotDelete(long key) {
    throw new UnsupportedOperationException("the filter cannot delete");
  }

  interface Subject {
    void insert(long key);

    boolean mightContain(long key);

    boolean delete(long key);

    default void insertAll(long[] keys) {
      for (long key : keys) {
        insert(key);
      }
    }

    /** Returns how many keys were present. */
    default long deleteAll(long[] keys) {
      long deleted = 0;
      for (long key : keys) {
        deleted += delete(key) ? 1 : 0;
      }
      return deleted;
    }
  }

  private record Functions(LongConsumer add, LongPredicate contains, LongPredicate remove)
      implements Subject {
    @Override
    public void insert(long key) {
      add.accept(key);
    }

    @Override
    public boolean mightContain(long key) {
      return contains.test(key);
    }

    @Override
    public boolean delete(long key) {
      return remove.test(key);
    }
  }

  private static class Ours implements Subject {
    final CuckooFilter filter;

    Ours(CuckooFilter filter) {
      this.filter = filter;
    }

    @Override
    public void insert(long key) {
      filter.insert(Keys.mix(key));
    }

    @Override
    public boolean mightContain(long key) {
      return filter.mightContain(Keys.mix(key));
    }

    @Override
    public boolean delete(long key) {
      return filter.delete(Keys.mix(key));
    }
  }

  private static final class OursAtOnce extends Ours {
    OursAtOnce(CuckooFilter filter) {
      super(filter);
    }

    @Override
    public void insertAll(long[] keys) {
      filter.insertAll(Keys.mixed(keys));
    }

    @Override
    public long deleteAll(long[] keys) {
      return filter.deleteAll(Keys.mixed(keys));
    }
  }
}
