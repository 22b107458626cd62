package io.firstseen.benchmarks.cuckoo;

import com.github.mgunlogson.cuckoofilter4j.CuckooFilter;
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.util.function.LongConsumer;
import java.util.function.LongPredicate;
import org.fastfilter.cuckoo.Cuckoo16;

/** The compared filters; all get the same 64-bit keys. */
public enum Peer {
  /** Ours, grown from empty. */
  FIRSTSEEN {
    @Override
    Subject create(int keys, double rate) {
      return ours(io.firstseen.filters.cuckoo.CuckooFilter.forCapacity(keys, rate));
    }
  },
  /** Ours, made for the number of keys. */
  FIRSTSEEN_SIZED {
    @Override
    Subject create(int keys, double rate) {
      return ours(io.firstseen.filters.cuckoo.CuckooFilter.sized(keys, rate));
    }
  },
  /** Ours, grown from empty, given all keys in one call. */
  FIRSTSEEN_AT_ONCE {
    @Override
    Subject create(int keys, double rate) {
      return atOnce(io.firstseen.filters.cuckoo.CuckooFilter.forCapacity(keys, rate));
    }
  },
  /** Ours, made for the number of keys, given all of them in one call. */
  FIRSTSEEN_SIZED_AT_ONCE {
    @Override
    Subject create(int keys, double rate) {
      return atOnce(io.firstseen.filters.cuckoo.CuckooFilter.sized(keys, rate));
    }
  },
  /** Guava's Bloom filter. */
  GUAVA_BLOOM {
    @Override
    Subject create(int keys, double rate) {
      BloomFilter<Long> filter = BloomFilter.create(Funnels.longFunnel(), keys, rate);
      return new Functions(filter::put, filter::mightContain, Peer::cannotDelete);
    }
  },
  /** CuckooFilter4J. */
  CUCKOOFILTER4J {
    @Override
    Subject create(int keys, double rate) {
      CuckooFilter<Long> filter =
          new CuckooFilter.Builder<>(Funnels.longFunnel(), keys)
              .withFalsePositiveRate(rate)
              .build();
      return new Functions(filter::put, filter::mightContain, filter::delete);
    }
  },
  /** fastfilter's cuckoo filter of 16 bits per slot: no growth, no deletion, a rate of 0.012 %. */
  CUCKOO16 {
    @Override
    Subject create(int keys, double rate) {
      Cuckoo16 filter = new Cuckoo16((int) (keys / 0.95));
      return new Functions(filter::insert, filter::mayContain, Peer::cannotDelete);
    }
  };

  /** The operations of every peer. */
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

  abstract Subject create(int keys, double rate);

  private static Subject ours(io.firstseen.filters.cuckoo.CuckooFilter filter) {
    return new Ours(filter);
  }

  private static Subject atOnce(io.firstseen.filters.cuckoo.CuckooFilter filter) {
    return new Ours(filter) {
      @Override
      public void insertAll(long[] keys) {
        filter.insertAll(mixed(keys));
      }

      @Override
      public long deleteAll(long[] keys) {
        return filter.deleteAll(mixed(keys));
      }
    };
  }

  private static long[] mixed(long[] keys) {
    long[] hashes = new long[keys.length];
    for (int i = 0; i < keys.length; i++) {
      hashes[i] = mix(keys[i]);
    }
    return hashes;
  }

  private static boolean cannotDelete(long key) {
    throw new UnsupportedOperationException("the filter cannot delete");
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
    private final io.firstseen.filters.cuckoo.CuckooFilter filter;

    Ours(io.firstseen.filters.cuckoo.CuckooFilter filter) {
      this.filter = filter;
    }

    @Override
    public void insert(long key) {
      filter.insert(mix(key));
    }

    @Override
    public boolean mightContain(long key) {
      return filter.mightContain(mix(key));
    }

    @Override
    public boolean delete(long key) {
      return filter.delete(mix(key));
    }
  }

  /** Hashes a key. The peers hash their input; ours gets a hash, whose cost must be included. */
  static long mix(long key) {
    long hash = (key ^ (key >>> 33)) * 0xFF51AFD7ED558CCDL;
    hash = (hash ^ (hash >>> 33)) * 0xC4CEB9FE1A85EC53L;
    return hash ^ (hash >>> 33);
  }
}
