package io.firstseen.benchmarks.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.benchmarks.Figures;
import io.firstseen.benchmarks.dedup.Measurements.CheckpointedRates;
import io.firstseen.benchmarks.dedup.PipelineRun.Sizes;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;
import picocli.CommandLine;

class DedupFiguresTest {
  private final Measurements measured = new Measurements(1000);

  @Test
  void ratesAreMediansOfTheRounds() {
    rates(Subject.OURS_HEAP, 30, 10, 20);
    rates(Subject.HASH_HEAP, 10, 10, 10);
    assertThat(Row.HEAP_HASH.figure(measured).value()).isCloseTo(2, within(1e-9));
    assertThat(missed(Row.HEAP_HASH)).isFalse();
  }

  @Test
  void aFigureBelowItsBoundIsMissed() {
    rates(Subject.OURS_HEAP, 14.9);
    rates(Subject.HASH_HEAP, 10);
    assertThat(missed(Row.HEAP_HASH)).isTrue();
    rates(Subject.OURS_HEAP, 15.1, 15.1);
    assertThat(missed(Row.HEAP_HASH)).isFalse();
  }

  @Test
  void aFigureAboveItsBoundIsMissed() {
    sizes(Subject.OURS_HEAP, 3001);
    assertThat(missed(Row.HEAP_BYTES)).isTrue();
    assertThat(Row.HEAP_BYTES.figure(measured).value()).isCloseTo(3.001, within(1e-9));
  }

  @Test
  void aFigureWithABoundThatIsNotMeasuredIsMissed() {
    assertThat(missed(Row.HEAP_HASH)).isTrue();
    assertThat(missed(Row.QUARTER_HASH)).isFalse();
    assertThat(Row.QUARTER_HASH.figure(measured).text()).isEqualTo("not measured");
  }

  @Test
  void ratesWithCheckpointsAreComparedToThoseWithout() {
    checkpointed(null, round(10, 7, 5), round(20, 16, 5), round(30, 27, 5));
    assertThat(Row.CHECKPOINTS.figure(measured).value()).isCloseTo(0.8, within(1e-9));
    assertThat(missed(Row.CHECKPOINTS)).isFalse();
    checkpointed(null, round(10, 7.4, 5));
    assertThat(missed(Row.CHECKPOINTS)).isTrue();
    checkpointed(null, round(10, 10, 0));
    assertThat(missed(Row.CHECKPOINTS)).isTrue();
    checkpointed("does not run", round(10, 10, 5));
    assertThat(missed(Row.CHECKPOINTS)).isTrue();
    assertThat(Row.CHECKPOINTS.figure(measured).text()).isEqualTo("does not run");
  }

  @Test
  void everyRowIsInTheJson(@TempDir Path directory) throws Exception {
    Figures figures = new Figures();
    measured.report(EnumSet.allOf(Row.class), figures);
    Path json = directory.resolve("figures.json");
    figures.write(json);
    JsonNode all = new ObjectMapper().readTree(json.toFile());
    assertThat(all.get("figures")).hasSize(Row.values().length);
    assertThat(all.get("reached").booleanValue()).isFalse();
  }

  @Test
  void whatTheCommandCannotTakeIsAnsweredInOneLine() {
    for (String[] wrong :
        List.of(
            new String[] {"--only", "colour"},
            new String[] {"--keys", "999"},
            new String[] {"--rounds", "three"},
            new String[] {"--json", "no-such-directory/figures.json"},
            new String[] {"--json", "/"},
            new String[] {"--svg", "."})) {
      StringWriter errors = new StringWriter();
      CommandLine command = new DedupFigures().commandLine().setErr(new PrintWriter(errors));
      assertThat(command.execute(wrong)).isEqualTo(2);
      assertThat(errors.toString().lines()).hasSize(1).first().asString().contains(wrong[1]);
    }
  }

  @Test
  void rowsAreFoundByTheirNames() {
    for (Row row : Row.values()) {
      List<Row> only =
          new DedupFigures()
              .commandLine()
              .parseArgs("--only=" + row)
              .matchedOptionValue("--only", List.of());
      assertThat(only).containsExactly(row);
    }
  }

  @Test
  void thePlotShowsEverySubjectAndIsXml() throws Exception {
    for (Subject subject : Subject.PLOTTED) {
      rates(subject, 1e6);
      sizes(subject, 5000);
      measured.pipelines.add(
          new PipelineRun.Result(subject, 500, 2e6, 500, 0, new Sizes(1, 1, 5000, 1, 1, 1, 1, 1)));
    }
    String svg = FiguresPlot.svg(measured.pipelines);
    assertThat(
            DocumentBuilderFactory.newDefaultInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(svg)))
                .getElementsByTagName("polyline")
                .getLength())
        .isEqualTo(6 + 3 + 6);
    for (Subject subject : Subject.PLOTTED) {
      assertThat(svg).contains(">" + subject.title() + "<");
    }
  }

  private boolean missed(Row row) {
    Figures figures = new Figures();
    measured.report(EnumSet.of(row), figures);
    return figures.missed();
  }

  private void rates(Subject subject, double... recordsPerSecond) {
    for (double rate : recordsPerSecond) {
      measured.pipelines.add(new PipelineRun.Result(subject, 1000, rate, 1000, 0, null));
    }
  }

  private void checkpointed(String failure, CheckpointedRun.Result... rounds) {
    measured.checkpointed.put(
        Subject.OURS_HEAP,
        new CheckpointedRates(
            new PrefillRun.Result("", 1 << 20, 1000, 1000), 512, List.of(rounds), failure));
  }

  private static CheckpointedRun.Result round(double without, double with, int checkpoints) {
    return new CheckpointedRun.Result(
        List.of(without, without), List.of(with, with), checkpoints, 800);
  }

  private void sizes(Subject subject, long heapBytes) {
    measured.pipelines.add(
        new PipelineRun.Result(
            subject, 1000, 1, 1000, 0, new Sizes(heapBytes, 2000, 2000, 10, 500, 1.5, 2, 0)));
  }
}
