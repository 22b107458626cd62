package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.NewUrls;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class NewUrlsJobTest {
  @Test
  void theExampleOfTheReadmeRuns() throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      NewUrls.main(new String[0]);
    } finally {
      System.setOut(before);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8).lines())
        .filteredOn(line -> line.matches(".*(new|duplicate): .*"))
        .map(line -> line.replaceFirst("^\\d+> ", ""))
        .containsExactlyInAnyOrder(
            "new: https://example.org/a?x=1",
            "duplicate: HTTPS://EXAMPLE.org:443/a?x=1",
            "new: https://example.org/b");
  }
}
