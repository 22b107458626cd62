package io.firstseen.benchmarks.near;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NearComparisonTest {
  private static void writeMails(Path directory) throws IOException {
    Random random = new Random(1);
    for (int i = 0; i < 40; i++) {
      StringBuilder mail = new StringBuilder("Subject: HEADER\n\n<b>");
      for (int word = 0; word < 100; word++) {
        random.ints(6, 'a', 'z' + 1).forEach(mail::appendCodePoint);
        mail.append(' ');
      }
      Files.writeString(directory.resolve(i + ".txt"), mail + "</b>\n");
    }
  }

  @Test
  void aFoldingRuleFindsDisguisedCopiesThatOthersMiss(@TempDir Path directory) throws Exception {
    writeMails(directory);
    Path json = directory.resolve("figures.json");
    int status =
        new NearComparison(200, 500)
            .commandLine()
            .execute("--mails=" + directory, "--texts=150", "--profile=short", "--json=" + json);
    assertThat(status).as("all targets are reached").isZero();
    JsonNode figures = new ObjectMapper().readTree(json.toFile()).get("figures");
    assertThat(figures.findValuesAsText("figure"))
        .anyMatch(name -> name.startsWith("characters:4,32x5,2: recall of "))
        .anyMatch(name -> name.startsWith("characters:4,32x5,2+fold: recall of "));
    double[] disguised =
        figures.findParents("figure").stream()
            .filter(row -> row.get("figure").asText().endsWith("found, spaced letters"))
            .mapToDouble(row -> row.get("value").asDouble())
            .toArray();
    assertThat(disguised).hasSize(2);
    assertThat(disguised[0]).isLessThan(0.8);
    assertThat(disguised[1]).isGreaterThan(0.99);
  }

  @Test
  void mailsAreReadWithoutHeadersAndMarkup(@TempDir Path directory) throws Exception {
    assertThatThrownBy(() -> new Corpus(directory, new Random(1)))
        .hasMessageStartingWith("no mails of at least 40 words in ");
    writeMails(directory);
    Corpus corpus = new Corpus(directory, new Random(1));
    assertThat(corpus.mails).hasSize(40).noneMatch(mail -> mail.matches(".*(<|HEADER|  ).*"));
    String text = corpus.chain(24, new Random(2));
    assertThat(text.split(" ")).hasSize(24);
    for (Senders kind : Senders.values()) {
      assertThat(kind.change(text, 0.3, corpus, new Random(3)))
          .isNotEqualTo(text)
          .isEqualTo(kind.change(text, 0.3, corpus, new Random(3)));
    }
  }
}
