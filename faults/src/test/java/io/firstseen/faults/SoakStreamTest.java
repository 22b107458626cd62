package io.firstseen.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SoakStreamTest {
  private static final SoakStream STREAM = new SoakStream(7, 1_000, 20, 5_000);

  @Test
  void everyKeyComesFirstWhereItIsSaidTo() {
    Set<Long> seen = new HashSet<>();
    for (long number = 0; number < 100_000; number++) {
      long key = STREAM.key(number);
      boolean isNew = SoakStream.firstEvent(key) == number;
      if (seen.add(key) != isNew) {
        throw new AssertionError("key " + key + " of event " + number);
      }
      if (SoakStream.isDelete(number) && !SoakStream.isDeleted(key)) {
        throw new AssertionError("key " + key + " is deleted by event " + number);
      }
    }
    assertThat(seen).hasSize(50_000);
  }

  @Test
  void timesAndEventsBelongTogether() {
    assertThat(STREAM.millis(0)).isEqualTo(1_000);
    assertThat(STREAM.millis(39)).isEqualTo(1_001);
    assertThat(STREAM.eventAt(1_001)).isEqualTo(20);
  }

  @Test
  void keysHaveDifferentTexts() {
    assertThat(SoakStream.text(0)).startsWith("http://soak.example/0/");
    Set<String> texts = new HashSet<>();
    for (long key = 0; key < 1_000; key++) {
      texts.add(SoakStream.text(key));
    }
    assertThat(texts).hasSize(1_000);
  }
}
