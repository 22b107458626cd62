package io.firstseen.cli.size;

import static io.firstseen.cli.shared.SnapshotSummary.number;
import static io.firstseen.cli.size.Amounts.seconds;

import io.firstseen.cli.shared.Fields;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.operators.compaction.Snapshots;

/** The sizes of a set of snapshots and of its snapshot job. */
final class SnapshotSizing {
  private static final int MIN_SHARDS = SnapshotOptions.DEFAULT_SHARDS;

  /** This number of keys results in a base of about 100 MB at 0.1 %. */
  private static final long KEYS_OF_SHARD = 1L << 26;

  /** In the state of the job, the values of a shard are one array of bytes. */
  private static final double MAX_SHARD_BYTES = Integer.MAX_VALUE;

  /** A list of bases is one blob, and may have an eighth of their bytes in changes. */
  private static final double MAX_SENT_BYTES = 16.0 * (1L << 30);

  /** The sections that are kept since a base have at most an eighth of its bytes. */
  private static final double KEPT_SECTIONS = 1.0 / 8;

  private final SizeCommand request;
  private final Sizing.Warnings warnings;
  final int shards;
  final int tasks;

  SnapshotSizing(SizeCommand request, Sizing.Warnings warnings) {
    this.request = request;
    this.warnings = warnings;
    this.shards = chosenShards();
    requirePossible();
    int most = Math.min(shards, Snapshots.MAX_PARALLELISM);
    int fewest = 1;
    while (fewest < most && !carries(fewest)) {
      fewest++;
    }
    this.tasks = fewest;
    warn();
  }

  Fields fields() {
    double topic = sentBytes() * (1 + KEPT_SECTIONS);
    return new Fields()
        .put("snapshot shards", "shards", shards)
        .putBytes("a new reader gets", "sentBytes", sentBytes())
        .putBytes("topic", "topicBytes", topic)
        .putBytes("state of its job", "stateBytes", stateBytes())
        .put("tasks of its job", "parallelism", tasks)
        .putBytes("heap of such a task", "heapBytesOfTask", heapBytesOfTask(tasks))
        .putSeconds("seconds to close", "closeSeconds", closeSeconds(tasks));
  }

  /** Bytes of all bases. */
  private double sentBytes() {
    double rateBits = -Math.log(request.snapshotFalsePositiveRate()) / Math.log(2);
    return request.keys * (rateBits + MeasuredCosts.SNAPSHOT_SENT_BITS) / 8;
  }

  private boolean expires() {
    return request.ttlSeconds() > 0;
  }

  private double stateBytes() {
    return request.keys
        * (MeasuredCosts.SNAPSHOT_STATE_BYTES
            + (expires() ? MeasuredCosts.SNAPSHOT_STATE_BYTES_OF_TTL : 0));
  }

  /** The share of the shards in the fullest task. */
  private double fullestShare(int ofTasks) {
    return (double) ((shards - 1) / ofTasks + 1) / shards;
  }

  private boolean carries(int ofTasks) {
    return heapBytesOfTask(ofTasks) <= request.memoryBytes
        && closeSeconds(ofTasks) <= request.busyShare * request.windowSeconds();
  }

  /** On RocksDB a task has one shard at a time on the heap. */
  double heapBytesOfTask(int ofTasks) {
    double share = request.isOnRocksDb() ? 1.0 / shards : fullestShare(ofTasks);
    return MeasuredCosts.HEAP_BASE_BYTES + MeasuredCosts.HEAP_OF_FILTERS * stateBytes() * share;
  }

  private double closeSeconds(int ofTasks) {
    double seconds = expires() ? MeasuredCosts.CLOSE_SECONDS_WITH_TTL : MeasuredCosts.CLOSE_SECONDS;
    return seconds / request.coreSpeed * request.keys * fullestShare(ofTasks);
  }

  /** The requested number of shards, or the default for a snapshot of this size. */
  private int chosenShards() {
    if (request.snapshotShards != null) {
      return request.snapshotShards;
    }
    int chosen = MIN_SHARDS;
    while (chosen < Shards.MAX_COUNT && request.keys / chosen > KEYS_OF_SHARD) {
      chosen *= 2;
    }
    return chosen;
  }

  /** Rejects sets that no job could publish, by the limits of snapshots. */
  private void requirePossible() {
    int exponent = SnapshotSpec.leastRateExponent(shards);
    if (request.snapshotFalsePositiveRate() < Math.scalb(1.0, exponent)) {
      throw new UserErrorException(
          "--snapshot-fpr must be at least 2^%d with %d shards, got %s"
              .formatted(exponent, shards, request.snapshotFalsePositiveRate()));
    }
    if (request.keys / shards >= 1L << 31) {
      throw new UserErrorException(
          "--snapshot-shards must be so many that one has fewer than 2^31 keys, got %d for %s keys"
              .formatted(shards, number(request.keys)));
    }
    try {
      var unused =
          SetParameters.of(
                  KeyHash.fixed(),
                  Canonicaliser.NONE,
                  new Shards(shards),
                  request.snapshotFalsePositiveRate())
              .universeFor(request.keys / shards + 1);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("--snapshot-fpr or --snapshot-shards: " + e.getMessage());
    }
  }

  private void warn() {
    double heap = heapBytesOfTask(tasks);
    boolean mayHaveMoreTasks = tasks < Snapshots.MAX_PARALLELISM;
    warnings.addIf(
        heap > request.memoryBytes,
        "the fullest of the %d tasks of SnapshotJob takes %s, more than --memory-per-task, %s: use more %s",
        tasks,
        Fields.bytes(heap),
        Fields.bytes((double) request.memoryBytes),
        mayHaveMoreTasks ? "--snapshot-shards" : "memory, as it has the maximum number of tasks");
    double close = closeSeconds(tasks);
    warnings.addIf(
        close > request.windowSeconds(),
        "closing a window takes %s, longer than --window, %s: use a longer window%s",
        seconds(close),
        seconds(request.windowSeconds()),
        mayHaveMoreTasks ? " or more --snapshot-shards" : "");
    double ofShard = request.keys * MeasuredCosts.SNAPSHOT_STATE_BYTES / shards;
    warnings.addIf(
        ofShard > MAX_SHARD_BYTES,
        "the values of a shard take %s in the state of SnapshotJob, more than the 2 GiB that they can have, so the job would fail: use more --snapshot-shards",
        Fields.bytes(ofShard));
    warnings.addIf(
        sentBytes() > MAX_SENT_BYTES,
        "all bases take %s, more than the 16 GiB that a set can have, so SnapshotJob would fail: publish fewer keys or use a higher --snapshot-fpr",
        Fields.bytes(sentBytes()));
  }
}
