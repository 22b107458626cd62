package io.firstseen.jobs.options;

import io.firstseen.filters.near.NearRule;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The rule for near-duplicates. */
public final class NearOptions {
  @Option(
      names = "--near",
      paramLabel = "RULE",
      converter = OptionValues.NearRuleName.class,
      description =
          "Rule by which texts resemble each other: short (SMS, chat), long (mails, pages), or"
              + " UNIT:SHINGLE,BANDSxROWS,MATCHES such as characters:4,32x5,2. +fold at the end"
              + " also matches texts with look-alike or spaced-out letters. Texts that resemble a"
              + " live text of their scope are duplicates, and clients of the snapshots can find"
              + " such texts. Needs --canonicaliser text. --capacity and the false-positive rates"
              + " then apply to texts, and the parallelism of the dedup is at most the number of"
              + " scopes. Fixed for the life of the state and of the set; SnapshotJob fails unless"
              + " its value matches the dedup job's (default: texts with different forms are"
              + " different).")
  @Bound(Bound.By.IDENTITY)
  private NearRule near;

  NearOptions() {}

  /** The rule; empty if keys are compared as a whole. */
  public Optional<NearRule> rule() {
    return Optional.ofNullable(near);
  }
}
