package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;
import static io.firstseen.jobs.options.OptionValues.write;

import io.firstseen.filters.key.UrlExpressions;
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
  public static final String DEFAULT_SET = "firstseen";

  public static final int DEFAULT_SHARDS = 16;

  private static final String HASH_KEY = "--snapshot-hash-key-file";

  @Option(
      names = "--set",
      paramLabel = "NAME",
      defaultValue = DEFAULT_SET,
      converter = OptionValues.SetName.class,
      description =
          "Name of the set of keys in manifests. Fixed for the life of the state (default: "
              + "${DEFAULT-VALUE}).")
  @Bound(Bound.By.PUBLISHER)
  private String setName;

  @Option(
      names = "--window",
      paramLabel = "DURATION",
      defaultValue = "1h",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Length of the event-time windows; a snapshot is published at the end of each window "
              + "(default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration window;

  @Option(
      names = "--snapshot-shards",
      paramLabel = "N",
      defaultValue = "" + DEFAULT_SHARDS,
      converter = OptionValues.ShardCount.class,
      description =
          "Number of shards of a snapshot, a power of two up to 65536. Fixed for the life of the "
              + "state (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.STATE)
  private int shards;

  @Option(
      names = "--snapshot-fpr",
      paramLabel = "RATE",
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "Probability, in (0, 0.1], that a snapshot returns present for one key that is not in"
              + " it. For a URL with n match expressions (most URLs have fewer than a dozen) the"
              + " probability is up to n times as high. Fixed for the life of the state (default:"
              + " the value of --fpr, or "
              + Firstseen.DEFAULT_FALSE_POSITIVE_RATE
              + " in a job without --fpr).")
  @Bound(Bound.By.STATE)
  private Double falsePositiveRate;

  @Option(
      names = "--snapshot-url-fpr",
      paramLabel = "RATE",
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "Probability, in (0, 0.1], that a snapshot returns present for one URL that is not"
              + " listed and has 30 match expressions; most URLs have fewer than a dozen. One key"
              + " then has the rate 1-(1-RATE)^(1/30). Replaces --snapshot-fpr. Needs"
              + " --canonicaliser url-expression. Fixed for the life of the state.")
  @Bound(Bound.By.STATE)
  private Double urlFalsePositiveRate;

  @Option(
      names = HASH_KEY,
      paramLabel = NamedHashKey.LABEL,
      description =
          "File with the hash key of the snapshots, 32 hexadecimal digits, or public for the "
              + "public key. Clients only need this key, so the dedup's key stays secret. Fixed "
              + "for the life of the state (default: the hash key of --hash-key-file or "
              + "FIRSTSEEN_HASH_KEY).")
  @Bound(Bound.By.STATE)
  private Path hashKeyFile;

  @Option(
      names = "--max-fall",
      paramLabel = "SHARE",
      defaultValue = "0.5",
      converter = OptionValues.Share.class,
      description =
          "Share of its keys, in [0, 1], that a set may lose from one published window to the "
              + "next. If a window falls further, publication is on hold and clients keep the "
              + "previous snapshot. 1 disables the limit (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private double maxFall;

  @Option(
      names = "--max-growth",
      paramLabel = "FACTOR",
      converter = OptionValues.Growth.class,
      description =
          "Factor, at least 1, by which a set may grow from one published window to the next. If "
              + "a window grows further, publication is on hold (default: no limit).")
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
          "Release for a publication on hold, used once: the window after the manifest with this "
              + "sequence, which the warning reports, is published regardless of its change in "
              + "size.")
  @Bound(Bound.By.NOTHING)
  private Long allowJumpAfter;

  @Option(
      names = "--blob-grace",
      paramLabel = "DURATION",
      defaultValue = "1d",
      converter = OptionValues.DurationValue.class,
      description =
          "Time for which a blob is kept after its last use. Has no effect on directories of "
              + "'run' (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration blobGrace;

  @Option(
      names = "--blob-dir",
      paramLabel = "URI",
      converter = OptionValues.DirectoryUri.class,
      description =
          "Directory for the blobs, in any file system with a Flink plugin, such as"
              + " s3://bucket/spam. The topic then contains only manifests and the publisher's"
              + " claim. Each set needs its own directory.")
  // At a restart the publisher looks for the blobs of its state.
  @Bound(Bound.By.NOTHING)
  private URI blobDirectory;

  @Option(
      names = "--expire-after",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Time after its publication at which a manifest expires; clients then report it as "
              + "stale. More than --window, at most 36500d (default: manifests do not expire).")
  @Bound(Bound.By.NOTHING)
  private Duration expireAfter;

  @Option(
      names = "--signing-key",
      paramLabel = "FILE",
      description =
          "File with the private key that signs manifests ('firstseen snapshot keygen'). It must "
              + "exist on every TaskManager.")
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

  /** The false-positive rate of one key of a snapshot, in (0, 0.1]; empty if not given. */
  OptionalDouble keyRate(KeyOptions keys) {
    OptionalDouble rate =
        keys.keyRate(
            new KeyOptions.Rate("--snapshot-fpr", falsePositiveRate),
            new KeyOptions.Rate("--snapshot-url-fpr", urlFalsePositiveRate));
    if (urlFalsePositiveRate != null) {
      int exponent = SnapshotSpec.leastRateExponent(shards);
      reject(
          urlFalsePositiveRate < UrlExpressions.RATED_COUNT * Math.scalb(1.0, exponent),
          "--snapshot-url-fpr must be at least %d * 2^%d with %d shards, got %s"
              .formatted(UrlExpressions.RATED_COUNT, exponent, shards, urlFalsePositiveRate));
    }
    return rate;
  }

  Optional<NamedHashKey> hashKey() {
    return Optional.ofNullable(hashKeyFile).map(file -> new NamedHashKey(HASH_KEY, file));
  }

  /** The directory of blobs; empty if they are written where the manifests are. */
  public Optional<URI> blobDirectory() {
    return Optional.ofNullable(blobDirectory);
  }

  /** The file of the key that signs manifests; empty if they are not signed. */
  public Optional<Path> signingKey() {
    return Optional.ofNullable(signingKey);
  }

  /** The rules for holding publication, expiring manifests and deleting blobs. */
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
