package io.firstseen.jobs.options;

import java.time.Duration;
import java.util.OptionalLong;
import picocli.CommandLine.Option;

/** What the snapshot job must be told of the dedup whose accepted changelog it reads. */
public final class ChangelogOptions {

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      converter = OptionValues.TtlLength.class,
      description =
          "Forget a key this long after it was accepted last, at the latest an eighth later, at the"
              + " end of a window: the --ttl of the dedup. The length may change at any restart,"
              + " whether there is one may not (default: keys are kept until they are deleted).")
  private Duration ttl;

  ChangelogOptions() {}

  /** How long after it was accepted last a key is forgotten, if it is. */
  public OptionalLong ttlMillis() {
    return ttl == null ? OptionalLong.empty() : OptionalLong.of(ttl.toMillis());
  }
}
