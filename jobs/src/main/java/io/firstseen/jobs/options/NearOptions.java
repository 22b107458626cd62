package io.firstseen.jobs.options;

import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.DedupSettings;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The rule for near-duplicates. */
public final class NearOptions {
  @Option(
      names = "--" + DedupSettings.NEAR,
      paramLabel = "RULE",
      converter = OptionValues.NearRuleName.class,
      description =
          DedupSettings.NEAR_TEXT
              + Bound.IDENTITY_TEXT
              + " (default: texts with different forms are different).")
  @Bound(Bound.By.IDENTITY)
  private NearRule near;

  NearOptions() {}

  /** The rule; empty if keys are compared as a whole. */
  public Optional<NearRule> rule() {
    return Optional.ofNullable(near);
  }
}
