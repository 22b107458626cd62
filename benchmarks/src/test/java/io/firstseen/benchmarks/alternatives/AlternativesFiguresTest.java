package io.firstseen.benchmarks.alternatives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.firstseen.benchmarks.alternatives.Alternative.Store;
import io.firstseen.benchmarks.alternatives.RunResult.End;
import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.shared.FlinkSettings;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.xml.sax.InputSource;
import picocli.CommandLine;

class AlternativesFiguresTest {
  private static final int KEYS = 20_000;
  private static final String NO_REDIS = "redis-server is not installed";

  @TempDir Path directory;

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(names = "OURS_SQL_ROCKSDB")
  void decidesAndStartsFromItsCheckpoint(Alternative alternative) throws Exception {
    runInFlink(alternative);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"OURS_SQL_ROCKSDB", "REDIS"})
  @Tag("slow")
  void theOthersDecideAndStartFromTheirCheckpoints(Alternative alternative) throws Exception {
    runInFlink(alternative);
  }

  private void runInFlink(Alternative alternative) throws Exception {
    Progress progress =
        AlternativeRun.run(
            new AlternativeRun.Spec(
                alternative,
                KEYS,
                1000,
                new FlinkSettings(1, 64, false),
                directory.toString(),
                /* redisPort= */ 0));
    assertDecided(alternative, progress);
  }

  @Test
  @Tag("slow")
  void redisDecidesAndLoadsItsDump() throws Exception {
    assumeTrue(RedisServer.isInstalled(), NO_REDIS);
    RunResult result = onlyResult(settings(Alternative.REDIS, KEYS, Duration.ofMinutes(2), 1024));
    assertThat(result.end()).isEqualTo(End.FINISHED);
    assertDecided(Alternative.REDIS, result.progress());
  }

  private static void assertDecided(Alternative alternative, Progress progress) {
    Map<Figure, Double> figures = progress.figures();
    assertThat(figures).containsOnlyKeys(Figure.values());
    for (Figure figure :
        EnumSet.of(
            Figure.EVENTS_PER_SECOND,
            Figure.CPU_SECONDS,
            Figure.CHECKPOINT_SECONDS,
            Figure.RESTORE_SECONDS)) {
      assertThat(figures.get(figure)).as("%s", figure).isPositive();
    }
    double drops = figures.get(Figure.FALSE_DROPS);
    if (alternative.kind() == Alternative.Kind.OURS
        || alternative.kind() == Alternative.Kind.OURS_SQL) {
      assertThat(drops).isBetween(0.0, 5 * Pipelines.FALSE_POSITIVE_RATE * KEYS);
    } else {
      assertThat(drops).isZero();
    }
    assertThat(progress.keys()).isEqualTo(KEYS - (long) drops);
    assertThat(figures.get(Figure.FALSE_PASSES)).isZero();
    // What no way of keeping the keys can do with less, and none needs so much.
    assertThat(figures.get(Figure.CHECKPOINT_BYTES)).isBetween(1.0, 200.0);
    if (alternative.store() != Store.ROCKSDB) {
      assertThat(figures.get(Figure.MEMORY_BYTES)).isBetween(1.0, 1000.0);
    }
  }

  @Test
  @Tag("slow")
  void aRunThatFillsItsHeapSaysHowFarItCame() throws Exception {
    RunResult result =
        onlyResult(settings(Alternative.URL_HEAP, 5_000_000, Duration.ofMinutes(3), 128));
    assertThat(result.end()).isEqualTo(End.OUT_OF_MEMORY);
    assertThat(result.progress().keys()).isBetween(10_000L, 1_000_000L);
    assertThat(AlternativesTable.inWords(result, Duration.ofMinutes(3)))
        .matches("out of memory at [0-9.]+ k keys, [0-9.]+ M events/s");
  }

  @Test
  @Tag("slow")
  void aRunThatTakesTooLongSaysHowFarItCame() throws Exception {
    Duration limit = Duration.ofSeconds(12);
    RunResult result = onlyResult(settings(Alternative.OURS_HEAP, 1_000_000_000L, limit, 512));
    assertThat(result.end()).isEqualTo(End.LATE);
    assertThat(AlternativesTable.inWords(result, limit))
        .matches("not finished in 0.2 min: at [0-9.]+( [kM])? keys.*");
  }

  @Test
  void theTableHasMediansAndHowRunsEnded() {
    List<RunResult> results =
        List.of(
            finished(Alternative.OURS_HEAP, 1000, 3e6),
            finished(Alternative.OURS_HEAP, 1000, 1e6),
            finished(Alternative.OURS_HEAP, 1000, 2e6),
            new RunResult(
                Alternative.URL_HEAP, 1000, End.OUT_OF_MEMORY, new Progress(500, 0.5, Map.of())),
            new RunResult(Alternative.REDIS, 1000, End.NOT_INSTALLED, Progress.NONE),
            finished(Alternative.OURS_HEAP, 2_000_000, 1e6));
    AlternativeRuns.Settings settings =
        new AlternativeRuns.Settings(
            List.of(1000L, 2_000_000L),
            EnumSet.of(Alternative.OURS_HEAP, Alternative.URL_HEAP, Alternative.REDIS),
            3,
            Duration.ofMinutes(10),
            1024,
            1000);
    AlternativesTable table = new AlternativesTable(settings, results);
    assertThat(table.of(Alternative.OURS_HEAP, 1000, Figure.EVENTS_PER_SECOND))
        .isCloseTo(2e6, within(1e-6));
    assertThat(table.text().lines())
        .contains(
            "| 1000 | Firstseen, heap | 2.00 | 1.00 | 1.00 | 1.00 | 1.00 | 1.00 | 2 |  |",
            "| 1000 | exact by URL, heap |  |  |  |  |  |  |  | out of memory at 500 keys, 0.00 M"
                + " events/s |",
            "| 1000 | Redis |  |  |  |  |  |  |  | not installed |",
            "| 2 M | exact by URL, heap |  |  |  |  |  |  |  | not run, see above |");
    assertThat(table.isComplete()).isTrue();
    assertThat(
            new AlternativesTable(
                    settings,
                    List.of(new RunResult(Alternative.REDIS, 1000, End.FAILED, Progress.NONE)))
                .isComplete())
        .isFalse();
  }

  @Test
  void thePlotShowsEveryAlternativeAndIsXml() throws Exception {
    List<Long> keys = List.of(10_000L, 1_000_000L);
    List<RunResult> results =
        EnumSet.allOf(Alternative.class).stream()
            .flatMap(one -> keys.stream().map(count -> finished(one, count, 1e5)))
            .toList();
    AlternativeRuns.Settings settings =
        new AlternativeRuns.Settings(
            keys, EnumSet.allOf(Alternative.class), 1, Duration.ofMinutes(1), 1024, 1000);
    String svg = new AlternativesTable(settings, results).svg();
    assertThat(
            DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(svg)))
                .getElementsByTagName("polyline")
                .getLength())
        .isEqualTo(2 * Alternative.values().length);
    for (Alternative alternative : Alternative.values()) {
      assertThat(svg).contains(">" + alternative.title() + "<");
    }
  }

  @Test
  void numbersOfKeysAreWrittenShort() {
    assertThat(AlternativesFigures.shortened(9_999)).isEqualTo("9999");
    assertThat(AlternativesFigures.shortened(20_000)).isEqualTo("20 k");
    assertThat(AlternativesFigures.shortened(91_234_567)).isEqualTo("91.2 M");
    assertThat(AlternativesFigures.shortened(100_000_000)).isEqualTo("100 M");
  }

  @Test
  void whatTheCommandCannotTakeIsAnsweredInOneLine() {
    for (String[] wrong :
        List.of(
            new String[] {"--only", "colour"},
            new String[] {"--keys", "999"},
            new String[] {"--keys", "10x"},
            new String[] {"--minutes", "0"},
            new String[] {"--heap", "100"},
            new String[] {"--json", "no-such-directory/figures.json"})) {
      StringWriter errors = new StringWriter();
      CommandLine command = new AlternativesFigures().commandLine().setErr(new PrintWriter(errors));
      assertThat(command.execute(wrong)).isEqualTo(2);
      assertThat(errors.toString().lines()).hasSize(1).first().asString().contains(wrong[1]);
    }
  }

  private static RunResult finished(Alternative alternative, long keys, double eventsPerSecond) {
    Map<Figure, Double> figures = new EnumMap<>(Figure.class);
    for (Figure figure : Figure.values()) {
      figures.put(figure, 1.0);
    }
    figures.put(Figure.EVENTS_PER_SECOND, eventsPerSecond);
    return new RunResult(alternative, keys, End.FINISHED, new Progress(keys, 1, figures));
  }

  private static AlternativeRuns.Settings settings(
      Alternative alternative, long keys, Duration limit, int heapMebibytes) {
    return new AlternativeRuns.Settings(
        List.of(keys), Set.of(alternative), 1, limit, heapMebibytes, 1000);
  }

  private RunResult onlyResult(AlternativeRuns.Settings settings) throws Exception {
    List<RunResult> results = new AlternativeRuns(settings, directory).run();
    assertThat(results).hasSize(1);
    return results.get(0);
  }
}
