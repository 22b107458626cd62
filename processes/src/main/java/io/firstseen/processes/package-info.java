/**
 * Kafka and Flink in separate processes on this machine: {@link
 * io.firstseen.processes.BrokerProcess} and {@link io.firstseen.processes.FlinkProcesses}. Each
 * process has a log file, reports when it is ready, and can be stopped, killed and restarted on the
 * same ports and data.
 */
package io.firstseen.processes;
