package io.firstseen.benchmarks.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LatencyFiguresTest {
  @Test
  @Tag("slow")
  void allJobsStartFromKnownKeysAndAreMeasured(@TempDir Path directory) throws Exception {
    Path json = directory.resolve("latency.json");
    assertThat(
            new LatencyFigures()
                .commandLine()
                .execute(
                    "--keys=5000",
                    "--intervals=1",
                    "--seconds=2",
                    "--backlog=4000",
                    "--report-only",
                    "--json=" + json))
        .isZero();
    JsonNode figures = new ObjectMapper().readTree(json.toFile()).path("figures");
    assertThat(figures).hasSize(3 * LatencyFigures.Job.values().length);
    for (int i = 0; i < figures.size(); i += 3) {
      assertThat(figures.get(i).path("value").doubleValue()).isPositive();
      double median = figures.get(i + 1).path("value").doubleValue();
      assertThat(median).isPositive();
      assertThat(figures.get(i + 2).path("value").doubleValue()).isBetween(median, 60.0);
    }
  }
}
