package io.firstseen.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.cli.Invocation;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportNearTest {
  private static final String FIRST = "Dear Anna, claim your FREE prize worth $500 today!";
  private static final String SECOND = "dear Robert, claim your free prize worth £20 today";

  @Test
  void theCurveIsPrintedAndDrawn(@TempDir Path directory) throws Exception {
    Path svg = directory.resolve("curve.svg");
    Invocation call = Invocation.of("report", "near", "--near=long", "--svg=" + svg);
    assertThat(call.out().get(0))
        .isEqualTo("rule words:3,20x9,1: 20 bands of 9 rows, 1 of them must be equal");
    assertThat(call.out()).contains("      0.80  0.944  ######################################");
    assertThat(Files.readString(svg)).startsWith("<svg").contains("words:3,20x9,1");
  }

  @Test
  void twoTextsAreCompared() throws Exception {
    JsonNode same = Invocation.of("report", "near", "--json", FIRST, SECOND).json();
    assertThat(same.get("match").asBoolean()).isTrue();
    assertThat(same.get("similarity").asDouble()).isBetween(0.5, 0.8);
    assertThat(Invocation.of("report", "near", FIRST, "your parcel waits").out())
        .contains("similarity 0.035, 0 equal bands: different texts");
    assertThat(
            Invocation.of("report", "near", "--near=short+fold", "free prize", "F.R.E.E ρrιzε")
                .out())
        .contains("similarity 1.000, 32 equal bands: near-duplicates");
    Invocation.of("report", "near", FIRST).assertRefused("a comparison needs two texts, got 1");
    Invocation.of("report", "near", FIRST, " ").assertRefused("text is empty after folding");
  }
}
