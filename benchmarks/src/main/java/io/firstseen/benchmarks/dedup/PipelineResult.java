package io.firstseen.benchmarks.dedup;

import org.jspecify.annotations.Nullable;

/**
 * The results of one run of one subject.
 *
 * @param subject what was run
 * @param keys number of different keys
 * @param recordsPerSecond between the making of the first record and the arrival of the last one
 * @param recordsAtSink records that the subject forwarded as new
 * @param allocatedPerRecord bytes per record that the task of the keyed function allocated
 * @param sizes the sizes; null if they were not measured
 */
record PipelineResult(
    Subject subject,
    long keys,
    double recordsPerSecond,
    long recordsAtSink,
    double allocatedPerRecord,
    @Nullable Sizes sizes) {

  /**
   * Sizes in bytes after all keys were added.
   *
   * @param heapBytes live objects on the heap, less those before the first record
   * @param checkpointBytes files of the first checkpoint, incremental if the backend supports it
   * @param savepointBytes files of a savepoint in the canonical format
   * @param incrementKeys new keys after the savepoint, 1 % of all keys before each checkpoint
   * @param incrementBytes files that these checkpoints wrote
   * @param referenced bytes that these checkpoints reference, relative to the pages of a filter
   *     with all keys; mean
   * @param mostReferenced the highest of these ratios
   * @param allocatedPerRepeat bytes per record that the task of the keyed function allocated while
   *     all records were repeats
   */
  record Sizes(
      long heapBytes,
      long checkpointBytes,
      long savepointBytes,
      long incrementKeys,
      long incrementBytes,
      double referenced,
      double mostReferenced,
      double allocatedPerRepeat) {}
}
