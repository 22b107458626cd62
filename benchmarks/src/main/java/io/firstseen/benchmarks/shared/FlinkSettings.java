package io.firstseen.benchmarks.shared;

/**
 * The settings of Flink, the same for all subjects.
 *
 * @param parallelism of every operator
 * @param managedMemoryMebibytes RocksDB's block cache and write buffers, in MiB for all slots
 *     together
 * @param objectReuse whether Flink may pass objects on without a copy
 */
public record FlinkSettings(int parallelism, int managedMemoryMebibytes, boolean objectReuse) {}
