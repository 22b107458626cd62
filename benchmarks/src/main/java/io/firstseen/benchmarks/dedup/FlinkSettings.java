package io.firstseen.benchmarks.dedup;

/**
 * The settings of Flink, the same for all subjects.
 *
 * @param parallelism of every operator
 * @param managedMemoryMebibytes RocksDB's block cache and write buffers, in MiB for all slots
 *     together
 * @param objectReuse whether Flink may pass objects on without a copy
 */
record FlinkSettings(int parallelism, int managedMemoryMebibytes, boolean objectReuse) {}
