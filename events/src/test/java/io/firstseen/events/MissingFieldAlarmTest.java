package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.serializers.Place;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.Test;

class MissingFieldAlarmTest {
  private final List<String> warnings = new ArrayList<>();
  private final MissingFieldAlarm alarm =
      new MissingFieldAlarm("--scope-field", "no key has a scope", FieldPointer.parse("/tenat"));

  private void take(FieldValue value, int times) {
    for (int i = 0; i < times; i++) {
      alarm.take(value).ifPresent(warnings::add);
    }
  }

  @Test
  void theFirstValuesThatLackTheFieldAreReportedOnce() {
    take(FieldValue.MISSING, MissingFieldAlarm.VALUES - 1);
    assertThat(warnings).isEmpty();
    take(FieldValue.MISSING, 3 * MissingFieldAlarm.VALUES);
    assertThat(warnings)
        .containsExactly(
            "the first 100 values have no field /tenat, so no key has a scope: check the spelling of"
                + " --scope-field");
  }

  /** As is a field that is null, which is spelt right. */
  @Test
  void oneValueWithTheFieldIsEnough() {
    take(FieldValue.MISSING, MissingFieldAlarm.VALUES - 1);
    take(FieldValue.NULL, 1);
    take(FieldValue.MISSING, 3 * MissingFieldAlarm.VALUES);
    assertThat(warnings).isEmpty();
  }

  @Test
  void theParserLogsTheWarningOfEachOption() {
    AbstractAppender appender =
        new AbstractAppender("warnings", null, null, true, Property.EMPTY_ARRAY) {
          @Override
          public void append(LogEvent event) {
            warnings.add(event.getMessage().getFormattedMessage());
          }
        };
    appender.start();
    Logger logger = (Logger) LogManager.getLogger(FieldParser.class);
    logger.addAppender(appender);
    EventFields fields =
        new EventFields(
            List.of(FieldPointer.parse("/id")),
            null,
            TimeUnit.MILLISECONDS,
            FieldPointer.parse("/opp"),
            Set.of("d"),
            FieldPointer.parse("/tenat"));
    FieldParser parser =
        FieldParser.of(fields, ValueSchema.NONE, Duration.ofHours(1), Clock.systemUTC());
    byte[] value = "{\"id\":\"a\",\"op\":\"d\",\"tenant\":\"x\"}".getBytes(UTF_8);
    for (int i = 0; i < MissingFieldAlarm.VALUES; i++) {
      parser.parse(value, 5, Place.of("in:7"));
    }
    logger.removeAppender(appender);
    assertThat(warnings)
        .containsExactly(
            "the first 100 values have no field /opp, so no event is a delete: check the spelling of"
                + " --operation-field",
            "the first 100 values have no field /tenat, so no key has a scope: check the spelling of"
                + " --scope-field");
  }
}
