/**
 * Kafka and Flink in processes of their own on this machine: {@link
 * io.firstseen.cli.processes.BrokerProcess} and {@link io.firstseen.cli.processes.FlinkProcesses}.
 * Each part has a log file, says when it is ready, can be stopped, killed and started again on the
 * same ports and data.
 */
package io.firstseen.cli.processes;
