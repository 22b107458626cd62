package io.firstseen.cli.size;

import io.firstseen.filters.near.NearRule;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import org.jspecify.annotations.Nullable;

/**
 * The load and the settings of a dedup job.
 *
 * @param keys the maximum number of live keys, at least 1; the capacity
 * @param eventsPerSecond the events per second of all partitions
 * @param falsePositiveRate the rate, in (0, 0.1]
 * @param backend the state backend
 * @param mode the mode of the dedup
 * @param near the rule for near-duplicates, {@code SHORT} or {@code LONG}; null if keys are
 *     compared as a whole
 * @param ttlSeconds the TTL; 0 for no TTL
 * @param repeatShare the share of events whose key is known, in [0, 1)
 * @param keyBytes the size of a canonical key
 * @param eventFormat the format of events
 * @param canonicaliser the name of the canonicaliser
 * @param checkpointSeconds the interval between checkpoints
 * @param storageBytesPerSecond the maximum throughput of a task to checkpoint storage
 * @param memoryBytes the memory of a task: its heap and, on RocksDB, managed memory
 * @param slots the number of slots per TaskManager
 * @param cacheShare the share of the pages in the page caches on RocksDB, in (0, 1]
 * @param busyShare the share of its time that a task is busy, in (0, 1)
 * @param coreSpeed the speed of a core, relative to {@link MeasuredCosts}
 * @param shards the number of shards; null to calculate it
 * @param parallelism the number of tasks; null to calculate it
 * @param snapshots the snapshots; null for no snapshots
 */
public record SizingRequest(
    long keys,
    double eventsPerSecond,
    double falsePositiveRate,
    StateBackend backend,
    DedupMode mode,
    @Nullable NearRule near,
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
   * @param coreSpeed the speed of a core, relative to {@link MeasuredCosts}
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
        null,
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

  /** New keys per second. */
  double newKeysPerSecond() {
    return eventsPerSecond * (1 - repeatShare);
  }

  /** The number of identities of a key in the filter. */
  int identitiesOfKey() {
    return near == null ? 1 : near.hashes();
  }

  boolean isOnRocksDb() {
    return backend == StateBackend.ROCKSDB;
  }

  /** The share of the events whose page is not cached. */
  double missShare() {
    return isOnRocksDb() ? 1 - cacheShare : 0;
  }
}
