package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/**
 * All options of the jobs except the options of sources and sinks. This is a picocli mixin. Options
 * are only created by parsing, so that the annotation is the single definition of each default and
 * bound.
 */
public final class JobOptions {
  @Mixin private KeyOptions keys;
  @Mixin private StreamOptions stream;
  @Mixin private DedupOptions dedup;
  @Mixin private SnapshotOptions snapshots;
  private ChangelogOptions changelog;

  JobOptions() {}

  /** The options of a dedup job. */
  public static JobOptions forDedup(KeyOptions keys, StreamOptions stream, DedupOptions dedup) {
    JobOptions options = new JobOptions();
    options.keys = keys;
    options.stream = stream;
    options.dedup = dedup;
    return options;
  }

  /** The options of a snapshot job. */
  public static JobOptions forSnapshots(
      KeyOptions keys,
      StreamOptions stream,
      ChangelogOptions changelog,
      SnapshotOptions snapshots) {
    JobOptions options = forDedup(keys, stream, null);
    options.changelog = changelog;
    options.snapshots = snapshots;
    return options;
  }

  /**
   * All options, from arguments as on a command line: {@code parse("--fpr", "0.01")}.
   *
   * @throws CommandLine.ParameterException if an argument is invalid
   */
  public static JobOptions parse(String... words) {
    JobOptions options = new JobOptions();
    new CommandLine(options).parseArgs(words);
    return options;
  }

  /** The canonicaliser and the hash key. */
  public KeyOptions keys() {
    return keys;
  }

  /**
   * The source of the dedup's hash: the job contains the key, or with {@code --hash-key-on-workers}
   * each task reads the key.
   *
   * @throws UserErrorException if the key cannot be read here
   */
  public KeyHashSource keyHashSource() {
    return keys.named().source(stream.isHashKeyOnWorkers());
  }

  /** The source of the snapshots' hash, by default the dedup's; see {@link #keyHashSource()}. */
  public KeyHashSource snapshotKeyHashSource() {
    return snapshotKey().source(stream.isHashKeyOnWorkers());
  }

  /**
   * The hash of the snapshots.
   *
   * @throws UserErrorException if its key cannot be read
   */
  public KeyHash snapshotKeyHash() {
    return snapshotKey().read();
  }

  private NamedHashKey snapshotKey() {
    return snapshots().hashKey().orElseGet(keys::named);
  }

  /**
   * The warning if a dedup job uses the public key, or if snapshots use it because no key is
   * configured; otherwise empty.
   */
  public Optional<String> publicKeyWarning() {
    if (dedup != null) {
      return keys.publicKeyWarning();
    }
    return snapshots().hashKey().isPresent() ? Optional.empty() : keys.missingKeyWarning();
  }

  /** Whether a hash key of the job is a secret. */
  public boolean hasSecretHashKey() {
    return (dedup != null && !keys.keyHash().isFixedKey())
        || (snapshots != null && !snapshotKeyHash().isFixedKey());
  }

  /** Parallelism, state and event time. */
  public StreamOptions stream() {
    return stream;
  }

  /** Throws a {@link NullPointerException} in a snapshot job. */
  public DedupOptions dedup() {
    return Objects.requireNonNull(dedup, "this job does not dedup");
  }

  /** Throws a {@link NullPointerException} in a dedup job. */
  public SnapshotOptions snapshots() {
    return Objects.requireNonNull(snapshots, "this job does not publish snapshots");
  }

  /** The maximum time by which an input record may be ahead of the system clock. */
  public Duration maxAhead() {
    return dedup == null ? changelog.maxAhead() : dedup.maxAhead();
  }

  /** The rule by which texts are near-duplicates; empty if keys are compared as a whole. */
  public Optional<NearRule> near() {
    return dedup == null ? changelog.near() : dedup.near();
  }

  /**
   * The false-positive rate of one hash in the snapshots. It follows from the rate of the snapshot
   * options, else the rate of the dedup, else {@link Firstseen#DEFAULT_FALSE_POSITIVE_RATE}.
   *
   * @throws UserErrorException if the options contradict each other
   */
  public double snapshotFalsePositiveRate() {
    double ofDedup =
        dedup == null ? Firstseen.DEFAULT_FALSE_POSITIVE_RATE : dedup.falsePositiveRate();
    double rate = snapshots().keyRate(keys).orElse(ofDedup);
    return near().map(rule -> rule.elementRate(rate)).orElse(rate);
  }

  /**
   * The time in milliseconds after its last acceptance when a key leaves the snapshots, which is
   * the dedup's TTL; 0 without a TTL.
   *
   * @throws UserErrorException if the dedup's TTL uses processing time or duplicates, which a
   *     snapshot job does not see
   */
  public long snapshotTtlMillis() {
    if (dedup == null) {
      return changelog.ttl() == null ? 0 : changelog.ttl().toMillis();
    }
    TimeToLive ttl = dedup.ttl().orElse(null);
    if (ttl == null) {
      return 0;
    }
    reject(
        ttl.clock() != TimeToLive.Clock.EVENT,
        "--ttl-clock processing needs a job without snapshots: snapshot windows use event time");
    reject(
        ttl.since() != TimeToLive.Since.FIRST_SEEN,
        "--ttl-since last-seen needs a job without snapshots: a snapshot job does not see "
            + "duplicates, so it would expire keys that still arrive");
    return ttl.millis();
  }

  /**
   * The maximum lifetime of a key after its acceptance; null if a key is kept until it is deleted,
   * or if duplicates extend its lifetime.
   */
  public @Nullable Duration ttlOfAccepted() {
    if (dedup == null) {
      return changelog.ttl();
    }
    return dedup
        .ttl()
        .filter(ttl -> ttl.since() == TimeToLive.Since.FIRST_SEEN)
        .map(ttl -> Duration.ofMillis(ttl.millis()))
        .orElse(null);
  }
}
