package io.firstseen.jobs.options;

import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.DedupSettings;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of the snapshot job about the dedup job that wrote the accepted changelog. */
public final class ChangelogOptions {

  @Option(
      names = "--" + DedupSettings.TTL,
      paramLabel = "DURATION",
      converter = OptionValues.TtlLength.class,
      description =
          "The --ttl of the dedup job; the job fails if it differs. A key expires this long "
              + "after its last acceptance, or up to an eighth later, at the end of a window. The "
              + "length may change at any restart. A TTL cannot be added or removed (default: keys are "
              + "kept until they are deleted).")
  @Bound(Bound.By.CHANGELOG)
  private Duration ttl;

  @Option(
      names = "--max-ahead",
      paramLabel = "DURATION",
      defaultValue = "1d",
      converter = OptionValues.DurationValue.class,
      description =
          "Maximum time by which the timestamp of a record on the accepted topic may be ahead of "
              + "the system clock; later records are skipped. Set it higher than in the dedup job, so "
              + "that a slow clock loses no key (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration maxAhead;

  @Mixin private NearOptions near = new NearOptions();

  ChangelogOptions() {}

  /** The time after its last acceptance when a key is forgotten; null for never. */
  public @Nullable Duration ttl() {
    return ttl;
  }

  /** The rule by which texts are near-duplicates; empty if keys are compared as a whole. */
  public Optional<NearRule> near() {
    return near.rule();
  }

  /** How far ahead of the clock a record's time may be; zero or more. */
  public Duration maxAhead() {
    return maxAhead;
  }
}
