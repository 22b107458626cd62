package io.firstseen.benchmarks.lists;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.benchmarks.lists.ListFigures.Bounds;
import io.firstseen.filters.key.UrlExpressions;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListFiguresTest {
  /** Times are meaningless while other tests run. */
  private static final Bounds OF_ANY_TIME = new Bounds(Double.POSITIVE_INFINITY, 0, 1);

  private static final Bounds IMPOSSIBLE = new Bounds(0, -1, 0);

  @TempDir private Path directory;

  @Test
  void visitsToListedHostsAreFoundAndOthersAtTheStatedRate() throws Exception {
    assertThat(run(OF_ANY_TIME)).isZero();
    assertThat(figures().path("reached").booleanValue()).isTrue();
  }

  @Tag("slow")
  @Test
  void aBoundThatIsMissedGivesStatus1() throws Exception {
    assertThat(run(IMPOSSIBLE)).isEqualTo(1);
    assertThat(figures().path("figures"))
        .filteredOn(figure -> figure.has("reached"))
        .hasSize(19)
        .allSatisfy(figure -> assertThat(figure.path("reached").booleanValue()).isFalse());
  }

  @ParameterizedTest
  @ValueSource(strings = {"example.co.uk", "a.b.example.com", "192.0.2.7", "xn--bse-sna.example"})
  void tenDifferentVisitsAreBelowTheHost(String host) throws Exception {
    assertThat(MadeUpVisits.to(host)).hasSize(10).doesNotHaveDuplicates();
    for (String visit : MadeUpVisits.to(host)) {
      assertThat(UrlExpressions.of(visit.getBytes(UTF_8)).asList()).as(visit).contains(host + "/");
    }
  }

  private int run(Bounds bounds) {
    return new ListFigures(bounds)
        .commandLine()
        .execute(
            "--lists=3",
            "--keys=1000",
            "--questions=1000",
            "--rounds=1",
            "--json=" + directory.resolve("lists.json"));
  }

  private JsonNode figures() throws Exception {
    return new ObjectMapper().readTree(directory.resolve("lists.json").toFile());
  }
}
