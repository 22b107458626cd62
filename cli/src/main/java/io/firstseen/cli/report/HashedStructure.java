package io.firstseen.cli.report;

import io.firstseen.filters.MembershipFilter;
import io.firstseen.filters.bloom.BloomFilter;
import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.util.function.ToIntFunction;

/** The sets that store only 64-bit hashes of keys, with a configured false-positive rate. */
enum HashedStructure {
  /** Created for the number of keys. */
  SHORTENED_KEYS("shortened-keys", "hash set, shortened keys") {
    @Override
    ComparedSet<long[]> fill(long[] hashes, double rate) {
      ShortenedKeySet set = ShortenedKeySet.forCapacity(hashes.length, rate);
      for (long hash : hashes) {
        set.add(hash);
      }
      return filled(
          set,
          probes -> {
            int claimed = 0;
            for (long probe : probes) {
              claimed += set.mightContain(probe) ? 1 : 0;
            }
            return claimed;
          });
    }
  },

  /** Created for the number of keys. */
  BLOOM("bloom", "Bloom filter") {
    @Override
    ComparedSet<long[]> fill(long[] hashes, double rate) {
      BloomFilter filter = BloomFilter.forCapacity(hashes.length, rate);
      for (long hash : hashes) {
        filter.add(hash);
      }
      return filled(
          filter,
          probes -> {
            int claimed = 0;
            for (long probe : probes) {
              claimed += filter.mightContain(probe) ? 1 : 0;
            }
            return claimed;
          });
    }
  },

  /** Grows from an empty filter. */
  CUCKOO("cuckoo", "cuckoo filter") {
    @Override
    ComparedSet<long[]> fill(long[] hashes, double rate) {
      CuckooFilter filter = CuckooFilter.forCapacity(hashes.length, rate);
      for (long hash : hashes) {
        filter.insert(hash);
      }
      return filled(
          filter,
          probes -> {
            int claimed = 0;
            for (long probe : probes) {
              claimed += filter.mightContain(probe) ? 1 : 0;
            }
            return claimed;
          });
    }
  },

  /** Sorted and encoded in one step, like a snapshot of one shard. */
  GOLOMB("golomb", "Golomb-coded set") {
    @Override
    ComparedSet<long[]> fill(long[] hashes, double rate) {
      SetParameters parameters =
          SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), rate);
      Snapshot snapshot =
          Snapshot.build(hashes, new SnapshotParameters(parameters, "report", 0, 0, 0, 0));
      SnapshotHeader header = snapshot.header();
      return new ComparedSet<>(
          probes -> {
            int claimed = 0;
            for (long probe : probes) {
              claimed += snapshot.mightContain(probe) ? 1 : 0;
            }
            return claimed;
          },
          // The whole file: header, bucket starts and codes.
          () -> snapshot.asByteBuffer().remaining(),
          () -> header.universe().rateOf(header.count()));
    }
  };

  /** The name in JSON and options. */
  final String id;

  /** The name in tables. */
  final String title;

  HashedStructure(String id, String title) {
    this.id = id;
    this.title = title;
  }

  /** Creates a set of these hashes with at most this false-positive rate. */
  abstract ComparedSet<long[]> fill(long[] hashes, double rate);

  private static ComparedSet<long[]> filled(
      MembershipFilter filter, ToIntFunction<long[]> claimed) {
    return new ComparedSet<>(claimed, filter::sizeBytes, filter::predictedFalsePositiveRate);
  }
}
