package io.firstseen.jobs;

import java.time.Duration;
import java.util.OptionalDouble;
import picocli.CommandLine.Option;

/** How accepted keys become snapshots. */
public final class SnapshotOptions {

  @Option(
      names = "--set",
      paramLabel = "NAME",
      defaultValue = "firstseen",
      converter = OptionValues.SetName.class,
      description = "The name of the set of keys in manifests (default: ${DEFAULT-VALUE}).")
  private String setName;

  @Option(
      names = "--window",
      paramLabel = "DURATION",
      defaultValue = "1h",
      converter = OptionValues.PositiveDuration.class,
      description =
          "A snapshot is published at the end of each window of event time"
              + " (default: ${DEFAULT-VALUE}).")
  private Duration window;

  @Option(
      names = "--snapshot-shards",
      paramLabel = "N",
      defaultValue = "16",
      converter = OptionValues.ShardCount.class,
      description =
          "Parts of a snapshot, a power of two; fixed for the life of the state"
              + " (default: ${DEFAULT-VALUE}).")
  private int shards;

  @Option(
      names = "--snapshot-fpr",
      paramLabel = "RATE",
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "The probability, in (0, 0.1], with which a snapshot holds a strange key"
              + " (default: that of --fpr, 0.001 where there is no --fpr).")
  private Double falsePositiveRate;

  SnapshotOptions() {}

  /** The name of the set of keys; unique on a snapshots topic. */
  public String setName() {
    return setName;
  }

  /** The length of a window of event time. */
  public Duration window() {
    return window;
  }

  /** Parts of a snapshot, a power of two in [1, 65536]. */
  public int shards() {
    return shards;
  }

  /** The rate of a snapshot, in (0, 0.1], if it was given. */
  public OptionalDouble falsePositiveRate() {
    return falsePositiveRate == null
        ? OptionalDouble.empty()
        : OptionalDouble.of(falsePositiveRate);
  }
}
