package io.firstseen.jobs.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class SuggestionsTest {

  private static String sentence(String... words) {
    ParameterException mistake =
        catchThrowableOfType(
            ParameterException.class, () -> new CommandLine(new KafkaOptions()).parseArgs(words));
    return Suggestions.sentence(mistake);
  }

  @ParameterizedTest
  @CsvSource({
    "--strat, --start",
    "--acepted-topic=x, --accepted-topic",
    "--bootstrap-server=x:1, --bootstrap-servers",
    "--kafka, --kafka-properties",
    "-start, --start"
  })
  void aMisspeltOptionIsReportedWithASimilarOption(String word, String meant) {
    String expected = "Unknown option: '%s'; did you mean %s?".formatted(word, meant);
    assertThat(sentence("--bootstrap-servers=x:1", word)).isEqualTo(expected);
    // The option is reported before the missing option.
    assertThat(sentence(word)).isEqualTo(expected);
  }

  @Test
  void aWordWithoutASimilarOptionIsReportedAlone() {
    assertThat(sentence("--bootstrap-servers=x:1", "--xyz")).isEqualTo("Unknown option: '--xyz'");
    assertThat(sentence()).startsWith("Missing required option: '--bootstrap-servers");
  }
}
