package io.firstseen.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.TimestampAssignerSupplier;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkGeneratorSupplier;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.util.clock.RelativeClock;
import org.junit.jupiter.api.Test;

class EventWatermarksTest {

  private long nowMillis = 1_000_000;
  private final EventWatermarks watermarks =
      new EventWatermarks(Duration.ofMillis(50), Duration.ofSeconds(10), 1_000, null, 0);

  private final Split first = new Split(watermarks);
  private final Split second = new Split(watermarks);

  @Test
  void theWatermarkStaysTheBoundBehindTheNewestEvent() {
    assertThat(first.tick()).isEmpty();
    first.event(5_000);
    first.event(4_000);
    assertThat(first.tick()).containsExactly("4949");
    first.event(6_000);
    assertThat(first.tick()).containsExactly("5949");
  }

  @Test
  void theEndOfAWindowGoesOutBehindTheEventThatPassedItNotAtTheNextTick() {
    first.event(5_000);
    assertThat(first.emitted).containsExactly("4949");
    first.event(5_049);
    first.event(4_100);
    assertThat(first.emitted).containsExactly("4949");
    first.event(5_050);
    assertThat(first.emitted).containsExactly("4949", "4999");
    first.event(9_300);
    assertThat(first.emitted).containsExactly("4949", "4999", "9249");
  }

  @Test
  void aSplitThatNeverHadAnEventOnlyFallsIdle() {
    second.event(9_100);
    first.tick();
    nowMillis += 10_000;
    assertThat(first.tick()).containsExactly("idle");
  }

  @Test
  void aReaderWithoutASplitIsIdleSoon() {
    EventWatermarks patient =
        new EventWatermarks(Duration.ZERO, Duration.ofHours(1), 1_000, null, 0);
    Split reader = new Split(patient);
    assertThat(reader.tick()).isEmpty();
    nowMillis += 4_999;
    assertThat(reader.tick()).isEmpty();
    nowMillis += 1;
    assertThat(reader.tick()).containsExactly("idle");
  }

  @Test
  void aReaderWhoseSplitIsSilentIsNot() {
    EventWatermarks patient =
        new EventWatermarks(Duration.ZERO, Duration.ofHours(1), 1_000, null, 0);
    Split reader = new Split(patient);
    Split split = new Split(patient);
    assertThat(reader.tick()).isEmpty();
    assertThat(split.tick()).isEmpty();
    nowMillis += Duration.ofHours(1).toMillis() - 1;
    assertThat(reader.tick()).isEmpty();
    assertThat(split.tick()).isEmpty();
  }

  @Test
  void eventsWithAProblemNeitherMoveTheTimeNorKeepASplitAwake() {
    first.event(5_300);
    first.tick();
    nowMillis += 10_000;
    first.events.onEvent(SourceEvent.malformed("x", null, Place.of("")), 99_000, first);
    assertThat(first.tick()).containsExactly("idle");
  }

  @Test
  void aSilentSplitFallsIdle() {
    Split split = new Split(new EventWatermarks(Duration.ZERO, Duration.ofSeconds(10), 0, null, 0));
    split.event(5_300);
    assertThat(split.tick()).containsExactly("5299");
    nowMillis += 9_999;
    assertThat(split.tick()).containsExactly("5299");
    nowMillis += 1;
    assertThat(split.tick()).containsExactly("idle");
    split.event(5_400);
    assertThat(split.tick()).containsExactly("5399");
  }

  @Test
  void anEpochEndsRightBehindTheEventThatEndsIt() {
    Split split =
        new Split(
            new EventWatermarks(
                Duration.ofMillis(50),
                Duration.ofSeconds(10),
                1_000,
                TimeToLive.of(Duration.ofMillis(2_400)),
                4));
    split.event(349);
    assertThat(split.emitted()).as("the first").containsExactly("298");
    split.event(350);
    assertThat(split.emitted()).as("an epoch of shard 0").containsExactly("299");
    split.event(424);
    assertThat(split.emitted()).isEmpty();
    split.event(425);
    assertThat(split.emitted()).as("an epoch of shard 1").containsExactly("374");
    split.event(650);
    assertThat(split.emitted()).as("shards 2, 3, 0").containsExactly("599");
    split.event(1_049);
    split.emitted();
    split.event(1_050);
    assertThat(split.emitted()).as("a window").containsExactly("999");
  }

  @Test
  void theTimestampIsThatOfTheEvent() {
    TimestampAssignerSupplier.Context unused = null;
    SourceEvent event = SourceEvent.of(Operation.ADD, null, new byte[1], null, 17, Place.of(""));
    assertThat(watermarks.createTimestampAssigner(unused).extractTimestamp(event, 99))
        .isEqualTo(17);
  }

  private final class Split implements WatermarkOutput, WatermarkGeneratorSupplier.Context {
    final WatermarkGenerator<SourceEvent> events;
    private final List<String> emitted = new ArrayList<>();

    Split(EventWatermarks strategy) {
      events = strategy.createWatermarkGenerator(this);
    }

    void event(long timestampMillis) {
      events.onEvent(
          SourceEvent.of(Operation.ADD, null, new byte[1], null, timestampMillis, Place.of("")),
          timestampMillis,
          this);
    }

    /** The watermarks since the last call. */
    List<String> emitted() {
      List<String> since = List.copyOf(emitted);
      emitted.clear();
      return since;
    }

    List<String> tick() {
      emitted.clear();
      events.onPeriodicEmit(this);
      return emitted;
    }

    @Override
    public void emitWatermark(Watermark watermark) {
      emitted.add(Long.toString(watermark.getTimestamp()));
    }

    @Override
    public void markIdle() {
      emitted.add("idle");
    }

    @Override
    public void markActive() {
      emitted.add("active");
    }

    @Override
    public MetricGroup getMetricGroup() {
      throw new UnsupportedOperationException();
    }

    @Override
    public RelativeClock getInputActivityClock() {
      return new RelativeClock() {
        @Override
        public long relativeTimeMillis() {
          return nowMillis;
        }

        @Override
        public long relativeTimeNanos() {
          return nowMillis * 1_000_000;
        }
      };
    }
  }
}
