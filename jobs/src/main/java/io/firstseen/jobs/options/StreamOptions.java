package io.firstseen.jobs.options;

import java.time.Duration;
import picocli.CommandLine.Option;

/** Options of the stream: parallelism, state, event time. */
public final class StreamOptions {

  /** Where keyed state lives. */
  public enum StateBackend {
    /** On the Java heap. */
    HEAP("hashmap"),
    /** In RocksDB, on local disk. */
    ROCKSDB("rocksdb");

    private final String flinkName;

    StateBackend(String flinkName) {
      this.flinkName = flinkName;
    }

    /** The value of Flink's {@code state.backend.type}. */
    public String flinkName() {
      return flinkName;
    }

    static final class Converter extends OptionValues.LowerCaseName<StateBackend> {
      Converter() {
        super(StateBackend.class);
      }
    }
  }

  @Option(
      names = "--parallelism",
      paramLabel = "N",
      defaultValue = "1",
      converter = OptionValues.Parallelism.class,
      description =
          "Parallel tasks of each operator; at most the number of dedup shards, and at most 128 in a"
              + " job that makes snapshots (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private int parallelism;

  @Option(
      names = "--state-backend",
      paramLabel = "NAME",
      defaultValue = "heap",
      converter = StateBackend.Converter.class,
      description = "Where state lives: heap or rocksdb (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private StateBackend stateBackend;

  @Option(
      names = "--out-of-orderness",
      paramLabel = "DURATION",
      defaultValue = "5s",
      converter = OptionValues.DurationValue.class,
      description =
          "How much older than the newest event of its partition an event may be and still find"
              + " its window open (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration outOfOrderness;

  @Option(
      names = "--idle-timeout",
      paramLabel = "DURATION",
      defaultValue = "1m",
      converter = OptionValues.PositiveDuration.class,
      description =
          "How long a partition may be silent before the watermark advances without it. If the"
              + " watermark does not advance for this long, windows end by the system clock, at"
              + " most this long after their end (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration idleTimeout;

  @Option(
      names = "--hash-key-on-workers",
      description =
          "Every TaskManager reads hash keys itself, from the same --hash-key-file or its own"
              + " FIRSTSEEN_HASH_KEY, and from the same --snapshot-hash-key-file, so that neither"
              + " the job nor Flink's files of the job contain them. The machine that submits the job"
              + " needs them, too.")
  @Bound(Bound.By.NOTHING)
  private boolean hashKeyOnWorkers;

  StreamOptions() {}

  /** Parallel tasks of each operator, at least 1. */
  public int parallelism() {
    return parallelism;
  }

  /** Where keyed state lives. */
  public StateBackend stateBackend() {
    return stateBackend;
  }

  /** How much older than the newest event of its partition an event may be; zero or more. */
  public Duration outOfOrderness() {
    return outOfOrderness;
  }

  /** How long a partition may be silent before it no longer holds the watermark back. */
  public Duration idleTimeout() {
    return idleTimeout;
  }

  /** Whether hash keys are read where tasks run, and are no part of the job. */
  public boolean isHashKeyOnWorkers() {
    return hashKeyOnWorkers;
  }
}
