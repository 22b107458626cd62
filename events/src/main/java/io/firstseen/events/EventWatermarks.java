package io.firstseen.events;

import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.TimestampAssigner;
import org.apache.flink.api.common.eventtime.TimestampAssignerSupplier;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkGeneratorSupplier;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.util.clock.RelativeClock;
import org.jspecify.annotations.Nullable;

/**
 * The watermarks of a source. The watermark of a split is the time of its newest event minus the
 * out-of-orderness.
 *
 * <p>A split without events for the idle timeout is marked idle, so that it does not hold back the
 * watermark. Events with a problem are ignored: malformed input on one split must neither advance
 * nor stop event time.
 *
 * <p>If a source has more tasks than splits, the reader of a task without a split is marked idle
 * five seconds after its start, regardless of the idle timeout.
 *
 * <p>A watermark that ends a window, or an epoch of a TTL, is emitted right after the event that
 * caused it, not at the next periodic emit. The windows of late events and the expiry of keys
 * therefore depend only on the order of events.
 */
public final class EventWatermarks implements WatermarkStrategy<SourceEvent> {
  private static final long serialVersionUID = 1;

  // A reader without splits in state is assigned its splits shortly after its start.
  private static final long WITHOUT_SPLIT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final long outOfOrdernessMillis;
  private final long idleTimeoutNanos;
  private final long windowMillis;
  private final @Nullable TimeToLive ttl;
  private final int shards;

  // Of a source reader and all its splits, which run in one thread.
  private transient int generators;

  /**
   * @param outOfOrderness the maximum lateness of an event relative to the newest event of its
   *     split
   * @param idleTimeout the time after which a split without events is marked idle
   * @param windowMillis the length of windows; 0 for a job without windows
   * @param ttl the TTL, each epoch of which ends with a watermark; null for a job without expiry
   * @param shards the number of shards that expire keys
   */
  public EventWatermarks(
      Duration outOfOrderness,
      Duration idleTimeout,
      long windowMillis,
      @Nullable TimeToLive ttl,
      int shards) {
    this.outOfOrdernessMillis = outOfOrderness.toMillis();
    // At most 292 years.
    this.idleTimeoutNanos = TimeUnit.MILLISECONDS.toNanos(idleTimeout.toMillis());
    this.windowMillis = windowMillis;
    this.ttl = ttl;
    this.shards = shards;
  }

  @Override
  public TimestampAssigner<SourceEvent> createTimestampAssigner(
      TimestampAssignerSupplier.Context context) {
    return (event, recordTimestamp) -> event.timestampMillis();
  }

  @Override
  public WatermarkGenerator<SourceEvent> createWatermarkGenerator(
      WatermarkGeneratorSupplier.Context context) {
    generators++;
    return new Generator(context.getInputActivityClock());
  }

  private final class Generator implements WatermarkGenerator<SourceEvent> {
    private final RelativeClock clock;
    private long newestMillis = -1;
    private long windowReached = Long.MIN_VALUE;
    private long epochReached = Long.MIN_VALUE;
    private boolean active = true;
    private long silentSinceNanos;

    Generator(RelativeClock clock) {
      this.clock = clock;
    }

    @Override
    public void onEvent(SourceEvent event, long timestampMillis, WatermarkOutput output) {
      if (!event.isWellFormed()) {
        return;
      }
      active = true;
      if (timestampMillis > newestMillis) {
        newestMillis = timestampMillis;
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
        silentSinceNanos = clock.relativeTimeNanos();
      }
      // The reader has the first generator.
      boolean hasSplits = generators > 1;
      long timeoutNanos =
          hasSplits || newestMillis >= 0
              ? idleTimeoutNanos
              : Math.min(idleTimeoutNanos, WITHOUT_SPLIT_NANOS);
      if (clock.relativeTimeNanos() - silentSinceNanos >= timeoutNanos) {
        output.markIdle();
      } else if (newestMillis >= 0) {
        output.emitWatermark(watermark());
      }
    }
  }
}
