package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;
import static io.firstseen.jobs.options.OptionValues.write;

import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.ChangeBounds;
import io.firstseen.operators.compaction.Publication;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Options of the rules for holding publication, expiring manifests and deleting blobs. */
public final class PublicationOptions {

  @Option(
      names = "--max-fall",
      paramLabel = "SHARE",
      defaultValue = "0.5",
      converter = OptionValues.Share.class,
      description =
          "Share of its keys, in [0, 1], that a set may lose from one manifest to the next. If a set loses more, publication is on hold and clients keep the previous snapshot. 1 disables the limit (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private double maxFall;

  @Option(
      names = "--max-growth",
      paramLabel = "FACTOR",
      converter = OptionValues.Growth.class,
      description =
          "Factor, at least 1, by which a set may grow from one manifest to the next. If a set grows more, publication is on hold (default: no limit).")
  @Bound(Bound.By.NOTHING)
  private Double maxGrowth;

  @Option(
      names = "--jump-floor",
      paramLabel = "N",
      defaultValue = "1000",
      converter = OptionValues.KeyCount.class,
      description =
          "Number of keys, at least 1; sets of fewer keys may fall without limit, and --max-growth "
              + "treats them as sets of this many keys (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private long jumpFloor;

  @Option(
      names = "--allow-jump-after",
      paramLabel = "SEQUENCE",
      converter = OptionValues.Sequence.class,
      description =
          "Release for a publication on hold, used once: the set after the manifest with this sequence, which the message about the hold contains, is published regardless of its change in size.")
  @Bound(Bound.By.NOTHING)
  private Long allowJumpAfter;

  @Option(
      names = "--blob-grace",
      paramLabel = "DURATION",
      defaultValue = "1d",
      converter = OptionValues.DurationValue.class,
      description =
          "Time for which a blob is kept after the last manifest that uses it has been replaced. "
              + "'snapshot publish' also keeps the manifest; 'run' keeps everything (default: "
              + "${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration blobGrace;

  @Option(
      names = "--expire-after",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Time after its publication at which a manifest expires; clients then report it as "
              + "stale. More than --window, at most 36500d (default: manifests do not expire).")
  @Bound(Bound.By.NOTHING)
  private Duration expireAfter;

  PublicationOptions() {}

  /**
   * The rules.
   *
   * @param window the interval between two publications
   * @throws UserErrorException if manifests expire within the interval, or too late
   */
  public Publication publication(Duration window) {
    Publication publication =
        Publication.OF_ALL
            .within(
                new ChangeBounds(
                    maxFall, maxGrowth == null ? Double.POSITIVE_INFINITY : maxGrowth, jumpFloor))
            .allowingJumpAfter(allowJumpAfter == null ? Publication.NO_JUMP : allowJumpAfter)
            .removingBlobsAfter(blobGrace);
    if (expireAfter == null) {
      return publication;
    }
    reject(
        expireAfter.compareTo(window) <= 0,
        "--expire-after must be more than --window, %s, because a set is published once per window; got %s"
            .formatted(write(window), write(expireAfter)));
    reject(
        expireAfter.compareTo(Publication.MAX_EXPIRY) > 0,
        "--expire-after must be at most %s, got %s"
            .formatted(write(Publication.MAX_EXPIRY), write(expireAfter)));
    return publication.expiringAfter(expireAfter);
  }
}
