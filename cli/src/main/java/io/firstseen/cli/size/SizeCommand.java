package io.firstseen.cli.size;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.Keys;
import io.firstseen.filters.near.NearRule;
import io.firstseen.jobs.options.AmountValues;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import io.firstseen.operators.UserErrorException;
import io.firstseen.types.DedupMode;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Calculates the resources of a dedup job and of its snapshots. */
@Command(
    name = "size",
    footer = {
      "  firstseen size --keys 1e9 --rate 100k",
      "  firstseen size --keys 10G --rate 1M --backend rocksdb --ttl 30d",
      "  firstseen size --keys 10M --rate 20k --near short --ttl 7d",
      "  firstseen size --keys 100M --rate 50k --fpr 0.01 --snapshots --window 1h"
    },
    modelTransformer = DeclaredOptions.class,
    description = {
      "Calculates the resources of a dedup job for a number of keys and a rate of events: "
          + "shards, tasks, memory, checkpoints, and the command lines to submit it.",
      "Sizes are measured with real filters; times are from benchmarks on cores of 2026 "
          + "(docs/operations/sizing.md)."
    },
    exitCodeList = {
      "0:success, possibly with warnings",
      "2:usage error, or no dedup job can " + "handle the load"
    })
public final class SizeCommand extends Verb {
  @Option(
      names = "--keys",
      required = true,
      paramLabel = "N",
      converter = AmountValues.Count.class,
      description = "Maximum number of live keys, such as 1000000000, 1e9 or 1G.")
  long keys;

  @Option(
      names = "--rate",
      required = true,
      paramLabel = "N",
      converter = AmountValues.PositiveNumber.class,
      description = "Events per second, such as 5000000, 5e6 or 5M.")
  double eventsPerSecond;

