package io.firstseen.jobs;

import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;

/**
 * All options of the jobs that do not depend on where events come from and where results go. A
 * mixin for picocli: options are made by parsing, so that each default and each bound stands in one
 * place, the annotation.
 */
public final class JobOptions {
  /** The rate of snapshots where neither they nor dedup name one. */
  private static final double DEFAULT_RATE = 0.001;

  @Mixin private KeyOptions keys;
  @Mixin private StreamOptions stream;
  @Mixin private DedupOptions dedup;
  @Mixin private SnapshotOptions snapshots;

  JobOptions() {}

  private JobOptions(
      KeyOptions keys, StreamOptions stream, DedupOptions dedup, SnapshotOptions snapshots) {
    this.keys = Objects.requireNonNull(keys, "keys");
    this.stream = Objects.requireNonNull(stream, "stream");
    this.dedup = dedup;
    this.snapshots = snapshots;
  }

  /** The options of a job that only dedups. */
  public static JobOptions forDedup(KeyOptions keys, StreamOptions stream, DedupOptions dedup) {
    return new JobOptions(keys, stream, Objects.requireNonNull(dedup, "dedup"), null);
  }

  /** The options of a job that only makes snapshots. */
  public static JobOptions forSnapshots(
      KeyOptions keys, StreamOptions stream, SnapshotOptions snapshots) {
    return new JobOptions(keys, stream, null, Objects.requireNonNull(snapshots, "snapshots"));
  }

  /**
   * All options, from words as on a command line: {@code parse("--fpr", "0.01")}.
   *
   * @throws CommandLine.ParameterException with a sentence if a word is wrong
   */
  public static JobOptions parse(String... words) {
    Holder holder = new Holder();
    new CommandLine(holder).parseArgs(words);
    return holder.options;
  }

  /** Which spellings are one key, and how keys are hashed. */
  public KeyOptions keys() {
    return keys;
  }

  /** How the stream is run. */
  public StreamOptions stream() {
    return stream;
  }

  /** How repeats are told; absent from a job that only makes snapshots. */
  public DedupOptions dedup() {
    return Objects.requireNonNull(dedup, "this job does not dedup");
  }

  /** How snapshots are made; absent from a job that only dedups. */
  public SnapshotOptions snapshots() {
    return Objects.requireNonNull(snapshots, "this job makes no snapshots");
  }

  /** The rate of snapshots: their own, else that of dedup, else 0.001. */
  public double snapshotFalsePositiveRate() {
    return snapshots()
        .falsePositiveRate()
        .orElse(dedup == null ? DEFAULT_RATE : dedup.falsePositiveRate());
  }

  @CommandLine.Command
  private static final class Holder {
    @Mixin private JobOptions options;
  }
}
