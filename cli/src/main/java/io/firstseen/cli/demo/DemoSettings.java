package io.firstseen.cli.demo;

import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import java.util.Locale;

/**
 * The size of a demo.
 *
 * @param maxEvents the maximum number of events
 * @param eventsPerSecond the rate of events
 * @param parallelism the parallelism of both jobs
 * @param stateBackend the state backend of both jobs
 * @param webPort the port of Flink's web page; 0 selects a free port
 */
record DemoSettings(
    int maxEvents, long eventsPerSecond, int parallelism, StateBackend stateBackend, int webPort) {

  /** The number of partitions of topics with several partitions. */
  static final int PARTITIONS = 4;

  /**
   * The approximate number of keys that are live at the end, so that the measured false-positive
   * rate is close to the promised rate.
   */
  static final int CAPACITY = 22_000;

  static final double FALSE_POSITIVE_RATE = 0.001;

  private static final String SET_NAME = "phishing-domains";

  /** The options of both jobs, as on a command line. */
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

  /** The topics of both jobs, with the default names. */
  static KafkaOptions kafka(String bootstrapServers) {
    return KafkaOptions.parse(
        "--bootstrap-servers=" + bootstrapServers, "--checkpoint-interval=1s");
  }
}