  @Option(
      names = "--fpr",
      defaultValue = DeclaredOptions.DEFAULT,
      description =
          "False-positive rate with the maximum number of keys, in (0, 0.1] (default: "
              + "${DEFAULT-VALUE}).")
  double falsePositiveRate;

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      defaultValue = "heap",
      description = "State backend: heap or rocksdb (default: ${DEFAULT-VALUE}).")
  StateBackend backend;

  @Option(
      names = "--mode",
      defaultValue = DeclaredOptions.DEFAULT,
      description =
          "Mode of the dedup: approximate, exact or exact-keys (default: ${DEFAULT-VALUE}).")
  DedupMode mode;

  /** A rule with measured times. */
  static final class MeasuredRule extends OptionValues.Value<NearRule> {
    MeasuredRule() {
      super(NearRule::of, List.of(NearRule.SHORT, NearRule.LONG)::contains, "short or long");
    }
  }

  @Option(
      names = "--near",
      converter = MeasuredRule.class,
      description =
          "Rule for near-duplicates, short (texts of about 160 characters) or long (3 kB). --keys"
              + " and --rate then count texts.")
  @Nullable NearRule near;

  @Option(names = "--ttl", description = "Time after which keys expire (default: never).")
  Duration ttl;

  @Option(
      names = "--repeats",
      paramLabel = "SHARE",
      defaultValue = "0.5",
      converter = OptionValues.Share.class,
      description = "Share of events whose key is known, in [0, 1) (default: ${DEFAULT-VALUE}).")
  double repeatShare;

  @Option(
      names = "--key-bytes",
      paramLabel = "N",
      defaultValue = "85",
      converter = KeyBytes.class,
      description = "Size of a canonical key in bytes (default: ${DEFAULT-VALUE}).")
  int keyBytes;

  /** A format with measured times. */
  static final class MeasuredFormat extends OptionValues.Value<EventFormat> {
    MeasuredFormat() {
      super(
          value -> EventFormat.valueOf(value.toUpperCase(Locale.ROOT)),
          List.of(EventFormat.JSON, EventFormat.KEY)::contains,
          "json or key");
    }
  }

  @Option(
      names = "--event-format",
      defaultValue = DeclaredOptions.DEFAULT,
      converter = MeasuredFormat.class,
      description = "Format of events, json or key, as in the jobs (default: ${DEFAULT-VALUE}).")
  EventFormat eventFormat;

  @Option(
      names = "--canonicaliser",
      defaultValue = DeclaredOptions.DEFAULT,
      description =
          "none, url, text or url-expression; only used in the command lines (default: "
              + "${DEFAULT-VALUE}; with --near, text).")
  Canonicaliser canonicaliser;

  @Option(
      names = "--checkpoint-interval",
      defaultValue = DeclaredOptions.DEFAULT,
      description = "Time between checkpoints (default: ${DEFAULT-VALUE}).")
  Duration checkpointInterval;

  @Option(
      names = "--storage-rate",
      paramLabel = "SIZE",
      converter = AmountValues.ByteCount.class,
      description =
          "Bytes per second that a task writes to and reads from the checkpoint directory, such "
              + "as 100m for an object store (default: the rate of a local disk).")
  Long storageRate;

  @Option(
      names = "--memory-per-task",
      paramLabel = "SIZE",
      defaultValue = "4g",
      converter = AmountValues.ByteCount.class,
      description =
          "Maximum heap of a task and, with rocksdb, its managed memory (default: "
              + "${DEFAULT-VALUE}).")
  long memoryBytes;

  @Option(
      names = "--slots",
      paramLabel = "N",
      defaultValue = "4",
      converter = OptionValues.Parallelism.class,
      description = "Number of tasks per TaskManager (default: ${DEFAULT-VALUE}).")
  int slots;

  @Option(
      names = "--cached",
      paramLabel = "SHARE",
      defaultValue = "1",
      converter = OptionValues.Share.class,
      description =
          "Share of the pages that fit into the page caches, in (0, 1]; only with rocksdb "
              + "(default: ${DEFAULT-VALUE}).")
  double cached;

  @Option(
      names = "--busy",
      paramLabel = "SHARE",
      defaultValue = "0.7",
      converter = OptionValues.Share.class,
      description =
          "Maximum share of its time that a task is busy at this rate, in (0, 1); the rest is "
              + "headroom for peaks and for catching up (default: ${DEFAULT-VALUE}).")
  double busyShare;

  @Option(
      names = "--core-speed",
      paramLabel = "FACTOR",
      defaultValue = "1",
      converter = AmountValues.PositiveNumber.class,
      description = "Speed of a core, relative to the measured cores (default: ${DEFAULT-VALUE}).")
  double coreSpeed;

  @Option(
      names = "--dedup-shards",
      description = "Number of shards of the dedup (default: at least 128, and four per task).")
  Integer shards;

  @Option(
      names = "--parallelism",
      description =
          "Number of tasks of the dedup (default: the minimum for the rate of events and the "
              + "memory).")
  Integer parallelism;

  @Option(
      names = "--snapshots",
      description = "Also size a separate SnapshotJob that publishes snapshots.")
  boolean snapshots;

  @Option(names = "--window", description = "Length of a window. Needs --snapshots (default: 1h).")
  Duration window;

  @Option(
      names = "--snapshot-fpr",
      description =
          "False-positive rate of the snapshots. Needs --snapshots (default: the value of --fpr).")
  Double snapshotRate;

  @Option(
      names = "--snapshot-shards",
      description =
          "Number of shards of the snapshots. Needs --snapshots (default: at least 16, with at "
              + "most 2^26 keys each).")
  Integer snapshotShards;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() {
    new Sizing(this).fields().print(out(), json);
    return ExitCode.GOOD;
  }

  /** Bytes of a key. */
  static final class KeyBytes extends OptionValues.WholeNumber {
    KeyBytes() {
      super(1, Keys.MAX_KEY_BYTES);
    }
  }

  /** Rejects options that contradict each other. */
  void check() {
    require(repeatShare < 1, "--repeats", "[0, 1)", repeatShare);
    require(cached > 0, "--cached", "(0, 1]", cached);
    require(busyShare > 0 && busyShare < 1, "--busy", "(0, 1)", busyShare);
    if (near != null && mode != DedupMode.APPROXIMATE) {
      throw new UserErrorException("--near is sized for --mode approximate, got " + mode.id());
    }
    if (!snapshots && (window != null || snapshotRate != null || snapshotShards != null)) {
      throw new UserErrorException(
          "--window, --snapshot-fpr and --snapshot-shards need --snapshots");
    }
  }

  private static void require(boolean fits, String option, String bounds, double value) {
    if (!fits) {
      throw new UserErrorException(option + " must be in " + bounds + ", got " + value);
    }
  }

  /** The TTL; 0 for no TTL. */
  double ttlSeconds() {
    return ttl == null ? 0 : seconds(ttl);
  }

  double checkpointSeconds() {
    return seconds(checkpointInterval);
  }

  /** The length of a window of the snapshots. */
  double windowSeconds() {
    return seconds(window == null ? DeclaredOptions.defaultOf("--window", Duration.class) : window);
  }

  double snapshotFalsePositiveRate() {
    return snapshotRate == null ? falsePositiveRate : snapshotRate;
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1000.0;
  }

  /** New keys per second. */
  double newKeysPerSecond() {
    return eventsPerSecond * (1 - repeatShare);
  }

  /** The number of identities of a key in the filter. */
  int identitiesOfKey() {
    return near == null ? 1 : near.hashes();
  }

  boolean isOnRocksDb() {
    return backend == StateBackend.ROCKSDB;
  }

  /** The share of the events whose page is not cached. */
  double missShare() {
    return isOnRocksDb() ? 1 - cached : 0;
  }
}
