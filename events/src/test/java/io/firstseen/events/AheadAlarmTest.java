package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AheadAlarmTest {
  private static final long NOW = 1_700_000_000_000L;

  private static final Clock AN_HOUR_SLOW =
      Clock.fixed(Instant.ofEpochMilli(NOW - 3_600_000), ZoneOffset.UTC);

  private final AheadAlarm alarm = new AheadAlarm();
  private final EventParser parser = new EventParser(Duration.ofMinutes(30), AN_HOUR_SLOW);

  /** The warnings after events, the last of which are too far ahead. */
  private List<String> warnings(int events, int ahead, long nowMillis) {
    List<String> warnings = new ArrayList<>();
    for (int i = 0; i < events; i++) {
      long seconds = i < events - ahead ? 1 : NOW / 1000;
      SourceEvent event =
          parser.parseTsv((seconds + "\tadd\tk").getBytes(UTF_8), Place.of("in:" + i));
      ProblemKind kind = event.isWellFormed() ? null : ProblemKind.of(event.problem());
      alarm.take(event, kind, () -> nowMillis).ifPresent(warnings::add);
    }
    return warnings;
  }

  @Test
  void moreThanHalfOfTheLastHundredIsAWarning() {
    assertThat(warnings(100, 50, 0)).isEmpty();
    assertThat(warnings(100, 51, 0))
        .containsExactly(
            "51 of the last 100 records are too far ahead of this machine's clock, the newest of"
                + " them in:99: time must be at most 1800000 ms ahead of the clock, got 3600000 ms"
                + " ahead (correct the clock, or increase --max-ahead)");
  }

  @Test
  void fewerThanAHundredAreNotJudged() {
    assertThat(warnings(99, 99, 0)).isEmpty();
  }

  @Test
  void thereIsOneWarningAMinute() {
    assertThat(warnings(10_000, 10_000, NOW)).hasSize(1);
    assertThat(warnings(10_000, 10_000, NOW + 59_999)).isEmpty();
    assertThat(warnings(10_000, 10_000, NOW + 60_000)).hasSize(1);
    assertThat(warnings(10_000, 0, NOW + 300_000)).isEmpty();
  }
}
