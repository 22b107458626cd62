package io.firstseen.faults;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ConsumerCheckTest {
  private final ConsumerCheck check = new ConsumerCheck();

  private void take(long sequence, long end, int absent) {
    check.take(
        "{\"sequence\":%d,\"end\":%d,\"live\":10,\"absent\":%d,\"others\":4,\"present\":1}"
            .formatted(sequence, end, absent),
        1000);
  }

  @Test
  void rightAnswersAreGood() {
    take(1, 500, 0);
    // A restart from the cache.
    take(1, 500, 0);
    check.take("{\"sequence\":2,\"en", 1000);
    check.take("", 1000);
    take(3, 1000, 0);
    // Behind the last event other keys are live.
    take(4, 1500, 7);
    assertThat(check.differences).isEmpty();
    assertThat(check.newest).isEqualTo(4);
    assertThat(check.snapshots).isEqualTo(3);
    assertThat(check.asked).isEqualTo(30);
    assertThat(check.falsePositiveRate()).isEqualTo(0.25);
  }

  @Test
  void anAbsentKeyIsSeen() {
    take(1, 500, 1);
    assertThat(check.differences).hasSize(1);
  }

  @Test
  void aStepBackIsSeen() {
    take(2, 500, 0);
    take(1, 400, 0);
    assertThat(check.differences).hasSize(1);
  }
}
