package io.firstseen.jobs.options;

import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSettings;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.Optional;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of the dedup. */
public final class DedupOptions {

  @Option(
      names = "--" + DedupSettings.FPR,
      paramLabel = "RATE",
      defaultValue = "" + Firstseen.DEFAULT_FALSE_POSITIVE_RATE,
      converter = OptionValues.FalsePositiveRate.class,
      description = DedupSettings.FPR_TEXT + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.WARNING)
  private double falsePositiveRate;

  @Option(
      names = "--" + DedupSettings.CAPACITY,
      paramLabel = "N",
      defaultValue = "" + Firstseen.DEFAULT_CAPACITY,
      converter = OptionValues.KeyCount.class,
      description = DedupSettings.CAPACITY_TEXT + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.WARNING)
  private long capacity;

  @Option(
      names = "--" + DedupSettings.SHARDS,
      paramLabel = "N",
      defaultValue = "" + Firstseen.DEFAULT_SHARDS,
      converter = OptionValues.DedupShardCount.class,
      description = DedupSettings.SHARDS_TEXT + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.STATE)
  private int shards;

  @Option(
      names = "--" + DedupSettings.PAGE_CACHE,
      paramLabel = "SIZE",
      defaultValue = (Firstseen.DEFAULT_PAGE_CACHE_BYTES >> 20) + "m",
      converter = OptionValues.ByteCount.class,
      description = DedupSettings.PAGE_CACHE_TEXT + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private long pageCacheBytes;

  @Option(
      names = "--" + DedupSettings.MODE,
      paramLabel = "MODE",
      defaultValue = "approximate",
      converter = OptionValues.ModeName.class,
      description = DedupSettings.MODE_TEXT + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.STATE)
  private DedupMode mode;

  @Mixin private NearOptions near;

  @Option(
      names = "--" + DedupSettings.TTL,
      paramLabel = "DURATION",
      converter = OptionValues.TtlLength.class,
      description = DedupSettings.TTL_TEXT + " (default: keys are kept until they are deleted).")
  @Bound(Bound.By.CHANGELOG)
  private Duration ttl;

  @Option(
      names = "--" + DedupSettings.TTL_CLOCK,
      paramLabel = "CLOCK",
      converter = OptionValues.TtlClock.class,
      description = DedupSettings.TTL_CLOCK_TEXT + " (default: event).")
  @Bound(value = Bound.By.CHANGELOG, unset = "event")
  private TimeToLive.Clock ttlClock;

  @Option(
      names = "--" + DedupSettings.TTL_SINCE,
      paramLabel = "EVENT",
      converter = OptionValues.TtlSince.class,
      description = DedupSettings.TTL_SINCE_TEXT + " (default: first-seen).")
  @Bound(value = Bound.By.CHANGELOG, unset = "first-seen")
  private TimeToLive.Since ttlSince;

  @Option(
      names = "--audit-slice",
      paramLabel = "N",
      arity = "0..1",
      defaultValue = "0",
      fallbackValue = "" + Firstseen.DEFAULT_AUDIT_SLICES,
      converter = AuditSlices.class,
      description =
          "Size of the audit: the job measures the false-positive rate on the exact set of the "
              + "live keys of one hash in N, and reports the new keys that are dropped. With "
              + "--near, also precision and recall, on texts. 0 disables the audit; at most "
              + "1048576; 1024 if N is omitted. State keeps its first value (default: "
              + "${DEFAULT-VALUE}).")
  @Bound(Bound.By.WARNING)
  private int auditSlices;

  @Option(
      names = "--max-ahead",
      paramLabel = "DURATION",
      defaultValue = "1h",
      converter = OptionValues.DurationValue.class,
      description =
          "Maximum time by which an event's timestamp may be ahead of the system clock; an event "
              + "with a later timestamp is a dead letter (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration maxAhead;

  static final class AuditSlices extends OptionValues.WholeNumber {
    AuditSlices() {
      super(0, Firstseen.MAX_AUDIT_SLICES);
    }
  }

  DedupOptions() {}

  /** The false-positive rate at {@link #capacity()}, in (0, 0.1]. */
  public double falsePositiveRate() {
    return falsePositiveRate;
  }

  /** The number of live keys that the filter is planned for, at least 1. */
  public long capacity() {
    return capacity;
  }

  /** The number of dedup shards, a power of two in [1, 32768]. */
  public int shards() {
    return shards;
  }

  /**
   * Whether the dedup can share a task with the source or the sink. All operators of a task have
   * the maximum parallelism of the first operator, and state is bound to the maximum parallelism.
   * In a shared task, the maximum parallelism of the source and the sink would be the number of
   * shards; if their earlier state has a different one, Flink would not restore it.
   */
  public boolean canShareTask() {
    return shards == KeyGroupRangeAssignment.DEFAULT_LOWER_BOUND_MAX_PARALLELISM;
  }

  /** The size of a task's page cache on backends off the heap, in bytes; zero or more. */
  public long pageCacheBytes() {
    return pageCacheBytes;
  }

  /** Whether only the filter decides, or the filter and an exact set. */
  public DedupMode mode() {
    return mode;
  }

  /** The rule by which texts are near-duplicates; empty if keys are compared as a whole. */
  public Optional<NearRule> near() {
    return near.rule();
  }

  /**
   * When keys are forgotten; empty for never.
   *
   * @throws UserErrorException if {@code --ttl-clock} or {@code --ttl-since} is given without
   *     {@code --ttl}
   */
  public Optional<TimeToLive> ttl() {
    if (ttl == null) {
      if (ttlClock != null || ttlSince != null) {
        throw new UserErrorException(
            (ttlClock != null ? "--ttl-clock" : "--ttl-since") + " needs --ttl");
      }
      return Optional.empty();
    }
    TimeToLive.Clock clock = ttlClock == null ? TimeToLive.Clock.EVENT : ttlClock;
    TimeToLive.Since since = ttlSince == null ? TimeToLive.Since.FIRST_SEEN : ttlSince;
    return Optional.of(new TimeToLive(ttl.toMillis(), clock, since));
  }

  /** One hash in this many is audited; 0 for none. */
  public int auditSlices() {
    return auditSlices;
  }

  /** How far ahead of the clock an event's time may be; zero or more. */
  public Duration maxAhead() {
    return maxAhead;
  }
}
