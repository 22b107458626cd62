package io.firstseen.cli.demo;

import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import java.util.Locale;

/**
 * How big a demo is.
 *
 * @param maxEvents how many events are sent at most
 * @param eventsPerSecond how fast they are sent
 * @param parallelism of both jobs
 * @param stateBackend of both jobs
 * @param webPort of Flink's web page; 0 takes a free one
 */
record DemoSettings(
    int maxEvents, long eventsPerSecond, int parallelism, StateBackend stateBackend, int webPort) {

  /** Of the topics that have more than one. */
  static final int PARTITIONS = 4;

  /** About the number of keys that are live in the end, so that the rate comes near its promise. */
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

  /** Their topics, under the default names. */
  static KafkaOptions kafka(String bootstrapServers) {
    return KafkaOptions.parse(
        "--bootstrap-servers=" + bootstrapServers, "--checkpoint-interval=1s");
  }
}
