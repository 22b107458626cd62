package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.operators.dedup.Firstseen;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import picocli.CommandLine.Mixin;
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

  @Mixin private PublicationOptions publication;

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
    return publication.publication(window);
  }
}
