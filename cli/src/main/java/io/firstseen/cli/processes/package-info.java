/**
 * Kafka, Flink and the command itself in processes of their own on this machine: {@link
 * io.firstseen.cli.processes.BrokerProcess}, {@link io.firstseen.cli.processes.FlinkProcesses}, and
 * {@link io.firstseen.cli.processes.CommandProcess}. Each part has a log file, says when it is
 * ready, can be stopped, killed and started again on the same ports and data.
 */
package io.firstseen.cli.processes;
