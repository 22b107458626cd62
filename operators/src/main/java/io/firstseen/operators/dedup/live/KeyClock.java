package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.types.TimeToLive;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.jspecify.annotations.Nullable;

/**
 * The current time for the expiry of a task's keys. Does nothing without a ttl.
 *
 * <p>In event time, the current time is the watermark, and an event's time is its timestamp. After
 * a restart there is no watermark yet, so each shard's time is kept in state: forgotten keys stay
 * forgotten, and a replay has the same result. The watermark at the end of all input is ignored, so
 * that it does not forget keys.
 */
public final class KeyClock {
  /**
   * The part of a sweep's round that is repeated after a restart, to cover pages or entries that
   * were missed in the meantime.
   */
  static final double SWEPT_AGAIN = 1.0 / 16;

  private final @Nullable TimeToLive ttl;
  private final @Nullable TimeToLive ttlInState;
  private final ProcessingTimeService processingTime;
  private final ValueState<Long> state;
  private final ValueState<Long> forgottenState;
  private final Consumer<Integer> setCurrentKey;
  private final boolean inEventTime;
  private final boolean inProcessingTime;

  /** The times in state, by the numbers of the shards. */
  private final long[] timeInState;

  /** See {@link Expiry#forgottenMillis}. */
  private final long[] forgottenInState;

  private long nowMillis = Long.MIN_VALUE;
  private long eventMillis;
  private boolean hasEvents;

  /**
   * @param ttl null if keys do not expire
   * @param ttlInState the ttl with which state was written; null if there is none
   * @param state for each shard, its time at the last checkpoint
   * @param forgottenState for each shard, the time until which keys were due before the ttl was
   *     changed
   * @param setCurrentKey sets Flink's key; called before each access to state
   */
  public KeyClock(
      @Nullable TimeToLive ttl,
      @Nullable TimeToLive ttlInState,
      int shardCount,
      ProcessingTimeService processingTime,
      ValueState<Long> state,
      ValueState<Long> forgottenState,
      Consumer<Integer> setCurrentKey) {
    this.ttl = ttl;
    this.ttlInState = ttlInState;
    this.processingTime = processingTime;
    this.state = state;
    this.forgottenState = forgottenState;
    this.setCurrentKey = setCurrentKey;
    this.inEventTime = ttl != null && ttl.clock() == TimeToLive.Clock.EVENT;
    this.inProcessingTime = ttl != null && !inEventTime;
    this.timeInState = new long[shardCount];
    this.forgottenInState = new long[shardCount];
  }

  public boolean hasTtl() {
    return ttl != null;
  }

  public boolean isInEventTime() {
    return inEventTime;
  }

  public boolean isInProcessingTime() {
    return inProcessingTime;
  }

  public long epochMillis() {
    return ttl == null ? Long.MAX_VALUE : ttl.epochMillis();
  }

  /** Returns the time of this task; the earliest possible instant as long as no time is known. */
  public long nowMillis() {
    return nowMillis;
  }

  /**
   * Returns the position in a round of one epoch at which a sweep begins, in [0, 1). It depends on
   * the time, so that a task that is often restarted does not always begin with the same pages or
   * entries.
   */
  double sweepStart() {
    double round = (double) Math.floorMod(nowMillis, epochMillis()) / epochMillis();
    return round < SWEPT_AGAIN ? 1 + round - SWEPT_AGAIN : round - SWEPT_AGAIN;
  }

  /** Advances to a watermark. */
  public void advanceTo(Watermark watermark) {
    if (inEventTime && watermark.getTimestamp() != Long.MAX_VALUE) {
      // No later event has a time at or before the watermark.
      nowMillis = Math.max(nowMillis, watermark.getTimestamp() + 1);
    }
  }

  /**
   * With processing time, reads the system clock; this is the time of all events until the next
   * call.
   */
  public void tick() {
    if (inProcessingTime) {
      nowMillis = Math.max(nowMillis, processingTime.getCurrentProcessingTime());
    }
  }

  /** Sets the next event. */
  public void next(StreamRecord<?> event) {
    if (inProcessingTime) {
      eventMillis = nowMillis;
    } else if (inEventTime) {
      if (!event.hasTimestamp()) {
        throw new IllegalStateException(
            "A ttl in event time needs timestamps, got an event without one: give the source a"
                + " WatermarkStrategy, or the ttl the clock PROCESSING");
      }
      eventMillis = event.getTimestamp();
      hasEvents = true;
    }
  }

  /** Returns whether events have arrived but no watermark, so that keys do not expire. */
  public boolean lacksWatermarks() {
    return hasEvents && nowMillis == Long.MIN_VALUE;
  }

  /** Sets a shard's clock to the current time, and to the time of the next event. */
  public void set(ShardPages shard) {
    Expiry expiry = shard.expiry();
    if (expiry != null) {
      if (nowMillis >= expiry.nowMillis() + epochMillis()) {
        expiry.advanceTo(nowMillis);
      }
      expiry.keysOf(eventMillis);
    }
  }

  /** Returns the clock of a shard, as stored in state; null if keys do not expire. */
  public @Nullable Expiry read(int shard, Integer key) {
    if (ttl == null) {
      return null;
    }
    Expiry expiry = expiry(ttl, shard);
    setCurrentKey.accept(key);
    try {
      Long forgotten = forgottenState.value();
      if (forgotten != null) {
        expiry.forgetUntil(forgotten);
      }
      forgottenInState[shard] = expiry.forgottenMillis();
      Long millis = state.value();
      if (millis != null) {
        expiry.advanceTo(millis);
        if (ttlInState != null && ttlInState.millis() != ttl.millis()) {
          // Some keys only have their entry left, and others only their fingerprint.
          Expiry before = expiry(ttlInState, shard);
          before.advanceTo(millis);
          expiry.forgetUntil(before.nowMillis() - before.ttlMillis());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    timeInState[shard] = expiry.nowMillis();
    return expiry;
  }

  private Expiry expiry(TimeToLive of, int shard) {
    return new Expiry(
        of.millis(),
        of.since() == TimeToLive.Since.LAST_SEEN,
        of.phaseMillis(shard, timeInState.length));
  }

  /** Writes the clock of a shard, if it has changed. */
  public void write(ShardPages shard) {
    Expiry expiry = shard.expiry();
    if (expiry != null) {
      write(shard, state, expiry.nowMillis(), timeInState);
      write(shard, forgottenState, expiry.forgottenMillis(), forgottenInState);
    }
  }

  private void write(ShardPages shard, ValueState<Long> to, long millis, long[] inState) {
    if (millis > inState[shard.number]) {
      setCurrentKey.accept(shard.key);
      try {
        to.update(millis);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      inState[shard.number] = millis;
    }
  }
}
