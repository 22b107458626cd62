package io.firstseen.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ScheduleTest {
  @Test
  void aScheduleHasItsKillsAndAllKindsOfFaults() {
    List<Schedule.Step> steps = Schedule.of(1, 50, fault -> true);
    assertThat(steps).filteredOn(step -> step.fault().isKill).hasSize(50);
    assertThat(steps).extracting(Schedule.Step::fault).contains(Fault.values());
    assertThat(steps).extracting(Schedule.Step::overlaps).contains(true, false);
    assertThat(Schedule.of(1, 50, fault -> true)).isEqualTo(steps);
    assertThat(Schedule.of(2, 50, fault -> true)).isNotEqualTo(steps);
  }

  @Test
  void whatIsNotPossibleIsLeftOut() {
    assertThat(Schedule.of(1, 50, fault -> fault != Fault.STEP_CLOCK))
        .extracting(Schedule.Step::fault)
        .doesNotContain(Fault.STEP_CLOCK);
  }
}
