package io.firstseen.jobs.options;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/**
 * All options of the jobs except those of sources and sinks. A mixin for picocli: options are only
 * made by parsing, so that each default and bound is in one place, the annotation.
 */
public final class JobOptions {
  @Mixin private KeyOptions keys;
  @Mixin private StreamOptions stream;
  @Mixin private DedupOptions dedup;
  @Mixin private SnapshotOptions snapshots;
  private ChangelogOptions changelog;

  JobOptions() {}

  private JobOptions(
      KeyOptions keys,
      StreamOptions stream,
      DedupOptions dedup,
      ChangelogOptions changelog,
      SnapshotOptions snapshots) {
    this.keys = Objects.requireNonNull(keys, "keys");
    this.stream = Objects.requireNonNull(stream, "stream");
    this.dedup = dedup;
    this.changelog = changelog;
    this.snapshots = snapshots;
  }

  /** The options of a job that only dedups. */
  public static JobOptions forDedup(KeyOptions keys, StreamOptions stream, DedupOptions dedup) {
    return new JobOptions(keys, stream, Objects.requireNonNull(dedup, "dedup"), null, null);
  }

  /** The options of a job that only makes snapshots. */
  public static JobOptions forSnapshots(
      KeyOptions keys,
      StreamOptions stream,
      ChangelogOptions changelog,
      SnapshotOptions snapshots) {
    return new JobOptions(
        keys,
        stream,
        null,
        Objects.requireNonNull(changelog, "changelog"),
        Objects.requireNonNull(snapshots, "snapshots"));
  }

  /**
   * All options, from arguments as on a command line: {@code parse("--fpr", "0.01")}.
   *
   * @throws CommandLine.ParameterException with a sentence if an argument is wrong
   */
  public static JobOptions parse(String... words) {
    Holder holder = new Holder();
    new CommandLine(holder).parseArgs(words);
    return holder.options;
  }

  /** How keys are canonicalised and hashed. */
  public KeyOptions keys() {
    return keys;
  }

  /**
   * Where tasks get the hash of the dedup: with the job, or with {@code --hash-key-on-workers} by
   * reading its key themselves.
   *
   * @throws UserErrorException if the key cannot be read here
   */
  public KeyHashSource keyHashSource() {
    return keys.keyHashSource(stream.isHashKeyOnWorkers());
  }

  /**
   * Where tasks get the hash of the snapshots, which is that of the dedup unless it is given. Like
   * {@link #keyHashSource()}.
   */
  public KeyHashSource snapshotKeyHashSource() {
    return snapshots()
        .hashKey()
        .map(key -> key.source(stream.isHashKeyOnWorkers()))
        .orElseGet(this::keyHashSource);
  }

  /**
   * The hash of the snapshots.
   *
   * @throws UserErrorException if its key cannot be read
   */
  public KeyHash snapshotKeyHash() {
    return snapshots().hashKey().map(NamedHashKey::read).orElseGet(keys::keyHash);
  }

  /**
   * The warning of a dedup under the public key, or of snapshots under the public key that nobody
   * chose; empty if there is nothing to warn of.
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

  /**
   * Options of the dedup.
   *
   * @throws NullPointerException in a job that only makes snapshots
   */
  public DedupOptions dedup() {
    return Objects.requireNonNull(dedup, "this job does not dedup");
  }

  /**
   * Options of the snapshots.
   *
   * @throws NullPointerException in a job that only dedups
   */
  public SnapshotOptions snapshots() {
    return Objects.requireNonNull(snapshots, "this job makes no snapshots");
  }

  /** How far ahead of the clock the time of an input record may be. */
  public Duration maxAhead() {
    return dedup == null ? changelog.maxAhead() : dedup.maxAhead();
  }

  /**
   * The false-positive rate of one key in the snapshots: that of their options, else that of the
   * dedup, else {@link Firstseen#DEFAULT_FALSE_POSITIVE_RATE}.
   *
   * @throws UserErrorException if the options contradict each other
   */
  public double snapshotFalsePositiveRate() {
    return snapshots()
        .keyRate(keys)
        .orElse(dedup == null ? Firstseen.DEFAULT_FALSE_POSITIVE_RATE : dedup.falsePositiveRate());
  }

  /**
   * The time in milliseconds after its last acceptance when a key leaves the snapshots: the ttl of
   * the dedup; 0 if it has none.
   *
   * @throws UserErrorException if the dedup's ttl depends on processing time or on repeats, which
   *     snapshots do not see
   */
  public long snapshotTtlMillis() {
    if (dedup == null) {
      return changelog.ttlMillis().orElse(0);
    }
    TimeToLive ttl = dedup.ttl().orElse(null);
    if (ttl == null) {
      return 0;
    }
    if (ttl.clock() != TimeToLive.Clock.EVENT) {
      throw new UserErrorException(
          "--ttl-clock processing needs a job without snapshots: their windows are of event time");
    }
    if (ttl.since() != TimeToLive.Since.FIRST_SEEN) {
      throw new UserErrorException(
          "--ttl-since last-seen needs a job without snapshots: they do not see repeats, and would"
              + " forget keys that still arrive");
    }
    return ttl.millis();
  }

  /**
   * For how long after its acceptance a key may live; null if it is kept until it is deleted, or
   * for as long as repeats come.
   */
  public @Nullable Duration ttlOfAccepted() {
    if (dedup == null) {
      OptionalLong millis = changelog.ttlMillis();
      return millis.isPresent() ? Duration.ofMillis(millis.getAsLong()) : null;
    }
    return dedup
        .ttl()
        .filter(ttl -> ttl.since() == TimeToLive.Since.FIRST_SEEN)
        .map(ttl -> Duration.ofMillis(ttl.millis()))
        .orElse(null);
  }

  @CommandLine.Command
  private static final class Holder {
    @Mixin private JobOptions options;
  }
}
