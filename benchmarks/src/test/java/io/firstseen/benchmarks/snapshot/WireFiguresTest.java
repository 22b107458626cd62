package io.firstseen.benchmarks.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.benchmarks.snapshot.WireFigures.Bounds;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WireFiguresTest {
  private static final Bounds IMPOSSIBLE = new Bounds(0, 0, 0, 0, 0, -1, 0, 0, 0);

  @TempDir Path directory;

  @Tag("slow")
  @Test
  void smallSetsStayWithinTheBounds() throws Exception {
    assertThat(
            run(
                Bounds.ASKED_FOR,
                "--only=large-change,nothing,many-shards,bits,away",
                "--keys=40000",
                "--windows=1"))
        .isZero();
    assertThat(figures().path("reached").booleanValue()).isTrue();
  }

  @Test
  @Tag("slow")
  void theShippedStreamStaysWithinTheBounds() throws Exception {
    assertThat(run(Bounds.ASKED_FOR, "--only=shipped")).isZero();
    assertThat(figures().path("reached").booleanValue()).isTrue();
  }

  @Tag("slow")
  @Test
  void aBoundThatIsMissedGivesStatus1() throws Exception {
    assertThat(
            run(
                IMPOSSIBLE,
                "--only=small-change,nothing,many-shards,bits",
                "--keys=40000",
                "--windows=1"))
        .isEqualTo(1);
    assertThat(figures().path("reached").booleanValue()).isFalse();
    assertThat(figures().path("figures"))
        .filteredOn(figure -> figure.has("reached"))
        .hasSize(11)
        .allSatisfy(figure -> assertThat(figure.path("reached").booleanValue()).isFalse());
  }

  @Test
  void theFewestBitsAreThoseOfTheNumberOfChoices() {
    assertThat(FewestBytes.log2Choose(52, 5))
        .isCloseTo(Math.log(2_598_960) / Math.log(2), within(1e-9));
    assertThat(FewestBytes.log2Choose(1e9, 0)).isZero();
  }

  private int run(Bounds bounds, String... arguments) {
    return new WireFigures(bounds)
        .commandLine()
        .execute(
            Stream.concat(
                    Arrays.stream(arguments), Stream.of("--json=" + directory.resolve("wire.json")))
                .toArray(String[]::new));
  }

  private JsonNode figures() throws Exception {
    return new ObjectMapper().readTree(directory.resolve("wire.json").toFile());
  }
}
