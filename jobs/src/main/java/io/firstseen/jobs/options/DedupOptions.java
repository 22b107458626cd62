package io.firstseen.jobs.options;

import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.DedupMode;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.Optional;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import picocli.CommandLine.Option;

/** Options of the dedup. */
public final class DedupOptions {

  @Option(
      names = "--fpr",
      paramLabel = "RATE",
      defaultValue = "" + Firstseen.DEFAULT_FALSE_POSITIVE_RATE,
      converter = OptionValues.FalsePositiveRate.class,
      description =
          "The probability, in (0, 0.1], with which a first-seen key is taken for a repeat when the"
              + " filter is filled to its capacity. State keeps its first rate, and the job logs a"
              + " warning if this option differs (default:"
              + " ${DEFAULT-VALUE}).")
  @Bound(Bound.By.WARNING)
  private double falsePositiveRate;

  @Option(
      names = "--capacity",
      paramLabel = "N",
      defaultValue = "" + Firstseen.DEFAULT_CAPACITY,
      converter = OptionValues.KeyCount.class,
      description =
          "The number of live keys up to which the rate holds; beyond it the rate grows in"
              + " proportion (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private long capacity;

  @Option(
      names = "--dedup-shards",
      paramLabel = "N",
      defaultValue = "" + Firstseen.DEFAULT_SHARDS,
      converter = OptionValues.DedupShardCount.class,
      description =
          "Parts of the filter, a power of two up to 32768; also the highest possible"
              + " parallelism. Fixed for the life of the state (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.STATE)
  private int shards;

  @Option(
      names = "--page-cache",
      paramLabel = "SIZE",
      defaultValue = (Firstseen.DEFAULT_PAGE_CACHE_BYTES >> 20) + "m",
      converter = OptionValues.ByteCount.class,
      description =
          "Memory of each task for the filter's pages if state is not on the heap, as with"
              + " rocksdb. Best if all pages of a task fit. May change at any restart (default:"
              + " ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private long pageCacheBytes;

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      defaultValue = "approximate",
      converter = OptionValues.ModeName.class,
      description =
          "approximate: only the filter decides; exact: keys that it holds are looked up in the set"
              + " of the live keys' 64-bit hashes, so that no new key is dropped; exact-keys: the"
              + " same with the keys themselves. Fixed for the life of the state (default:"
              + " ${DEFAULT-VALUE}).")
  @Bound(Bound.By.STATE)
  private DedupMode mode;

  @Option(
      names = "--ttl",
      paramLabel = "DURATION",
      converter = OptionValues.TtlLength.class,
      description =
          "Forget a key this long after its time, or up to an eighth later; at least 1s. The"
              + " length may change at any restart; a ttl cannot be added or removed (default:"
              + " keys are kept until they are deleted).")
  @Bound(Bound.By.CHANGELOG)
  private Duration ttl;

  @Option(
      names = "--ttl-clock",
      paramLabel = "CLOCK",
      converter = OptionValues.TtlClock.class,
      description =
          "The clock of --ttl: event (the watermark) or processing (the clock of the machine)."
              + " Fixed for the life of the state (default: event).")
  @Bound(value = Bound.By.CHANGELOG, unset = "event")
  private TimeToLive.Clock ttlClock;

  @Option(
      names = "--ttl-since",
      paramLabel = "EVENT",
      converter = OptionValues.TtlSince.class,
      description =
          "Which event gives a key its time for --ttl: first-seen (the accepted one) or last-seen"
              + " (the latest one, repeats included). Fixed for the life of the state (default:"
              + " first-seen).")
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
          "Keep the exact set of the live keys of one hash in N, to measure the"
              + " false-positive rate and to report the new keys that are dropped; 0 for none,"
              + " at most 1048576, 1024 if N is left out. State keeps its first value, and the job logs"
              + " a warning if this option differs (default:"
              + " ${DEFAULT-VALUE}).")
  @Bound(Bound.By.WARNING)
  private int auditSlices;

  @Option(
      names = "--max-ahead",
      paramLabel = "DURATION",
      defaultValue = "1h",
      converter = OptionValues.DurationValue.class,
      description =
          "How far ahead of the clock the time of an event may be; an event with a later time is"
              + " a dead letter (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration maxAhead;

  /** One hash in this many, or none. */
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
   * Whether the dedup can have a task together with the source or the sink. All operators of a task
   * have the maximum parallelism of the first one, and state is bound to it. So theirs would have
   * to become the number of shards, and where it is another one their earlier state would be
   * refused.
   */
  public boolean canShareTask() {
    return shards == KeyGroupRangeAssignment.DEFAULT_LOWER_BOUND_MAX_PARALLELISM;
  }

  /** The size of a task's page cache on backends off the heap, in bytes; zero or more. */
  public long pageCacheBytes() {
    return pageCacheBytes;
  }

  /** Whether only the filter decides, or an exact set behind it as well. */
  public DedupMode mode() {
    return mode;
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
