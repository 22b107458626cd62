package io.firstseen.benchmarks.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.benchmarks.kafka.KafkaFigures.Bounds;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Processors;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(180)
class KafkaFiguresTest {
  private static final int EVENTS = 6_000;

  @TempDir Path directory;

  @Test
  @Tag("slow")
  void everyJobReadsAndWritesAllEventsOfTwoPartitions() throws Exception {
    Events events = new Events(EventFormat.JSON, 2, EVENTS);
    BrokerProcess.Spec brokerSpec =
        new BrokerProcess.Spec(directory.resolve("broker").toString(), events.partitions());
    try (ChildJvm.Service broker = BrokerProcess.start(Processors.ALL, brokerSpec)) {
      events.write(broker.line());
      for (Subject subject : Subject.values()) {
        MeasuredRun.Result result =
            MeasuredRun.run(
                new MeasuredRun.Spec(
                    "test-" + subject,
                    subject,
                    events,
                    EVENTS / 3,
                    /* warmUps= */ 1,
                    100,
                    List.of("linger.ms=1"),
                    broker.line(),
                    directory.resolve("flink").toString()));
        assertThat(result.eventsPerSecond()).isPositive();
        assertThat(result.processorSeconds()).isPositive();
      }
    }
  }

  /** They are run in the slow tier only. */
  @ParameterizedTest
  @EnumSource(names = {"PASS_THROUGH", "EXACT"})
  void flinkAcceptsTheGraphsToCompareWith(Subject subject) {
    KafkaOptions kafka =
        KafkaOptions.parse(
            "--bootstrap-servers=localhost:1",
            "--events-topic=events",
            "--accepted-topic=accepted",
            "--duplicates-topic=duplicates",
            "--dead-letters-topic=dead-letters",
            "--transactional-id-prefix=" + subject);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    Pipelines.buildToCompare(subject, env, kafka, JobOptions.parse());
    assertThat(env.getStreamGraph().getJobGraph().getNumberOfVertices()).isPositive();
  }

  @Test
  @Tag("slow")
  void aBoundThatIsMissedGivesStatus1() throws Exception {
    Path json = directory.resolve("kafka.json");
    assertThat(
            new KafkaFigures(new Bounds(1e6, 1e6))
                .commandLine()
                .execute(
                    "--only=key-1",
                    "--subjects=pass-through,ours",
                    "--records=" + EVENTS,
                    "--warm-up=100",
                    "--warm-ups=1",
                    "--rounds=1",
                    "--checkpoint-millis=100",
                    "--json=" + json))
        .isEqualTo(1);
    JsonNode figures = new ObjectMapper().readTree(json.toFile());
    assertThat(figures.path("reached").booleanValue()).isFalse();
    assertThat(figures.path("figures"))
        .filteredOn(figure -> figure.has("reached"))
        .hasSize(2)
        .noneMatch(figure -> figure.path("reached").booleanValue());
  }

  @ParameterizedTest
  @EnumSource
  void outputThatIsNotThatOfTheEventsDoesNotCount(Subject subject) {
    Events events = new Events(EventFormat.KEY, 1, 2_000_000);
    long right = subject.dedups() ? 1_000_000 : 2_000_000;
    long rest = subject == Subject.OURS_WITHOUT_DUPLICATES ? 0 : 2_000_000 - right;
    assertThatNoException().isThrownBy(() -> check(subject, events, right, rest));
    assertThatThrownBy(() -> check(subject, events, right - 2_000, rest + 2_000))
        .hasMessageStartingWith(subject + " must accept ");
    assertThatThrownBy(() -> check(subject, events, right, rest - 1))
        .hasMessageStartingWith(subject + " must accept ");
    assertThatThrownBy(() -> check(subject, events, right + 1, rest - 1))
        .hasMessageStartingWith(subject + " must accept ");
  }

  @Test
  void theSteadyPartIsTheSecondHalfOfTheRecords() {
    CommittedOutput output =
        new CommittedOutput(6, 4, new TreeMap<>(Map.of(10L, 2, 20L, 4, 30L, 3, 50L, 1)));
    assertThat(output.steady()).isEqualTo(new CommittedOutput.Steady(20, 50, 0.4));
  }

  private static void check(Subject subject, Events events, long accepted, long duplicates) {
    MeasuredRun.check(subject, events, new CommittedOutput(accepted, duplicates, new TreeMap<>()));
  }
}
