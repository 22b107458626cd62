package io.firstseen.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EmbeddedClusterTest {
  @RegisterExtension static final SharedCluster FLINK = SharedCluster.ofSlots(1);

  private static final int KEYS = 8;

  /** The output of the counting job, in order for each key: the number and its key's count. */
  private static final Queue<long[]> COUNTED = new ConcurrentLinkedQueue<>();

  private static volatile CountDownLatch moreCounted = new CountDownLatch(0);

  @BeforeEach
  void forget() {
    COUNTED.clear();
  }

  @Test
  void servesItsWebPageAndKnowsItsSize(@TempDir Path directory) throws Exception {
    EmbeddedCluster.Settings settings =
        EmbeddedCluster.Settings.defaults().taskManagers(2).slotsPerTaskManager(3);
    try (EmbeddedCluster cluster = EmbeddedCluster.start(directory, settings)) {
      HttpResponse<String> page = get(cluster.webUrl().resolve("/"));
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.body()).contains("<title>Apache Flink Web Dashboard</title>");

      JsonNode overview =
          new ObjectMapper().readTree(get(cluster.webUrl().resolve("/overview")).body());
      assertThat(overview.path("taskmanagers").asInt()).isEqualTo(2);
      assertThat(overview.path("slots-total").asInt()).isEqualTo(6);
    }
  }

  @Test
  void runsAJobBuiltOnItsEnvironmentAndOneBuiltElsewhere() throws Exception {
    assertThat(FLINK.environment().fromSequence(1, 10).executeAndCollect(100))
        .containsExactlyElementsOf(LongStream.rangeClosed(1, 10).boxed().toList());

    StreamExecutionEnvironment elsewhere = new StreamExecutionEnvironment();
    count(elsewhere, 100);
    FLINK.cluster().submit(elsewhere.getStreamGraph()).getJobExecutionResult().get();
    assertThat(COUNTED).hasSize(100);
  }

  @Test
  void aJobThatFailsSaysWhy() throws Exception {
    StreamExecutionEnvironment environment = FLINK.environment();
    environment
        .fromSequence(1, 10)
        .filter(
            number -> {
              throw new IllegalStateException("cannot map " + number);
            })
        .print();
    JobClient job = environment.executeAsync();
    assertThatThrownBy(() -> job.getJobExecutionResult().get())
        .hasRootCauseMessage("cannot map 1")
        .hasRootCauseInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> FLINK.cluster().awaitRunning(job))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("job " + job.getJobID(), "FAILED");
  }

  @Test
  void aStoppedJobGoesOnFromItsSavepointAtAnotherParallelism(@TempDir Path directory)
      throws Exception {
    assertStoppedJobGoesOn("rocksdb", SavepointFormatType.CANONICAL, directory);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"hashmap", "rocksdb"})
  void aStoppedJobGoesOnFromItsNativeSavepointToo(String backend, @TempDir Path directory)
      throws Exception {
    assertStoppedJobGoesOn(backend, SavepointFormatType.NATIVE, directory);
  }

  private void assertStoppedJobGoesOn(String backend, SavepointFormatType format, Path directory)
      throws Exception {
    EmbeddedCluster.Settings settings =
        EmbeddedCluster.Settings.defaults()
            .slotsPerTaskManager(3)
            .with(StateBackendOptions.STATE_BACKEND, backend);
    String savepoint;
    try (EmbeddedCluster cluster = EmbeddedCluster.start(directory, settings)) {
      StreamExecutionEnvironment environment = cluster.environment();
      environment.setParallelism(2);
      count(environment, Long.MAX_VALUE);
      JobClient job = environment.executeAsync("count");
      awaitCounted(1000);
      savepoint = cluster.stopWithSavepoint(job, format, false);
      assertThat(job.getJobStatus().get()).isEqualTo(JobStatus.FINISHED);
    }
    assertThat(Path.of(URI.create(savepoint)))
        .hasParent(directory.resolve("savepoints"))
        .isDirectory();
    try (EmbeddedCluster cluster = EmbeddedCluster.start(directory, settings)) {
      Configuration restore = new Configuration();
      restore.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
      StreamExecutionEnvironment environment = cluster.environment(restore);
      environment.setParallelism(3);
      count(environment, Long.MAX_VALUE);
      JobClient job = environment.executeAsync("count");
      awaitCounted(1000);
      cluster.stopWithSavepoint(job, format, true);
    }
    assertEveryNumberCountedOnce();
  }

  @Tag("slow")
  @Test
  void jobsRecoverWhenATaskManagerIsReplaced(@TempDir Path directory) throws Exception {
    try (EmbeddedCluster cluster =
        EmbeddedCluster.start(directory, EmbeddedCluster.Settings.defaults())) {
      Configuration jobSettings = new Configuration();
      jobSettings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
      jobSettings.set(
          RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, Integer.MAX_VALUE);
      jobSettings.set(
          RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
      jobSettings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofHours(1));
      StreamExecutionEnvironment environment = cluster.environment(jobSettings);
      count(environment, Long.MAX_VALUE);
      JobClient job = environment.executeAsync("count");
      awaitCounted(1000);
      long[] before = COUNTED.stream().reduce((first, second) -> second).orElseThrow();
      String checkpoint = cluster.triggerCheckpoint(job);
      assertThat(Path.of(URI.create(checkpoint))).startsWith(directory.resolve("checkpoints"));

      cluster.replaceTaskManager();
      COUNTED.clear();
      awaitCounted(1000);
      job.cancel().get();

      // Counts that had restarted from scratch would be 1 here.
      assertThat(COUNTED.peek()[1]).isGreaterThanOrEqualTo(before[1]);
    }
  }

  @Tag("slow")
  @Test
  void closingLeavesNoTemporaryFiles(@TempDir Path directory) throws Exception {
    EmbeddedCluster.Settings settings =
        EmbeddedCluster.Settings.defaults().with(StateBackendOptions.STATE_BACKEND, "rocksdb");
    EmbeddedCluster cluster = EmbeddedCluster.start(directory, settings);
    StreamExecutionEnvironment environment = cluster.environment();
    count(environment, Long.MAX_VALUE);
    environment.executeAsync("count");
    awaitCounted(100);
    // With the job still running.
    cluster.close();
    try (var left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void aTakenWebPortIsAnErrorWithTheNumber(@TempDir Path directory) throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
      EmbeddedCluster.Settings settings =
          EmbeddedCluster.Settings.defaults().webPort(taken.getLocalPort());
      assertThatThrownBy(() -> EmbeddedCluster.start(directory, settings))
          .isInstanceOf(BindException.class)
          .hasMessageContainingAll("port " + taken.getLocalPort(), "taken");
    }
  }

  @Test
  void settingsRefuseAClusterWithoutSlots() {
    assertThatThrownBy(() -> EmbeddedCluster.Settings.defaults().slotsPerTaskManager(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("slotsPerTaskManager", "at least 1", "got 0");
  }

  private static HttpResponse<String> get(URI uri) throws Exception {
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Counts the numbers 0, 1, … for each remainder by {@link #KEYS}. */
  static void count(StreamExecutionEnvironment environment, long numbers) {
    environment
        .fromSource(
            new DataGeneratorSource<>(
                number -> number, numbers, RateLimiterStrategy.perSecond(20_000), Types.LONG),
            WatermarkStrategy.noWatermarks(),
            "numbers")
        .uid("numbers")
        .setParallelism(1)
        .keyBy(number -> number % KEYS, Types.LONG)
        .map(new Count())
        .uid("count")
        .sinkTo(new Remember())
        .uid("remember");
  }

  static void awaitCounted(int more) throws InterruptedException {
    moreCounted = new CountDownLatch(more);
    moreCounted.await();
  }

  /** No number is missing or repeated, and every count is correct. */
  private static void assertEveryNumberCountedOnce() {
    List<Long> numbers = COUNTED.stream().map(pair -> pair[0]).sorted().toList();
    assertThat(numbers)
        .containsExactlyElementsOf(LongStream.range(0, numbers.size()).boxed().toList());
    assertThat(COUNTED).allSatisfy(pair -> assertThat(pair[1]).isEqualTo(pair[0] / KEYS + 1));
  }

  private static final class Count extends RichMapFunction<Long, long[]> {

    private transient ValueState<Long> count;

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Types.LONG));
    }

    @Override
    public long[] map(Long number) throws Exception {
      long next = count.value() == null ? 1 : count.value() + 1;
      count.update(next);
      return new long[] {number, next};
    }
  }

  private static final class Remember implements Sink<long[]> {

    @Override
    public SinkWriter<long[]> createWriter(WriterInitContext context) {
      return new SinkWriter<>() {
        @Override
        public void write(long[] pair, Context ignored) {
          COUNTED.add(pair);
          moreCounted.countDown();
        }

        @Override
        public void flush(boolean endOfInput) {}

        @Override
        public void close() {}
      };
    }
  }
}
