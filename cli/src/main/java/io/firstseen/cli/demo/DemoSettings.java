package io.firstseen.cli.demo;

import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import java.util.Locale;

/**
 * The size of a demo.
 *
 * @param maxEvents the maximum number of events
 * @param eventsPerSecond the rate at which they are sent
 * @param parallelism of both jobs
 * @param stateBackend of both jobs
 * @param webPort of Flink's web page; 0 means any free port
 */
record DemoSettings(
    int maxEvents, long eventsPerSecond, int parallelism, StateBackend stateBackend, int webPort) {

  /** Partitions of the topics that have more than one. */
  static final int PARTITIONS = 4;

  /**
   * About the number of keys that are live at the end, so that the false-positive rate comes near
   * its promise.
   */
  static final int CAPACITY = 22_000;

  static final double FALSE_POSITIVE_RATE = 0.001;

  private static final String SET_NAME = "phishing-domains";

  /** The options of both jobs, as a user would give them. */
  JobOptions jobs() {
    return JobOptions.parse(
        "--canonicaliser=url",
        "--capacity=" + CAPACITY,
        "--fpr=" + FALSE_POSITIVE_RATE,
        "--set=" + SET_NAME,
        "--window=2s",
        "--out-of-orderness=500ms",
        "--idle-timeout=5s",
        "--parallelism=" + parallelism,
        "--state-backend=" + stateBackend.name().toLowerCase(Locale.ROOT));
  }

  /** The topics of both jobs, under the default names. */
  static KafkaOptions kafka(String bootstrapServers) {
    return KafkaOptions.parse(
        "--bootstrap-servers=" + bootstrapServers, "--checkpoint-interval=1s");
  }
}
