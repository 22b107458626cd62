package io.firstseen.cli.size;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.Invocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Writes the example of {@code docs/operations/sizing.md}, and fails when it is stale. */
class SizingDocumentTest {
  private static final Path PAGE = Path.of("..", "docs", "operations", "sizing.md");
  private static final String BEGIN = "<!-- size: begin -->\n";
  private static final String END = "<!-- size: end -->";
  private static final String WORDS =
      "size --keys 1e12 --rate 5e6 --fpr 1e-4 --backend rocksdb --repeats 0.9 --ttl 20d"
          + " --event-format key --checkpoint-interval 5m --storage-rate 200m --memory-per-task 4g";

  @Test
  void theExampleIsWhatTheCommandPrints() throws IOException {
    Invocation call = Invocation.of(WORDS.split(" "));
    assertThat(call.status()).isZero();
    String example =
        "```sh\n./firstseen %s\n```\n\nprints\n\n```\n%s\n```\n"
            .formatted(WORDS, String.join("\n", call.out()));
    String page = Files.readString(PAGE);
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    String expected = page.substring(0, begin) + example + page.substring(page.indexOf(END));
    if (Boolean.getBoolean("firstseen.update")) {
      Files.writeString(PAGE, expected);
    }
    assertThat(PAGE)
        .as("run: mvn -pl cli -am test -Dtest=SizingDocumentTest -Dfirstseen.update=true")
        .hasContent(expected);
  }
}
