package io.firstseen.jobs.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.jobs.shared.FieldPointer;
import java.util.ArrayList;
import java.util.List;
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
}
