package io.firstseen.benchmarks.sizing;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.benchmarks.Figures;
import io.firstseen.benchmarks.shared.Backend;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SizingCheckTest {

  private static MeasuredSize heap(double bytes, Double seconds) {
    return new MeasuredSize(
        "a run", 10_000_000, null, Backend.HASHMAP, null, 1, null, bytes, null, seconds);
  }

  private static boolean missed(MeasuredSize run) {
    Figures figures = new Figures();
    SizingCheck.compare(run, 1, 0.15, figures);
    return figures.missed();
  }

  /** 10 million keys at 0.1 % take 15.2 bits each, and their pages' entries half a bit more. */
  @Test
  void aFigureIsMissedToEitherSide() {
    assertThat(missed(heap(19.4e6, null))).isFalse();
    assertThat(missed(heap(16e6, null))).isTrue();
    assertThat(missed(heap(23.5e6, null))).isTrue();
    assertThat(missed(heap(19.4e6, 60.0))).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"19.4e6, 0", "30e6, 1"})
  void filesOfOtherProgramsAreCompared(double bytes, int status, @TempDir Path directory)
      throws Exception {
    Path file = directory.resolve("runs.json");
    Files.writeString(
        file,
        """
        [{"what": "one run", "keys": 10000000, "backend": "HASHMAP", "parallelism": 1,
          "heapBytes": %s, "other": "is passed over"}]
        """
            .formatted(bytes));
    Path json = directory.resolve("figures.json");
    int ended =
        new SizingCheck()
            .commandLine()
            .execute("--keys", "0", "--from", file.toString(), "--json", json.toString());
    assertThat(ended).isEqualTo(status);
    assertThat(json).content().contains("heap, bytes").contains("within 15 % of");
  }
}
