package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.types.TimeToLive;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/**
 * Tells the filters of a task what time it is, and the time of each key.
 *
 * <p>In event time it is as late as the watermark says, and an event's time is its timestamp. After
 * a restart there is no watermark yet, so each shard's time is kept in state: what was forgotten
 * stays forgotten, and a replay decides as the first time. The watermark that ends all input is no
 * time, and forgets nothing.
 */
final class KeyClock {
  private final TimeToLive ttl;
  private final int shardCount;
  private final boolean ofEvents;
  private final ProcessingTimeService processingTime;
  private final ValueState<Long> state;
  private long nowMillis = Long.MIN_VALUE;
  private long eventMillis;

  /**
   * @param state for each shard, the time that it was at the last checkpoint
   */
  KeyClock(
      TimeToLive ttl,
      int shardCount,
      ProcessingTimeService processingTime,
      ValueState<Long> state) {
    this.ttl = ttl;
    this.shardCount = shardCount;
    this.ofEvents = ttl.clock() == TimeToLive.Clock.EVENT;
    this.processingTime = processingTime;
    this.state = state;
  }

  boolean isOfEvents() {
    return ofEvents;
  }

  long epochMillis() {
    return ttl.epochMillis();
  }

  /** The time of this task; the earliest of all while it is not known. */
  long nowMillis() {
    return nowMillis;
  }

  /** Takes note of a watermark. */
  void advanceTo(Watermark watermark) {
    if (ofEvents && watermark.getTimestamp() != Long.MAX_VALUE) {
      // No event up to and with the watermark's instant comes any more.
      nowMillis = Math.max(nowMillis, watermark.getTimestamp() + 1);
    }
  }

  /** Looks at the machine's clock, if that is the one; it is the time of the events until then. */
  void tick() {
    if (!ofEvents) {
      nowMillis = Math.max(nowMillis, processingTime.getCurrentProcessingTime());
    }
  }

  /** Takes note of the event that comes next. */
  void next(StreamRecord<?> event) {
    if (!ofEvents) {
      eventMillis = nowMillis;
    } else if (event.hasTimestamp()) {
      eventMillis = event.getTimestamp();
    } else {
      throw new IllegalStateException(
          "A ttl in event time needs timestamps, got an event without one: give the source a"
              + " WatermarkStrategy, or the ttl the clock PROCESSING");
    }
  }

  /** The time of a shard's filter now, and of the event that comes next. */
  Expiry turnTo(Shard shard) {
    Expiry expiry = shard.expiry;
    if (nowMillis >= expiry.nowMillis() + ttl.epochMillis()) {
      expiry.advanceTo(nowMillis);
    }
    expiry.keysOf(eventMillis);
    return expiry;
  }

  /** Reads the time of a shard, whose key must be the current one. */
  void read(Shard shard, int number) {
    shard.expiry =
        new Expiry(
            ttl.millis(),
            ttl.since() == TimeToLive.Since.LAST_SEEN,
            ttl.phaseMillis(number, shardCount));
    try {
      Long millis = state.value();
      if (millis != null) {
        shard.expiry.advanceTo(millis);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    shard.clockInState = shard.expiry.nowMillis();
  }

  /** Writes the time of a shard, if state has an earlier one; its key must be the current one. */
  void write(Shard shard) {
    turnTo(shard);
    if (shard.expiry.nowMillis() > shard.clockInState) {
      shard.clockInState = shard.expiry.nowMillis();
      try {
        state.update(shard.clockInState);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
