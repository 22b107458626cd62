package io.firstseen.cli.size;

import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import org.jspecify.annotations.Nullable;

/**
 * What a dedup has to carry.
 *
 * @param keys live keys at most, at least 1; the capacity
 * @param eventsPerSecond of all partitions
 * @param falsePositiveRate in (0, 0.1]
 * @param backend where state is
 * @param mode of the dedup
 * @param ttlSeconds 0 for none
 * @param repeatShare events whose key is known, in [0, 1)
 * @param keyBytes of a canonical key
 * @param eventFormat of the events topic
 * @param canonicaliser its name
 * @param checkpointSeconds between the starts of two checkpoints
 * @param storageBytesPerSecond that a task reads from or writes to checkpoint storage at most
 * @param memoryBytes of a task: its heap and, on RocksDB, managed memory
 * @param slots of a TaskManager
 * @param cacheShare of the pages that the page caches hold on RocksDB, in (0, 1]
 * @param busyShare of its time that a task works at that rate, in (0, 1)
 * @param coreSpeed of a core, compared with those of {@link MeasuredCosts}
 * @param shards of the dedup; null to choose
 * @param parallelism of the dedup; null to choose
 * @param snapshots null for none
 */
public record SizingRequest(
    long keys,
    double eventsPerSecond,
    double falsePositiveRate,
    StateBackend backend,
    DedupMode mode,
    double ttlSeconds,
    double repeatShare,
    int keyBytes,
    EventFormat eventFormat,
    String canonicaliser,
    double checkpointSeconds,
    double storageBytesPerSecond,
    long memoryBytes,
    int slots,
    double cacheShare,
    double busyShare,
    double coreSpeed,
    @Nullable Integer shards,
    @Nullable Integer parallelism,
    SizingRequest.@Nullable OfSnapshots snapshots) {

  /**
   * The snapshots to publish.
   *
   * @param windowSeconds the length of a window
   * @param falsePositiveRate in (0, 0.1]
   * @param shards null to choose
   */
  public record OfSnapshots(
      double windowSeconds, double falsePositiveRate, @Nullable Integer shards) {}

  /**
   * A dedup without ttl and snapshots, with the defaults of the command for the rest.
   *
   * @param keys live keys at most
   * @param falsePositiveRate in (0, 0.1]
   * @param backend where state is
   * @param cacheShare of the pages that the page caches hold on RocksDB
   * @param parallelism of the dedup
   * @param coreSpeed of a core, compared with those of {@link MeasuredCosts}
   */
  public static SizingRequest ofOperator(
      long keys,
      double falsePositiveRate,
      StateBackend backend,
      double cacheShare,
      int parallelism,
      double coreSpeed) {
    return new SizingRequest(
        keys,
        1,
        falsePositiveRate,
        backend,
        DedupMode.APPROXIMATE,
        0,
        0.5,
        85,
        EventFormat.KEY,
        "none",
        10,
        Double.POSITIVE_INFINITY,
        4L << 30,
        1,
        cacheShare,
        0.7,
        coreSpeed,
        Firstseen.DEFAULT_SHARDS,
        parallelism,
        null);
  }

  /** New keys a second. */
  double newKeysPerSecond() {
    return eventsPerSecond * (1 - repeatShare);
  }

  boolean isOnRocksDb() {
    return backend == StateBackend.ROCKSDB;
  }

  /** The share of the events whose page is not cached. */
  double missShare() {
    return isOnRocksDb() ? 1 - cacheShare : 0;
  }
}
