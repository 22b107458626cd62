package io.firstseen.jobs.options;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SuggestionsTest {
  private static final List<String> OPTIONS =
      List.of(
          "--fpr", "--capacity", "--bootstrap-servers", "--kafka-property", "--kafka-properties");

  @Test
  void aSlipOfALetterOrTwoIsNear() {
    assertThat(Suggestions.nearest("--fprr", OPTIONS)).containsExactly("--fpr");
    assertThat(Suggestions.nearest("--cpacity", OPTIONS)).containsExactly("--capacity");
    assertThat(Suggestions.nearest("--bootstrap-server", OPTIONS))
        .containsExactly("--bootstrap-servers");
    assertThat(Suggestions.nearest("-fpr", OPTIONS)).containsExactly("--fpr");
  }

  @Test
  void aBeginningIsNear() {
    assertThat(Suggestions.nearest("--boot", OPTIONS)).containsExactly("--bootstrap-servers");
    assertThat(Suggestions.nearest("--kafka", OPTIONS))
        .containsExactly("--kafka-property", "--kafka-properties");
  }

  @Test
  void otherWordsAreNotNear() {
    assertThat(Suggestions.nearest("--verbose", OPTIONS)).isEmpty();
    assertThat(Suggestions.nearest("--", OPTIONS)).isEmpty();
    assertThat(Suggestions.nearest("-x", List.of("-y"))).isEmpty();
  }
}
