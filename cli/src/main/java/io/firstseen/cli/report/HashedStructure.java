package io.firstseen.cli.report;

import io.firstseen.filters.MembershipFilter;
import io.firstseen.filters.bloom.BloomFilter;
import io.firstseen.filters.bloom.BloomShape;
import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotParameters;

/** The sets that store only 64-bit hashes of keys, with a configured false-positive rate. */
enum HashedStructure {
  /** Created for the number of keys. */
  SHORTENED_KEYS("shortened-keys", "hash set, shortened keys") {
    @Override
    ComparedSet<long[]> fill(long[] hashes, double falsePositiveRate) {
      ShortenedKeySet set = ShortenedKeySet.forCapacity(hashes.length, falsePositiveRate);
      for (long hash : hashes) {
        set.add(hash);
      }
      return new ShortenedKeys(set);
    }
  },

  /** Created for the number of keys. */
  BLOOM("bloom", "Bloom filter") {
    @Override
    ComparedSet<long[]> fill(long[] hashes, double falsePositiveRate) {
      BloomFilter filter = BloomFilter.forCapacity(hashes.length, falsePositiveRate);
      for (long hash : hashes) {
        filter.add(hash);
      }
      return new Bloom(filter);
    }
  },

  /** Grows from an empty filter. */
  CUCKOO("cuckoo", "cuckoo filter") {
    @Override
    ComparedSet<long[]> fill(long[] hashes, double falsePositiveRate) {
      CuckooFilter filter = CuckooFilter.forCapacity(hashes.length, falsePositiveRate);
      for (long hash : hashes) {
        filter.insert(hash);
      }
      return new Cuckoo(filter);
    }
  },

  /** Sorted and encoded in one step, like a snapshot of one shard. */
  GOLOMB("golomb", "Golomb-coded set") {
    @Override
    ComparedSet<long[]> fill(long[] hashes, double falsePositiveRate) {
      SetParameters parameters =
          SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), falsePositiveRate);
      return new Golomb(
          Snapshot.build(hashes, new SnapshotParameters(parameters, "report", 0, 0, 0, 0)));
    }
  };

  private final String id;
  private final String title;

  HashedStructure(String id, String title) {
    this.id = id;
    this.title = title;
  }

  /** The name in JSON and options. */
  String id() {
    return id;
  }

  /** The name in tables. */
  String title() {
    return title;
  }

  /** Creates a set of these hashes with at most this false-positive rate. */
  abstract ComparedSet<long[]> fill(long[] hashes, double falsePositiveRate);

  /**
   * Rejects numbers of keys and rates that a structure does not support.
   *
   * @throws IllegalArgumentException if a structure does not support them
   */
  static void requirePossible(int keys, double falsePositiveRate) {
    BloomShape.forCapacity(keys, falsePositiveRate);
    CuckooShape.forCapacity(keys, falsePositiveRate);
  }

  private interface OverFilter extends ComparedSet<long[]> {
    MembershipFilter filter();

    @Override
    default long sizeBytes() {
      return filter().sizeBytes();
    }

    @Override
    default double predictedFalsePositiveRate() {
      return filter().predictedFalsePositiveRate();
    }
  }

  private record ShortenedKeys(ShortenedKeySet filter) implements OverFilter {
    @Override
    public int claimed(long[] probes) {
      int claimed = 0;
      for (long probe : probes) {
        claimed += filter.mightContain(probe) ? 1 : 0;
      }
      return claimed;
    }
  }

  private record Bloom(BloomFilter filter) implements OverFilter {
    @Override
    public int claimed(long[] probes) {
      int claimed = 0;
      for (long probe : probes) {
        claimed += filter.mightContain(probe) ? 1 : 0;
      }
      return claimed;
    }
  }

  private record Cuckoo(CuckooFilter filter) implements OverFilter {
    @Override
    public int claimed(long[] probes) {
      int claimed = 0;
      for (long probe : probes) {
        claimed += filter.mightContain(probe) ? 1 : 0;
      }
      return claimed;
    }
  }

  private record Golomb(Snapshot snapshot) implements ComparedSet<long[]> {
    @Override
    public int claimed(long[] probes) {
      int claimed = 0;
      for (long probe : probes) {
        claimed += snapshot.mightContain(probe) ? 1 : 0;
      }
      return claimed;
    }

    /** {@inheritDoc} Includes the whole file: header, bucket starts and codes. */
    @Override
    public long sizeBytes() {
      return snapshot.asByteBuffer().remaining();
    }

    @Override
    public double predictedFalsePositiveRate() {
      SnapshotHeader header = snapshot.header();
      return header.universe().rateOf(header.count());
    }
  }
}
