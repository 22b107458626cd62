package io.firstseen.benchmarks;

import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Prints the README's sizing table: bits per key of dedup state and of snapshots. */
public final class SizingReport {
  private static final long SEED = 20261120;
  private static final int DEDUP_SHARDS = 128;
  private static final int SNAPSHOT_SHARDS = 16;
  private static final double[] RATES = {0.01, 0.001, 0.0001};

  private SizingReport() {}

  public static void main(String[] arguments) {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    out.println("| keys | rate | filter: bits per key | filter: MiB | snapshot: bits per key |");
    out.println("| ---: | ---: | ---: | ---: | ---: |");
    for (int keys : new int[] {10_000, 100_000, 1_000_000, 10_000_000}) {
      long[] hashes = new SplittableRandom(SEED).longs(keys).toArray();
      for (double rate : RATES) {
        long filterBytes = filterBytes(hashes, rate);
        out.printf(
            "| %,d | %s %% | %.1f | %.2f | %.1f |%n",
            keys,
            rate * 100,
            8.0 * filterBytes / keys,
            filterBytes / 1048576.0,
            8.0 * snapshotBytes(hashes, rate) / keys);
      }
    }
  }

  private static long filterBytes(long[] hashes, double rate) {
    Shards shards = new Shards(DEDUP_SHARDS);
    CuckooFilter[] filters = new CuckooFilter[DEDUP_SHARDS];
    Arrays.setAll(
        filters,
        shard -> CuckooFilter.forCapacity((hashes.length + DEDUP_SHARDS - 1) / DEDUP_SHARDS, rate));
    for (long hash : hashes) {
      filters[shards.shardOf(hash)].insertIfAbsent(shards.suffix(hash));
    }
    return Arrays.stream(filters).mapToLong(CuckooFilter::sizeBytes).sum();
  }

  private static long snapshotBytes(long[] hashes, double rate) {
    Shards shards = new Shards(SNAPSHOT_SHARDS);
    SetParameters set = SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, shards, rate);
    long bytes = 0;
    for (int shard = 0; shard < SNAPSHOT_SHARDS; shard++) {
      int wanted = shard;
      long[] ofShard =
          Arrays.stream(hashes).filter(hash -> shards.shardOf(hash) == wanted).toArray();
      bytes +=
          Snapshot.build(ofShard, new SnapshotParameters(set, "sizes", shard, 1, 0, 1))
              .toBytes()
              .length;
    }
    return bytes;
  }
}
