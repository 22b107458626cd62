package io.firstseen.cli.size;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a dedup needs; {@link SizingRules#size} computes it. The JSON of the command has the same
 * names. Bytes are those of one copy: replicas of topics and of checkpoint storage are not counted.
 *
 * @param filter the live set
 * @param tasks how it is divided
 * @param memory of tasks and TaskManagers
 * @param checkpoints their bytes and seconds
 * @param topics of Kafka
 * @param network bytes a second
 * @param recovery seconds
 * @param snapshots null if none are published
 * @param commands lines to submit the jobs
 * @param flinkConfiguration settings of the cluster
 * @param warnings what does not fit; empty if all is well
 */
public record Sizing(
    Filter filter,
    Tasks tasks,
    Memory memory,
    Checkpoints checkpoints,
    Topics topics,
    Network network,
    Recovery recovery,
    @Nullable Snapshots snapshots,
    List<String> commands,
    Map<String, String> flinkConfiguration,
    List<String> warnings) {

  /**
   * The live set.
   *
   * @param identityBits P, of the law 2 n / 2^P
   * @param predictedRate at all keys
   * @param bitsPerKey of the pages in memory
   * @param heapBytes of all pages, and in an exact mode of the exact set
   * @param stateBytes of the same in a full checkpoint
   * @param pages of all shards
   */
  public record Filter(
      int identityBits,
      double predictedRate,
      double bitsPerKey,
      double heapBytes,
      double stateBytes,
      double pages) {}

  /**
   * How the work is divided.
   *
   * @param shards of the dedup, which is also its maximum parallelism
   * @param leastShards that the bits of a hash allow
   * @param parallelism of every operator
   * @param mostShardsOfTask of the fullest task
   * @param keysPerShard at all keys
   * @param eventsPerSecondOfTask that a task can carry from Kafka to Kafka, always busy
   * @param operatorEventsPerSecondOfTask the same in the operator alone, without Kafka
   * @param busyShare of its time that the fullest task works
   * @param cores for the jobs, without brokers
   */
  public record Tasks(
      int shards,
      int leastShards,
      int parallelism,
      int mostShardsOfTask,
      double keysPerShard,
      double eventsPerSecondOfTask,
      double operatorEventsPerSecondOfTask,
      double busyShare,
      double cores) {}

  /**
   * Memory.
   *
   * @param heapBytesOfTask of the fullest task
   * @param pageCacheBytesOfTask a part of the heap; 0 on the heap backend
   * @param managedBytesOfTask RocksDB's own memory; 0 on the heap backend
   * @param diskBytesOfTask RocksDB's files, with room for compaction; on the heap backend the local
   *     copies of a checkpoint
   * @param taskManagers in all
   * @param heapBytesOfTaskManager of all its slots
   * @param totalBytes heap and managed memory of all TaskManagers
   */
  public record Memory(
      double heapBytesOfTask,
      double pageCacheBytesOfTask,
      double managedBytesOfTask,
      double diskBytesOfTask,
      int taskManagers,
      double heapBytesOfTaskManager,
      double totalBytes) {}

  /**
   * Checkpoints.
   *
   * @param fullBytes of one that writes all state
   * @param fullSeconds of one that writes all state
   * @param usualBytes of one of those that follow: on RocksDB incremental
   * @param usualSeconds of the same
   * @param changedPageShare pages that change between two checkpoints
   * @param usualBytesPerSecond to the storage, of all tasks, while one is written
   */
  public record Checkpoints(
      double fullBytes,
      double fullSeconds,
      double usualBytes,
      double usualSeconds,
      double changedPageShare,
      double usualBytesPerSecond) {}

  /**
   * Topics.
   *
   * @param acceptedRecordBytes of a record, uncompressed
   * @param acceptedBytes of all live keys, compacted
   * @param duplicatesRecordBytes of a record, uncompressed
   * @param duplicatesBytes of the retention
   * @param partitions of the events topic, at least
   */
  public record Topics(
      double acceptedRecordBytes,
      double acceptedBytes,
      double duplicatesRecordBytes,
      double duplicatesBytes,
      int partitions) {}

  /**
   * Bytes a second of the whole job.
   *
   * @param eventBytes read from Kafka
   * @param exchangeBytes between TaskManagers
   * @param outputBytes written to Kafka
   * @param pageReads from RocksDB, a second
   */
  public record Network(
      double eventBytes, double exchangeBytes, double outputBytes, double pageReads) {}

  /**
   * Seconds.
   *
   * @param restartSeconds after a failure was noticed, until all tasks run
   * @param catchUpSeconds from then on, until no event waits; null for never, as tasks are too busy
   * @param rescaleSeconds of a savepoint and a start from it
   */
  public record Recovery(
      double restartSeconds, @Nullable Double catchUpSeconds, double rescaleSeconds) {}

  /**
   * Snapshots.
   *
   * @param shards of the set
   * @param keysPerShard at all keys
   * @param sentBytes of all bases, which a new reader fetches
   * @param mappedBytes of a reader's cache
   * @param windowBytes that a window adds to the topic
   * @param topicBytes of all bases and the packs that are kept
   * @param stateBytes of the snapshot job, also in a checkpoint
   * @param parallelism of the snapshot job
   * @param heapBytesOfTask of the snapshot job's fullest task
   * @param closeSeconds of a window, in the busiest task
   */
  public record Snapshots(
      int shards,
      double keysPerShard,
      double sentBytes,
      double mappedBytes,
      double windowBytes,
      double topicBytes,
      double stateBytes,
      int parallelism,
      double heapBytesOfTask,
      double closeSeconds) {}
}
