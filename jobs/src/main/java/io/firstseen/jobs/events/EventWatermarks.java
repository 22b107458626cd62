package io.firstseen.jobs.events;

import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.TimeToLive;
import java.time.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.TimestampAssignerSupplier;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkGeneratorSupplier;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.util.clock.RelativeClock;

/**
 * The watermarks of a source. That of each split is its newest event's time less the
 * out-of-orderness.
 *
 * <p>A split that is silent for the idle timeout ends its newest window, so that a quiet stream
 * still publishes, and is then marked idle, so that it does not hold the others back. Events with a
 * problem are ignored: garbage on one split must neither advance nor stop event time.
 *
 * <p>Events that arrive later in a window that silence has ended count in the next window. That
 * window ends when the system clock has passed its start by the idle timeout, so that no set lags
 * behind. Where event time is further behind the clock, as in a replay, the split must be silent.
 *
 * <p>Where a source has more tasks than splits, the reader of a task without a split is idle five
 * seconds after its start, however long the idle timeout is.
 *
 * <p>A watermark that ends a window, or an epoch of a ttl, is emitted right after the event that
 * caused it, not at the next periodic emit. So the windows of late events and the expiry of keys
 * depend only on the order of events.
 */
public final class EventWatermarks implements WatermarkStrategy<SourceEvent> {
  private static final long serialVersionUID = 1;

  // A reader whose splits are not in state gets them a moment after its start.
  private static final long WITHOUT_SPLIT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final long outOfOrdernessMillis;
  private final long idleTimeoutNanos;
  private final long windowMillis;
  private final TimeToLive ttl;
  private final int shards;
  private final InstantSource systemClock;

  // Shared by all splits of a source reader, which run in one thread.
  private transient Reader reader;

  private EventWatermarks(
      long outOfOrdernessMillis,
      long idleTimeoutNanos,
      long windowMillis,
      TimeToLive ttl,
      int shards,
      InstantSource systemClock) {
    this.outOfOrdernessMillis = outOfOrdernessMillis;
    this.idleTimeoutNanos = idleTimeoutNanos;
    this.windowMillis = windowMillis;
    this.ttl = ttl;
    this.shards = shards;
    this.systemClock = systemClock;
  }

  /**
   * Watermarks for a source.
   *
   * @param outOfOrderness how much older than the newest event of its split an event may be
   * @param idleTimeout how long a split may be silent
   * @param windowMillis the length of the windows that silence ends; empty if there are none
   */
  public static EventWatermarks of(
      Duration outOfOrderness, Duration idleTimeout, OptionalLong windowMillis) {
    return new EventWatermarks(
        outOfOrderness.toMillis(),
        // At most 292 years.
        TimeUnit.MILLISECONDS.toNanos(idleTimeout.toMillis()),
        windowMillis.orElse(0),
        null,
        0,
        Clock.systemUTC());
  }

  /** A copy with another system clock, which must be serializable. */
  EventWatermarks withSystemClock(InstantSource newSystemClock) {
    return new EventWatermarks(
        outOfOrdernessMillis, idleTimeoutNanos, windowMillis, ttl, shards, newSystemClock);
  }

  /** A copy that also emits a watermark right after each event that begins an epoch of a shard. */
  public EventWatermarks forExpiry(TimeToLive newTtl, int newShards) {
    return new EventWatermarks(
        outOfOrdernessMillis, idleTimeoutNanos, windowMillis, newTtl, newShards, systemClock);
  }

  @Override
  public TimestampAssigner<SourceEvent> createTimestampAssigner(
      TimestampAssignerSupplier.Context context) {
    return (event, recordTimestamp) -> event.timestampMillis();
  }

  @Override
  public WatermarkGenerator<SourceEvent> createWatermarkGenerator(
      WatermarkGeneratorSupplier.Context context) {
    // Flink makes the one for the reader itself before those for its splits.
    if (reader == null) {
      reader = new Reader();
    } else {
      reader.hasSplits = true;
    }
    return new Generator(context.getInputActivityClock(), reader);
  }

  private static final class Reader {
    long newestMillis;
    boolean hasSplits;
  }

  private final class Generator implements WatermarkGenerator<SourceEvent> {
    private final RelativeClock clock;
    private final Reader reader;
    private long newestMillis = -1;
    private long windowReached = Long.MIN_VALUE;
    private long epochReached = Long.MIN_VALUE;
    private boolean active = true;
    private long silentSinceNanos;
    private boolean windowEnded;

    /** The end of the last window that was ended other than by an event. */
    private long endedMillis = Long.MIN_VALUE;

    private boolean lateEvents;

    Generator(RelativeClock clock, Reader reader) {
      this.clock = clock;
      this.reader = reader;
    }

    @Override
    public void onEvent(SourceEvent event, long timestampMillis, WatermarkOutput output) {
      if (!event.isWellFormed()) {
        return;
      }
      active = true;
      lateEvents |= timestampMillis < endedMillis;
      if (timestampMillis > newestMillis) {
        newestMillis = timestampMillis;
        reader.newestMillis = Math.max(reader.newestMillis, timestampMillis);
        long reachedMillis = newestMillis - outOfOrdernessMillis;
        long window = windowMillis > 0 ? Math.floorDiv(reachedMillis, windowMillis) : windowReached;
        long epoch = ttl == null ? epochReached : ttl.epochsBegun(reachedMillis, shards);
        if (window > windowReached || epoch > epochReached) {
          windowReached = window;
          epochReached = epoch;
          output.emitWatermark(watermark());
        }
      }
    }

    private Watermark watermark() {
      return new Watermark(newestMillis - outOfOrdernessMillis - 1);
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
      if (active) {
        active = false;
        windowEnded = false;
        silentSinceNanos = clock.relativeTimeNanos();
      }
      long timeoutNanos =
          reader.hasSplits || newestMillis >= 0
              ? idleTimeoutNanos
              : Math.min(idleTimeoutNanos, WITHOUT_SPLIT_NANOS);
      boolean silent = clock.relativeTimeNanos() - silentSinceNanos >= timeoutNanos;
      if (lateEvents && isNextWindowDue(silent)) {
        lateEvents = false;
        endedMillis += windowMillis;
        output.emitWatermark(new Watermark(endedMillis - 1));
      } else if (!silent) {
        if (newestMillis >= 0) {
          output.emitWatermark(watermark());
        }
      } else if (windowMillis > 0 && newestMillis >= 0 && !windowEnded) {
        // Do not mark the split idle yet: when all splits fall silent at once, Flink ignores the
        // watermarks of idle ones. Use the newest event of the reader's splits, or the slowest
        // split would keep windows open.
        windowEnded = true;
        long intoWindow = Math.floorMod(reader.newestMillis, windowMillis);
        long endMillis = reader.newestMillis - intoWindow + windowMillis;
        // Silence may have ended this window before a restart, so that its events were late.
        long behindMillis = systemClock.millis() - endMillis;
        lateEvents |=
            endedMillis == Long.MIN_VALUE
                && behindMillis < windowMillis + TimeUnit.NANOSECONDS.toMillis(idleTimeoutNanos);
        endedMillis = Math.max(endedMillis, endMillis);
        output.emitWatermark(new Watermark(endMillis - 1));
      } else {
        output.markIdle();
      }
    }

    /** Whether the window that late events are in must not stay open any longer. */
    private boolean isNextWindowDue(boolean silent) {
      long pastStartMillis =
          systemClock.millis() - endedMillis - TimeUnit.NANOSECONDS.toMillis(idleTimeoutNanos);
      return pastStartMillis >= 0 && (silent || pastStartMillis < windowMillis);
    }
  }
}
