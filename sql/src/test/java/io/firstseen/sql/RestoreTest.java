package io.firstseen.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.testutils.CommonTestUtils;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A SQL job that is stopped with a savepoint and resumes with a different query. */
class RestoreTest {
  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(4)
              .build());

  private static final int PATIENCE_SECONDS = 60;
  private static final Map<String, BlockingQueue<String>> RECEIVED = new ConcurrentHashMap<>();

  @TempDir private Path directory;
  private boolean ignoresUnclaimedState;

  @ParameterizedTest
  @CsvSource({"hashmap, hashmap, 1", "rocksdb, rocksdb, 2", "hashmap, rocksdb, 2"})
  void keysSurviveASavepoint(
      String before, String after, int parallelism, @InjectMiniCluster MiniCluster cluster)
      throws Exception {
    input("1", "a", "b", "a");
    JobClient first = start(before, null, 2, "SELECT k FROM events", "'uid' = 'keys'");
    assertThat(receive(2)).containsExactlyInAnyOrder("a", "b");
    String savepoint = stop(first, cluster);

    input("2", "b", "c", "a", "c");
    // Another query; the uid stays.
    JobClient second =
        start(after, savepoint, parallelism, "SELECT UPPER(k) FROM events", "'uid' = 'keys'");
    assertThat(receive(1)).containsExactly("C");
    String end = stop(second, cluster);
    assertThat(received()).isEmpty();
    assertThat(end).isNotEqualTo(savepoint);
  }

  @ParameterizedTest
  @CsvSource({
    "dedup-shards, 64, max parallelism 128",
    "mode, exact, 'they differ in: mode (state: approximate, job: exact)'",
    "canonicaliser, url, 'they differ in: canonicaliser (state: none, job: url)'"
  })
  void whatIsFixedForTheLifeOfTheStateIsRefused(
      String option, String value, String reason, @InjectMiniCluster MiniCluster cluster)
      throws Exception {
    input("1", "a");
    JobClient first = start("hashmap", null, 1, "SELECT k FROM events", "'uid' = 'keys'");
    assertThat(receive(1)).containsExactly("a");
    String savepoint = stop(first, cluster);
    JobClient second =
        start(
            "hashmap",
            savepoint,
            1,
            "SELECT k FROM events",
            "'uid' = 'keys', '%s' = '%s'".formatted(option, value));
    assertThatThrownBy(() -> second.getJobExecutionResult().get(PATIENCE_SECONDS, TimeUnit.SECONDS))
        .satisfies(e -> assertThat(stack(e)).contains(reason));
  }

  /**
   * As sql.md warns: state that matches no operator is dropped, and known keys are accepted again.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void stateOfAnotherUidIsDroppedOnlyIfTheScriptSaysSo(
      boolean ignores, @InjectMiniCluster MiniCluster cluster) throws Exception {
    input("1", "a");
    JobClient first = start("hashmap", null, 1, "SELECT k FROM events", "'uid' = 'keys'");
    assertThat(receive(1)).containsExactly("a");
    String savepoint = stop(first, cluster);
    ignoresUnclaimedState = ignores;
    JobClient second = start("hashmap", savepoint, 1, "SELECT k FROM events", "'uid' = 'other'");
    if (ignores) {
      assertThat(receive(1)).containsExactly("a");
      var unused = stop(second, cluster);
    } else {
      assertThatThrownBy(
              () -> second.getJobExecutionResult().get(PATIENCE_SECONDS, TimeUnit.SECONDS))
          .satisfies(
              e ->
                  assertThat(stack(e))
                      .contains("Cannot map checkpoint/savepoint state for operator"));
    }
  }

  private static String stack(Throwable e) {
    return e == null ? "" : e.getMessage() + "\n" + stack(e.getCause());
  }

  private JobClient start(
      String backend, String savepoint, int parallelism, String query, String options)
      throws Exception {
    Configuration settings = new Configuration();
    settings.set(StateBackendOptions.STATE_BACKEND, backend);
    settings.set(
        CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
    settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(50));
    settings.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        directory.resolve("checkpoints").toUri().toString());
    settings.setString("restart-strategy.type", "none");
    if (savepoint != null) {
      settings.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
      settings.setString(
          "execution.state-recovery.ignore-unclaimed-state",
          Boolean.toString(ignoresUnclaimedState));
    }
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(settings).setParallelism(parallelism);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    Path input = Files.createDirectories(directory.resolve("input"));
    tables.executeSql(
        "CREATE TABLE events (k STRING) WITH ('connector' = 'firstseen', 'key' = 'k', %s, 'table.connector' = 'filesystem', 'table.path' = '%s', 'table.format' = 'raw', 'table.source.monitor-interval' = '50 ms')"
            .formatted(options, input));
    String queue = directory.toString();
    RECEIVED.putIfAbsent(queue, new LinkedBlockingQueue<>());
    tables
        .toDataStream(tables.sqlQuery(query))
        .map(
            row -> {
              RECEIVED.get(queue).add(String.valueOf(row.getField(0)));
              return 0;
            },
            Types.INT)
        .sinkTo(new DiscardingSink<>());
    return environment.executeAsync();
  }

  private void input(String file, String... lines) throws Exception {
    Path hidden = directory.resolve(file);
    Files.writeString(hidden, String.join("\n", lines));
    Files.move(hidden, Files.createDirectories(directory.resolve("input")).resolve(file));
  }

  private BlockingQueue<String> received() {
    return RECEIVED.get(directory.toString());
  }

  private List<String> receive(int count) throws Exception {
    List<String> rows = new ArrayList<>();
    while (rows.size() < count) {
      String row = received().poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      assertThat(row).as("received after " + rows).isNotNull();
      rows.add(row);
    }
    return rows;
  }

  private String stop(JobClient job, MiniCluster cluster) throws Exception {
    // A row may come out before all tasks run, which a savepoint needs.
    CommonTestUtils.waitForAllTaskRunning(cluster, job.getJobID(), false);
    String savepoint =
        job.stopWithSavepoint(
                false, directory.resolve("savepoints").toString(), SavepointFormatType.CANONICAL)
            .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    var unused = job.getJobExecutionResult().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    return savepoint;
  }
}
