package io.firstseen.benchmarks.dedup;

/**
 * What one run of one subject gave.
 *
 * @param subject what was run
 * @param keys number of different keys
 * @param recordsPerSecond from the first record made to the last one through
 * @param recordsAtSink records that the subject took for first-seen
 * @param allocatedPerRecord bytes that the task of the keyed function allocated a record
 * @param sizes null if they were not asked for
 */
record PipelineResult(
    Subject subject,
    long keys,
    double recordsPerSecond,
    long recordsAtSink,
    double allocatedPerRecord,
    Sizes sizes) {

  /**
   * Bytes after all keys are in.
   *
   * @param heapBytes live objects, less those before the first record
   * @param checkpointBytes files of the first checkpoint, incremental where the backend can
   * @param savepointBytes files of a savepoint in the canonical format
   * @param incrementKeys new keys after that
   * @param incrementBytes files that the next checkpoint wrote
   * @param allocatedPerRepeat bytes that the task of the keyed function allocated a record while
   *     all records were repeats
   */
  record Sizes(
      long heapBytes,
      long checkpointBytes,
      long savepointBytes,
      long incrementKeys,
      long incrementBytes,
      double allocatedPerRepeat) {}
}
