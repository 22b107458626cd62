package io.firstseen.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.serializers.Place;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WrittenOffsetsTest {
  private static final TopicPartition A = new TopicPartition("a", 0);

  private static WrittenOffsets of(String... lines) {
    WrittenOffsets offsets = new WrittenOffsets(8);
    offsets.addLines(List.of(lines));
    return offsets;
  }

  @Test
  void linesNameRangesOfShardsThatAreEquallyFar() {
    WrittenOffsets offsets = of("0-3 a-b-0@5", "2-7 a-b-0@9", "4-5 c@d-1@0");
    assertThat(offsets.lines(0, 7)).containsExactly("0-1 a-b-0@5", "2-7 a-b-0@9", "4-5 c@d-1@0");
    assertThat(offsets.lines(1, 2)).containsExactly("1-1 a-b-0@5", "2-2 a-b-0@9");
    assertThat(of(offsets.lines(0, 7).toArray(String[]::new)).lines(0, 7))
        .isEqualTo(offsets.lines(0, 7));
    assertThat(offsets.places()).isEqualTo("a-b-0@9, c@d-1@0");
  }

  @Test
  void anOffsetNeverGoesBack() {
    WrittenOffsets offsets = of("0-7 a-0@9");
    offsets.advance(new Place("a", 0, 4), 0, 3);
    assertThat(offsets.lines(0, 7)).containsExactly("0-7 a-0@9");
  }

  @Test
  void whatIsBeyondIsToldForEachShard() {
    WrittenOffsets behind = of("0-3 a-0@5", "4-7 a-0@9");
    WrittenOffsets ahead = of("0-7 a-0@9", "0-7 b-0@1");
    assertThat(ahead.beyond(behind, A, 0, 7)).containsExactly(9, 9, 9, 9, -1, -1, -1, -1);
    assertThat(ahead.beyond(behind, A, 3, 4)).containsExactly(-1, -1, -1, 9, -1, -1, -1, -1);
    assertThat(ahead.beyond(behind, A, 4, 7)).isNull();
    assertThat(ahead.beyond(behind, new TopicPartition("c", 0), 0, 7)).isNull();
    assertThat(ahead.beyond(behind)).contains("a-0@9");
    assertThat(ahead.beyond(of("0-7 a-0@9"))).contains("b-0@1");
    assertThat(behind.beyond(ahead)).isEmpty();
    assertThat(ahead.beyond(ahead)).isEmpty();
  }

  @Test
  void whatADedupOfMoreShardsHasWrittenIsBeyondToo() {
    WrittenOffsets more = new WrittenOffsets(8);
    more.addLines(List.of("0-15 a-0@5", "16-127 b-0@9"), true);
    assertThat(more.lines(0, 7)).containsExactly("0-7 a-0@5", "7-7 b-0@9");
    assertThat(more.beyond(new WrittenOffsets(8))).contains("a-0@5");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "x", "0-7", "0-7 a", "0 a-0@1", "0-8 a-0@1", "3-2 a-0@1", "0-7 a-0@x"})
  void otherTextIsRefused(String line) {
    assertThatThrownBy(() -> of(line)).isInstanceOf(IllegalArgumentException.class);
  }
}
