package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.Outcome;
import io.firstseen.types.DedupMode;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AbstractRichFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class FirstseenTest {
  @Test
  void thePageOfTheApiNamesEveryMethodAndOutput() throws IOException {
    String page = Files.readString(Path.of("../docs/operations/java-api.md"));
    Stream<String> methods =
        Arrays.stream(Firstseen.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .map(Method::getName);
    Stream<String> outputs =
        Arrays.stream(DedupStreams.class.getRecordComponents()).map(RecordComponent::getName);
    assertThat(Stream.concat(methods, outputs))
        .hasSizeGreaterThan(20)
        .allMatch(name -> page.matches("(?s).*`(Firstseen\\.)?" + name + "[`(].*"));
  }

  @Test
  void aJobOfAFewLinesDropsRepeatsWithoutGenericTypes() throws Exception {
    StreamExecutionEnvironment env = environment();
    DataStream<String> urls =
        env.fromData(
            "http://a.example/x",
            "HTTP://A.example:80/x",
            "http://b.example/",
            "-http://a.example/x",
            "http://a.example/x",
            "not a url %%%");
    DedupStreams<String> streams =
        Firstseen.dedup(urls)
            .keyText(line -> line.startsWith("-") ? line.substring(1) : line)
            .operation(line -> line.startsWith("-") ? Operation.DELETE : Operation.ADD)
            .canonicaliser(Canonicaliser.URL)
            .capacity(1000)
            .apply();

    List<String> seen = new ArrayList<>();
    streams
        .accepted()
        .map(change -> change.operation() + " " + change.event(), Types.STRING)
        .union(
            streams.duplicates().map(change -> "DUPLICATE " + change.event(), Types.STRING),
            streams.deadLetters().map(rejected -> "DEAD " + rejected.event(), Types.STRING))
        .executeAndCollect()
        .forEachRemaining(seen::add);

    assertThat(seen)
        .containsExactlyInAnyOrder(
            "ADD http://a.example/x",
            "DUPLICATE HTTP://A.example:80/x",
            "ADD http://b.example/",
            "DELETE -http://a.example/x",
            "ADD http://a.example/x",
            "DEAD not a url %%%");
  }

  @Test
  void oneStreamHasTheDecisionsOnAllEventsThatTheJobWantsInTheirOrder() throws Exception {
    OutcomeStream<String, String> dedup =
        Firstseen.dedup(environment().fromData("a", "b", "a", "-a", "-x", "a", "", "bad", "b"))
            .problem(event -> event.equals("bad") ? "marked as bad" : null)
            .keyText(event -> event.startsWith("-") ? event.substring(1) : event)
            .operation(event -> event.startsWith("-") ? Operation.DELETE : Operation.ADD)
            .apply(new WithoutAcceptedB(), Types.STRING);
    List<String> seen = new ArrayList<>();
    dedup
        .outcomes()
        .union(
            dedup
                .deadLetters()
                .map(rejected -> rejected.event() + ": " + rejected.reason(), Types.STRING))
        .executeAndCollect()
        .forEachRemaining(seen::add);
    assertThat(seen)
        .containsExactlyInAnyOrder(
            "opened ACCEPTED a",
            "opened DUPLICATE a",
            "opened REMOVED a",
            "opened UNKNOWN_DELETE x",
            "opened ACCEPTED a",
            "opened DUPLICATE b",
            ": key is empty",
            "bad: marked as bad")
        .containsSubsequence(
            "opened ACCEPTED a", "opened DUPLICATE a", "opened REMOVED a", "opened ACCEPTED a");
  }

  private static final class WithoutAcceptedB extends AbstractRichFunction
      implements OutcomeFunction<String, String> {
    private static final long serialVersionUID = 1;

    private transient String state;

    @Override
    public void open(OpenContext context) {
      state = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks() > 0 ? "opened" : null;
    }

    @Override
    public String apply(Outcome.Kind kind, Change<String> change) {
      return kind == Outcome.Kind.ACCEPTED && change.event().equals("b")
          ? null
          : state + " " + kind + " " + new String(change.key(), UTF_8);
    }
  }

  @Test
  void aGenericTypeWouldFailTheSameJob() {
    StreamExecutionEnvironment env = environment();
    assertThatThrownBy(
            () ->
                env.fromData(TypeInformation.of(Object.class), "a")
                    .map(event -> event, TypeInformation.of(Object.class))
                    .executeAndCollect())
        .hasStackTraceContaining("Generic types have been disabled");
  }

  @Test
  void refusesABatchJobAsItWouldSortTheEvents() {
    StreamExecutionEnvironment env = environment().setRuntimeMode(RuntimeExecutionMode.BATCH);
    DedupStreams<String> streams =
        Firstseen.dedup(env.fromData("a", "b")).keyText(key -> key).apply();
    assertThatThrownBy(() -> streams.accepted().executeAndCollect().forEachRemaining(change -> {}))
        .hasStackTraceContaining("The dedup needs execution.runtime-mode STREAMING");
  }

  @Test
  void aKeyIsAcceptedAgainAfterItsTtl() throws Exception {
    List<Long> minutes = List.of(0L, 59L, 68L, 69L, 200L, 201L);
    DataStream<Long> events =
        environment()
            .fromData(minutes)
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Long>forGenerator(context -> new AfterEachEvent())
                    .withTimestampAssigner((minute, before) -> minute * 60_000));
    List<Long> accepted = new ArrayList<>();
    Firstseen.dedup(events)
        .keyText(minute -> "a")
        .ttl(TimeToLive.of(Duration.ofHours(1)))
        .apply()
        .accepted()
        .executeAndCollect()
        .forEachRemaining(change -> accepted.add(change.event()));
    assertThat(accepted).containsExactly(0L, 69L, 201L);
  }

  private static final class AfterEachEvent implements WatermarkGenerator<Long> {
    @Override
    public void onEvent(Long minute, long timestamp, WatermarkOutput output) {
      output.emitWatermark(new Watermark(timestamp - 1));
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }

  @Test
  void scopesDoNotShareKeys() throws Exception {
    StreamExecutionEnvironment env = environment();
    DedupStreams<String> streams =
        Firstseen.dedup(env.fromData("ab/c", "a/bc", "ab/c"))
            .keyText(event -> event.substring(event.indexOf('/') + 1))
            .scope(
                event ->
                    event
                        .substring(0, event.indexOf('/'))
                        .getBytes(java.nio.charset.StandardCharsets.UTF_8))
            .apply();
    List<String> accepted = new ArrayList<>();
    streams.accepted().executeAndCollect().forEachRemaining(change -> accepted.add(change.event()));
    assertThat(accepted).containsExactlyInAnyOrder("ab/c", "a/bc");
  }

  @Test
  void eventsWithoutAUsableKeyScopeOrOperationAreDeadLetters() throws Exception {
    DataStream<String> events =
        environment().fromData("good", "no key", "empty key", "no operation", "long scope");
    List<String> dead = new ArrayList<>();
    Firstseen.dedup(events)
        .keyText(
            event ->
                switch (event) {
                  case "no key" -> null;
                  case "empty key" -> "";
                  default -> event;
                })
        .operation(event -> event.equals("no operation") ? null : Operation.ADD)
        .scope(event -> event.equals("long scope") ? new byte[65_537] : null)
        .apply()
        .deadLetters()
        .executeAndCollect()
        .forEachRemaining(rejected -> dead.add(rejected.event() + ": " + rejected.reason()));
    assertThat(dead)
        .containsExactly(
            "no key: key is missing",
            "empty key: key is empty",
            "no operation: operation is missing",
            "long scope: scope must be at most 65536 bytes, got 65537");
  }

  @Test
  void eventsOfOneKeyKeepTheirOrderBehindASourceOfOneTask() throws Exception {
    StreamExecutionEnvironment env = environment().setParallelism(4);
    List<Integer> events = IntStream.range(0, 20_000).boxed().toList();
    DedupStreams<Integer> streams =
        Firstseen.dedup(env.fromData(events))
            .keyText(event -> "key-" + event / 2 % 50)
            .operation(event -> event % 2 == 0 ? Operation.ADD : Operation.DELETE)
            .apply();
    List<Integer> accepted = new ArrayList<>();
    streams.accepted().executeAndCollect().forEachRemaining(change -> accepted.add(change.event()));
    assertThat(accepted.stream().sorted().toList().equals(events)).isTrue();
  }

  @Test
  void aUnionThatFlinkWouldBringOutOfOrderIsRefusedIfThereAreDeletes() {
    StreamExecutionEnvironment env = environment().setParallelism(2);
    DataStream<String> two = env.fromSequence(0, 9).map(n -> "-" + n, Types.STRING);
    DataStream<String> one = env.fromData("a", "-a");
    for (DataStream<String> events :
        List.of(
            two.union(one),
            two.union(two, one.union(two)),
            two.union(one).map(event -> event, Types.STRING),
            two.union(one).assignTimestampsAndWatermarks(WatermarkStrategy.noWatermarks()),
            two.union(one)
                .map(event -> event, Types.STRING)
                .getSideOutput(new OutputTag<>("side", Types.STRING)))) {
      Firstseen<String> dedup = Firstseen.dedup(events).keyText(event -> event);
      assertThat(dedup.apply()).as("adds only").isNotNull();
      assertThatThrownBy(() -> dedup.operation(event -> Operation.DELETE).apply())
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageEndingWith("give them one parallelism, got [1, 2]");
    }
    for (DataStream<String> events : List.of(two.union(two), one.union(two))) {
      assertThat(
              Firstseen.dedup(events)
                  .keyText(event -> event)
                  .operation(event -> Operation.ADD)
                  .apply())
          .isNotNull();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0.001, 128, capacity must be at least 1",
    "10, 0, 128, 'falsePositiveRate must be in (0, 0.1]'",
    "10, 0.2, 128, 'falsePositiveRate must be in (0, 0.1]'",
    "10, 0.01, 100, shards must be a power of two",
    "10, 0.01, 65536, shards must be a power of two",
    "9000000000000000000, 1e-9, 128, 'capacity / shards / falsePositiveRate must be at most 2^56'",
    "1000000000000000, 1e-9, 32768, 'capacity / shards / falsePositiveRate must be at most 2^48'"
  })
  void refusesParametersOutOfBounds(long capacity, double rate, int shards, String sentence) {
    DataStream<String> events = environment().fromData("a");
    assertThatThrownBy(
            () ->
                Firstseen.dedup(events)
                    .keyText(event -> event)
                    .capacity(capacity)
                    .falsePositiveRate(rate)
                    .shards(shards)
                    .apply())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(sentence)
        .hasMessageContaining("got");
  }

  @ParameterizedTest
  @EnumSource(
      value = DedupMode.class,
      names = {"EXACT", "EXACT_KEYS"})
  void refusesAnAuditOfAModeThatDropsNoKey(DedupMode mode) {
    assertThatThrownBy(() -> Firstseen.withoutEvents().mode(mode).audit().parameters())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("audit needs the mode approximate, got " + mode.id());
  }

  private static StreamExecutionEnvironment environment() {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(PipelineOptions.OBJECT_REUSE, true);
    return StreamExecutionEnvironment.getExecutionEnvironment(configuration).setParallelism(1);
  }
}
