package io.firstseen.cli.size;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.operators.compaction.Snapshots;
import java.util.List;

/** The sizes of a set of snapshots, and of the job that makes it. */
final class SnapshotSizing {
  private static final int LEAST_SHARDS = SnapshotOptions.DEFAULT_SHARDS;

  /** So many keys make a base of some 100 MB at 0.1 %. */
  private static final long KEYS_OF_SHARD = 1L << 26;

  /** In the state of the job, the values of a shard are one array of bytes. */
  private static final double MOST_SHARD_BYTES = Integer.MAX_VALUE;

  /** A list of bases is one blob, and may have an eighth of their bytes in changes. */
  private static final double MOST_SENT_BYTES = 16.0 * (1L << 30);

  /** The sections that are kept since a base have at most an eighth of its bytes. */
  private static final double KEPT_SECTIONS = 1.0 / 8;

  private final SizingRequest request;
  private final SizingRequest.OfSnapshots wanted;
  private final List<String> warnings;

  SnapshotSizing(SizingRequest request, SizingRequest.OfSnapshots wanted, List<String> warnings) {
    this.request = request;
    this.wanted = wanted;
    this.warnings = warnings;
  }

  Sizing.Snapshots size() {
    int shards = shards();
    double range = range(shards);
    double keys = request.keys();
    double rateBits = -Math.log(wanted.falsePositiveRate()) / Math.log(2);
    double sent = keys * (rateBits + MeasuredCosts.SNAPSHOT_SENT_BITS) / 8;
    double added = Math.min(keys, request.newKeysPerSecond() * wanted.windowSeconds());
    double removed = expires() ? added : 0;
    double window =
        MeasuredCosts.WINDOW_BYTES
            + shards * MeasuredCosts.WINDOW_BYTES_OF_SHARD
            + codedBytes(added, range)
            + codedBytes(removed, keys);
    int most = Math.min(shards, Snapshots.MAX_PARALLELISM);
    int tasks = 1;
    while (tasks < most && !carries(tasks, shards)) {
      tasks++;
    }
    warn(tasks, shards);
    warnOfBounds(sent, shards);
    return new Sizing.Snapshots(
        shards,
        keys / shards,
        sent,
        keys * (rateBits + MeasuredCosts.SNAPSHOT_MAPPED_BITS) / 8,
        Math.min(window, sent),
        sent * (1 + KEPT_SECTIONS),
        stateBytes(),
        tasks,
        heapBytesOfTask(tasks, shards),
        closeSeconds(tasks, shards));
  }

  private boolean expires() {
    return request.ttlSeconds() > 0;
  }

  private double stateBytes() {
    return request.keys()
        * (MeasuredCosts.SNAPSHOT_STATE_BYTES
            + (expires() ? MeasuredCosts.SNAPSHOT_STATE_BYTES_OF_TTL : 0));
  }

  /** The share of the shards in the fullest task. */
  private static double fullestShare(int tasks, int shards) {
    return (double) ((shards - 1) / tasks + 1) / shards;
  }

  private boolean carries(int tasks, int shards) {
    return heapBytesOfTask(tasks, shards) <= request.memoryBytes()
        && closeSeconds(tasks, shards) <= request.busyShare() * wanted.windowSeconds();
  }

  /** On RocksDB a task has one shard at a time on the heap. */
  private double heapBytesOfTask(int tasks, int shards) {
    double share = request.isOnRocksDb() ? 1.0 / shards : fullestShare(tasks, shards);
    return MeasuredCosts.HEAP_BASE_BYTES + MeasuredCosts.HEAP_OF_FILTERS * stateBytes() * share;
  }

  private double closeSeconds(int tasks, int shards) {
    double seconds = expires() ? MeasuredCosts.CLOSE_SECONDS_WITH_TTL : MeasuredCosts.CLOSE_SECONDS;
    return seconds / request.coreSpeed() * request.keys() * fullestShare(tasks, shards);
  }

  /** The shards asked for, or as many as a snapshot of this size wants. */
  private int shards() {
    int shards = wanted.shards() == null ? LEAST_SHARDS : wanted.shards();
    if (wanted.shards() == null) {
      while (shards < Shards.MAX_COUNT && request.keys() / shards > KEYS_OF_SHARD) {
        shards *= 2;
      }
    }
    double least = Math.scalb(1.0, SnapshotSpec.leastRateExponent(shards));
    if (wanted.falsePositiveRate() < least) {
      throw new UserErrorException(
          "--snapshot-fpr must be at least 2^%d with %d shards, got %s"
              .formatted(
                  SnapshotSpec.leastRateExponent(shards), shards, wanted.falsePositiveRate()));
    }
    if (request.keys() / shards >= 1L << 31) {
      throw new UserErrorException(
          "--snapshot-shards must be so many that one has fewer than 2^31 keys, got %d for %s keys"
              .formatted(shards, Amounts.count(request.keys())));
    }
    return shards;
  }

  /** The values of all shards, by the rule of the snapshots themselves. */
  private double range(int shards) {
    try {
      return shards
          * SetParameters.of(
                  KeyHash.fixed(),
                  Canonicaliser.NONE,
                  new Shards(shards),
                  wanted.falsePositiveRate())
              .universeFor(request.keys() / shards + 1)
              .range()
              .doubleValue();
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("--snapshot-fpr or --snapshot-shards: " + e.getMessage());
    }
  }

  /** Bytes of so many of {@code range} values, Golomb-coded. */
  private static double codedBytes(double values, double range) {
    return values == 0
        ? 0
        : values * (Math.log(range / values) / Math.log(2) + MeasuredCosts.SNAPSHOT_SENT_BITS) / 8;
  }

  private void warnOfBounds(double sentBytes, int shards) {
    double ofShard = request.keys() * MeasuredCosts.SNAPSHOT_STATE_BYTES / shards;
    if (ofShard > MOST_SHARD_BYTES) {
      warnings.add(
          "the values of a shard take %s in the state of SnapshotJob, more than the 2 GiB that they can have, so it would fail: take more --snapshot-shards"
              .formatted(Amounts.bytes(ofShard)));
    }
    if (sentBytes > MOST_SENT_BYTES) {
      warnings.add(
          "all bases take %s, more than the 16 GiB that a set can have, so SnapshotJob would fail: publish fewer keys or a higher --snapshot-fpr"
              .formatted(Amounts.bytes(sentBytes)));
    }
  }

  private void warn(int tasks, int shards) {
    double heap = heapBytesOfTask(tasks, shards);
    if (heap > request.memoryBytes()) {
      warnings.add(
          "the fullest of the %d tasks of SnapshotJob takes %s, more than --memory-per-task, %s: take %s"
              .formatted(
                  tasks,
                  Amounts.bytes(heap),
                  Amounts.bytes((double) request.memoryBytes()),
                  tasks < Snapshots.MAX_PARALLELISM
                      ? "more --snapshot-shards"
                      : "more memory, as it has at most " + Snapshots.MAX_PARALLELISM + " tasks"));
    }
    double close = closeSeconds(tasks, shards);
    if (close > wanted.windowSeconds()) {
      warnings.add(
          "closing a window takes %s, longer than --window, %s: take a longer window%s"
              .formatted(
                  Amounts.seconds(close),
                  Amounts.seconds(wanted.windowSeconds()),
                  tasks < Snapshots.MAX_PARALLELISM ? " or more --snapshot-shards" : ""));
    }
  }
}
