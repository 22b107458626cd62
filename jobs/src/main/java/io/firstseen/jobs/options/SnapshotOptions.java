package io.firstseen.jobs.options;

import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.ChangeBounds;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.operators.dedup.Firstseen;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import picocli.CommandLine.Option;

/** Options of the snapshots. */
public final class SnapshotOptions {
  /** The default name of a set. */
  public static final String DEFAULT_SET = "firstseen";

  /** The default number of snapshot shards. */
  public static final int DEFAULT_SHARDS = 16;

  private static final String HASH_KEY = "--snapshot-hash-key-file";

  @Option(
      names = "--set",
      paramLabel = "NAME",
      defaultValue = DEFAULT_SET,
      converter = OptionValues.SetName.class,
      description =
          "The name of the set of keys in manifests. Fixed for the life of the state (default:"
              + " ${DEFAULT-VALUE}).")
  @Bound(Bound.By.PUBLISHER)
  private String setName;

  @Option(
      names = "--window",
      paramLabel = "DURATION",
      defaultValue = "1h",
      converter = OptionValues.PositiveDuration.class,
      description =
          "A snapshot is published at the end of each window of event time"
              + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration window;

  @Option(
      names = "--snapshot-shards",
      paramLabel = "N",
      defaultValue = "" + DEFAULT_SHARDS,
      converter = OptionValues.ShardCount.class,
      description =
          "Parts of a snapshot, a power of two up to 65536. Fixed for the life of the state"
              + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.STATE)
  private int shards;

  @Option(
      names = "--snapshot-fpr",
      paramLabel = "RATE",
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "The probability, in (0, 0.1], with which a snapshot answers present for one key"
              + " that is not in it. A URL with n match expressions, fewer than a dozen for most,"
              + " is answered present with up to n times this probability. Fixed for the life of the"
              + " state (default: that of --fpr, "
              + Firstseen.DEFAULT_FALSE_POSITIVE_RATE
              + " where there is no --fpr).")
  @Bound(Bound.By.STATE)
  private Double falsePositiveRate;

  @Option(
      names = "--snapshot-url-fpr",
      paramLabel = "RATE",
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "Instead of --snapshot-fpr, with --canonicaliser url-expression: the probability, in (0,"
              + " 0.1], with which one URL that is not listed is answered present, if it has 30 match"
              + " expressions; most URLs have fewer than a dozen. One key then has the rate 1-(1-RATE)^(1/30).")
  @Bound(Bound.By.STATE)
  private Double urlFalsePositiveRate;

  @Option(
      names = HASH_KEY,
      paramLabel = NamedHashKey.LABEL,
      description =
          "A file with the hash key of the snapshots, 32 hexadecimal digits, or public for the public"
              + " key (a file of this name is ./public). Readers need only this key, so the key of"
              + " the dedup stays secret. Fixed for the life of the state (default: the hash key of"
              + " --hash-key-file or FIRSTSEEN_HASH_KEY).")
  @Bound(Bound.By.STATE)
  private Path hashKeyFile;

  @Option(
      names = "--max-fall",
      paramLabel = "SHARE",
      defaultValue = "0.5",
      converter = OptionValues.Share.class,
      description =
          "The share of its keys, in [0, 1], that a set may lose from one published window to the"
              + " next. A window that falls further is held: consumers keep the one before. 1 lets"
              + " every fall pass (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private double maxFall;

  @Option(
      names = "--max-growth",
      paramLabel = "FACTOR",
      converter = OptionValues.Growth.class,
      description =
          "The factor, at least 1, by which a set may grow from one published window to the next."
              + " A window that grows further is held (default: any).")
  @Bound(Bound.By.NOTHING)
  private Double maxGrowth;

  @Option(
      names = "--jump-floor",
      paramLabel = "N",
      defaultValue = "1000",
      converter = OptionValues.KeyCount.class,
      description =
          "A fall from fewer keys than this is never held; for growth, fewer keys count"
              + " as this many (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private long jumpFloor;

  @Option(
      names = "--allow-jump-after",
      paramLabel = "SEQUENCE",
      converter = OptionValues.Sequence.class,
      description =
          "Releases a held window, once: the window that follows the manifest of this"
              + " sequence is published however much the set shrinks or grows. The warning of"
              + " the held window names the number.")
  @Bound(Bound.By.NOTHING)
  private Long allowJumpAfter;

  @Option(
      names = "--blob-grace",
      paramLabel = "DURATION",
      defaultValue = "1d",
      converter = OptionValues.DurationValue.class,
      description =
          "How long a blob is kept after it was last in use. Not for"
              + " directories of 'run' (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration blobGrace;

  @Option(
      names = "--blob-dir",
      paramLabel = "URI",
      converter = OptionValues.DirectoryUri.class,
      description =
          "A directory for the blobs, in any file system that Flink has a plugin for,"
              + " such as s3://bucket/spam; the topic then holds only manifests and the claim of"
              + " the publisher. One directory for each set.")
  // At a restart the publisher looks for the blobs of its state.
  @Bound(Bound.By.NOTHING)
  private URI blobDirectory;

  @Option(
      names = "--expire-after",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Manifests expire this long after their publication; consumers then count them as stale."
              + " More than --window, at most 36500d (default: they do not expire).")
  @Bound(Bound.By.NOTHING)
  private Duration expireAfter;

  @Option(
      names = "--signing-key",
      paramLabel = "FILE",
      description =
          "Sign manifests with the private key in this file, which must exist on every"
              + " TaskManager ('firstseen snapshot keygen').")
  @Bound(Bound.By.NOTHING)
  private Path signingKey;

  SnapshotOptions() {}

  /** The name of the set of keys; unique on a snapshots topic. */
  public String setName() {
    return setName;
  }

  /** The length of a window of event time. */
  public Duration window() {
    return window;
  }

  /** The number of snapshot shards, a power of two in [1, 65536]. */
  public int shards() {
    return shards;
  }

  /**
   * The false-positive rate of one key of a snapshot, in (0, 0.1], if it or that of a URL is given.
   *
   * @throws UserErrorException if the options contradict each other
   */
  OptionalDouble keyRate(KeyOptions keys) {
    OptionalDouble rate =
        keys.keyRate(
            new KeyOptions.Rate("--snapshot-fpr", falsePositiveRate),
            new KeyOptions.Rate("--snapshot-url-fpr", urlFalsePositiveRate));
    if (urlFalsePositiveRate != null) {
      int exponent = SnapshotSpec.leastRateExponent(shards);
      if (urlFalsePositiveRate < UrlExpressions.RATED_COUNT * Math.scalb(1.0, exponent)) {
        throw new UserErrorException(
            "--snapshot-url-fpr must be at least %d * 2^%d with %d shards, got %s"
                .formatted(UrlExpressions.RATED_COUNT, exponent, shards, urlFalsePositiveRate));
      }
    }
    return rate;
  }

  /** The hash key of the snapshots, if it is another than that of the dedup. */
  Optional<NamedHashKey> hashKey() {
    NamedHashKey named = new NamedHashKey(HASH_KEY, hashKeyFile);
    return named.isGiven() ? Optional.of(named) : Optional.empty();
  }

  /** The directory of blobs; empty if they go where manifests do. */
  public Optional<URI> blobDirectory() {
    return Optional.ofNullable(blobDirectory);
  }

  /** The file of the key that signs manifests; empty if they are not signed. */
  public Optional<Path> signingKey() {
    return Optional.ofNullable(signingKey);
  }

  /** Which windows are held, when manifests expire, and when blobs are removed. */
  public Publication publication() {
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
    if (expireAfter.compareTo(window) <= 0) {
      throw new UserErrorException(
          "--expire-after must be more than --window, %s, as a set is published once a window; got %s"
              .formatted(OptionValues.write(window), OptionValues.write(expireAfter)));
    }
    if (expireAfter.compareTo(Publication.MAX_EXPIRY) > 0) {
      throw new UserErrorException(
          "--expire-after must be at most %s, got %s"
              .formatted(
                  OptionValues.write(Publication.MAX_EXPIRY), OptionValues.write(expireAfter)));
    }
    return publication.expiringAfter(expireAfter);
  }
}
