package io.firstseen.benchmarks.dedup;

/**
 * How Flink is set up, the same for all subjects.
 *
 * @param parallelism of every operator
 * @param managedMemoryMebibytes RocksDB's block cache and write buffers, of all slots together
 * @param objectReuse whether Flink may hand objects on without a copy
 */
record FlinkSettings(int parallelism, int managedMemoryMebibytes, boolean objectReuse) {}
