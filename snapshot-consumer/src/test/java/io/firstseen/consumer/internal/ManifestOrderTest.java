package io.firstseen.consumer.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ManifestOrderTest {

  @Test
  void keepsTheTwoHighestAndTheTwoNewest() {
    assertThat(kept(1)).containsExactly(1L);
    assertThat(kept(1, 2, 3, 4)).containsExactly(3L, 4L);
    assertThat(kept(5, 2, 3)).containsExactly(5L, 2L, 3L);
    assertThat(kept(8, 9, 1, 2, 3, 4)).containsExactly(8L, 9L, 3L, 4L);
    assertThat(kept(9, 1, 8, 2, 3)).containsExactly(9L, 8L, 2L, 3L);
    assertThat(kept(9, 8, 7, 6)).containsExactly(9L, 8L, 7L, 6L);
    assertThat(kept(9, 8, 7, 6, 5)).containsExactly(9L, 8L, 6L, 5L);
  }

  @Test
  void aSequenceThatComesAgainTakesTheNewPlace() {
    assertThat(kept(5, 2, 3, 5)).containsExactly(3L, 5L);
    assertThat(kept(5, 2, 3, 2)).containsExactly(5L, 3L, 2L);
  }

  private static List<Long> kept(long... sequences) {
    List<Long> kept = new ArrayList<>();
    for (long sequence : sequences) {
      ManifestOrder.keep(kept, sequence, Long::longValue);
    }
    return kept;
  }
}
