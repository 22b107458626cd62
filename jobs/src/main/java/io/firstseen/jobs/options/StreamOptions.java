package io.firstseen.jobs.options;

import java.time.Duration;
import picocli.CommandLine.Option;

/** Options of the stream: parallelism, state, event time. */
public final class StreamOptions {

  public enum StateBackend {
    HEAP("hashmap"),
    ROCKSDB("rocksdb");

    private final String flinkName;

    StateBackend(String flinkName) {
      this.flinkName = flinkName;
    }

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
          "Number of parallel tasks of each operator; at most the number of dedup shards, and at "
              + "most 128 in a job that publishes snapshots (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private int parallelism;

  @Option(
      names = "--state-backend",
      paramLabel = "NAME",
      defaultValue = "heap",
      converter = StateBackend.Converter.class,
      description =
          "State backend: heap, or rocksdb with incremental checkpoints (default:"
              + " ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private StateBackend stateBackend;

  @Option(
      names = "--out-of-orderness",
      paramLabel = "DURATION",
      defaultValue = "5s",
      converter = OptionValues.DurationValue.class,
      description =
          "Maximum lateness of an event relative to the newest event of its partition; later "
              + "events count in the next open window (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration outOfOrderness;

  @Option(
      names = "--idle-timeout",
      paramLabel = "DURATION",
      defaultValue = "1m",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Time after which a partition without events no longer holds back the watermark. If the"
              + " watermark does not advance for this long, windows close by the system clock, at"
              + " most this long after their end (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration idleTimeout;

  @Option(
      names = "--hash-key-on-workers",
      description =
          "Read hash keys on every TaskManager, from the same files or its own "
              + "FIRSTSEEN_HASH_KEY, so that Flink's files of the job do not contain them. The "
              + "machine that submits the job also needs them.")
  @Bound(Bound.By.NOTHING)
  private boolean hashKeyOnWorkers;

  StreamOptions() {}

  /** Parallel tasks of each operator, at least 1. */
  public int parallelism() {
    return parallelism;
  }

  /** The state backend. */
  public StateBackend stateBackend() {
    return stateBackend;
  }

  /**
   * The maximum lateness of an event relative to the newest event of its partition; zero or more.
   */
  public Duration outOfOrderness() {
    return outOfOrderness;
  }

  /** How long a partition may be silent before it no longer holds the watermark back. */
  public Duration idleTimeout() {
    return idleTimeout;
  }

  /** Whether TaskManagers read the hash keys, so that the job does not contain them. */
  public boolean isHashKeyOnWorkers() {
    return hashKeyOnWorkers;
  }
}
