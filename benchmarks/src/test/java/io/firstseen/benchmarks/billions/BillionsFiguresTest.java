package io.firstseen.benchmarks.billions;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.benchmarks.billions.BillionsFigures.Bounds;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BillionsFiguresTest {
  /**
   * This number of keys is too low for figures on speed and memory, but sufficient for false drops.
   */
  private static final Bounds OF_FEW_KEYS = new Bounds(1e6, 5, 1e6, 1e6, 4, 0.01, 1e6, List.of());

  private static final Bounds IMPOSSIBLE =
      new Bounds(0, 0, 0, 0, 0, 0.01, 0, List.of(Map.entry(Long.MAX_VALUE, 0.0)));

  @TempDir Path directory;

  @Test
  @Tag("slow")
  void aFewKeysAreFilteredAndRestored() throws Exception {
    assertThat(run(OF_FEW_KEYS, "--keys=100000")).isZero();

    JsonNode run = figures().path("run");
    assertThat(run.path("isComplete").booleanValue()).isTrue();
    assertThat(run.path("parts")).hasSize(BillionsRun.PARTS);
    JsonNode last = run.path("samples").path(run.path("samples").size() - 1);
    assertThat(last.path("records").longValue()).isEqualTo(125_000);
    assertThat(last.path("accepted").longValue()).isBetween(99_800L, 100_000L);
    assertThat(run.path("liveHeapBytes").longValue()).isGreaterThan(100_000);
    assertThat(run.path("continuedRate").doubleValue()).isPositive();
    assertThat(figures().path("restart").path("rateSeconds"))
        .hasSize(3)
        .allMatch(seconds -> seconds.doubleValue() > 0);
    assertThat(Files.readString(directory.resolve("billions.svg"))).contains("<polyline");
    assertThat(directory.resolve("work")).isEmptyDirectory();
  }

  @Test
  @Tag("slow")
  void aRunOnRocksDbEndsAfterItsTimeWithWhatItHasAndMissesWhatNoneCanMeet() throws Exception {
    assertThat(
            run(
                IMPOSSIBLE,
                "--backend=rocksdb",
                "--keys=1000000000",
                "--heap=512",
                "--checkpoint-interval=1",
                "--minutes=0.05"))
        .isEqualTo(1);

    assertThat(figures().path("run").path("isComplete").booleanValue()).isFalse();
    assertThat(figures().path("run").path("checkpoints")).hasSizeGreaterThan(1);
    assertThat(figures().path("figures"))
        .filteredOn(figure -> figure.has("reached"))
        .hasSize(6)
        .allSatisfy(figure -> assertThat(figure.path("reached").booleanValue()).isFalse());
  }

  @Test
  void theStreamHasFourNewKeysAndARepeatInTurn() {
    assertThat(UrlStream.keys(0)).isZero();
    assertThat(UrlStream.keys(4)).isEqualTo(4);
    assertThat(UrlStream.keys(5)).isEqualTo(4);
    assertThat(UrlStream.keys(6)).isEqualTo(5);
    for (long group = 0; group < 1000; group++) {
      assertThat(UrlStream.repeated(group)).isBetween(0L, UrlStream.keys(5 * group + 4) - 1);
    }
  }

  @Test
  void wrongOptionsAreRefusedInASentence() {
    StringWriter error = new StringWriter();
    for (String option :
        new String[] {"--keys=1", "--parallelism=0", "--cache-fraction=2", "--backend=disk"}) {
      error.getBuffer().setLength(0);
      assertThat(
              new BillionsFigures(OF_FEW_KEYS)
                  .commandLine()
                  .setErr(new PrintWriter(error))
                  .execute(option))
          .isEqualTo(2);
      assertThat(error.toString()).contains(option.substring(0, option.indexOf('=')));
    }
  }

  private int run(Bounds bounds, String... arguments) {
    return new BillionsFigures(bounds)
        .commandLine()
        .execute(
            Stream.concat(
                    Arrays.stream(arguments),
                    Stream.of(
                        "--directory=" + directory.resolve("work"),
                        "--json=" + directory.resolve("billions.json"),
                        "--svg=" + directory.resolve("billions.svg")))
                .toArray(String[]::new));
  }

  private JsonNode figures() throws Exception {
    return new ObjectMapper().readTree(directory.resolve("billions.json").toFile());
  }
}
