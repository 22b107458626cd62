package io.firstseen.cli.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.cli.Waiting;
import io.firstseen.cli.embedded.EmbeddedCluster;
import io.firstseen.cli.embedded.SharedBroker;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.kafka.Topics;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.shared.UserErrorException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A snapshot job that comes back later than the accepted topic keeps removals. */
class RetentionTest {
  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  @TempDir private Path directory;

  private final String accepted = SharedBroker.unused("retention.accepted");
  private final String snapshots = SharedBroker.unused("retention.snapshots");

  private KafkaOptions options(String... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "--bootstrap-servers=" + KAFKA.servers(),
                "--checkpoint-interval=200ms",
                "--accepted-topic=" + accepted,
                "--snapshots-topic=" + snapshots));
    words.addAll(List.of(more));
    return KafkaOptions.parse(words.toArray(String[]::new));
  }

  private static JobClient start(EmbeddedCluster cluster, KafkaOptions options, String savepoint)
      throws Exception {
    Configuration settings = new Configuration();
    if (savepoint != null) {
      settings.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    }
    StreamExecutionEnvironment env = cluster.environment(settings);
    SnapshotJob.buildOnKafka(
        env,
        options,
        JobOptions.parse("--window=1s", "--idle-timeout=1h", "--out-of-orderness=0s"));
    return env.executeAsync();
  }

  private void createAccepted(Duration retention) {
    KAFKA
        .broker()
        .createTopics(
            List.of(
                new NewTopic(accepted, 1, (short) 1)
                    .configs(
                        Map.of(
                            "cleanup.policy",
                            "compact",
                            "delete.retention.ms",
                            Long.toString(retention.toMillis())))));
  }

  @Test
  void whoMayHaveMissedRemovalsIsRefusedAndRebuildsFromTheTopic() throws Exception {
    createAccepted(Duration.ofSeconds(1));
    try (EmbeddedCluster cluster =
            EmbeddedCluster.start(directory.resolve("flink"), EmbeddedCluster.Settings.defaults());
        AcceptedKeys keys = new AcceptedKeys(KAFKA.servers(), accepted);
        SnapshotClient client =
            SnapshotClient.start(
                SnapshotClientOptions.builder(KAFKA.servers(), "firstseen")
                    .topic(snapshots)
                    .build())) {
      JobClient job = start(cluster, options("--max-downtime=1s"), null);
      keys.add("stays", 1_000);
      keys.add("goes", 1_000);
      keys.add("later", 2_000);
      keys.flush();
      Waiting.until("answers", Duration.ofMinutes(1), () -> client.manifest().isPresent());
      assertThat(client.mightContain("goes")).isTrue();
      String savepoint = cluster.stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);

      // With nothing written since, the job goes on, however long it was down.
      TimeUnit.SECONDS.sleep(2);
      JobClient idle = start(cluster, options("--max-downtime=1s"), savepoint);
      savepoint = cluster.stopWithSavepoint(idle, SavepointFormatType.CANONICAL, false);

      TimeUnit.SECONDS.sleep(2);
      keys.remove("goes", 3_000);
      keys.add("new", 4_000);
      keys.flush();
      JobClient late = start(cluster, options("--max-downtime=1s"), savepoint);
      assertThatThrownBy(() -> late.getJobExecutionResult().get(1, TimeUnit.MINUTES))
          .isInstanceOf(ExecutionException.class)
          .satisfies(
              failure ->
                  assertThat(UserErrorException.sentence(failure).orElseThrow())
                      .contains(" of topic " + accepted + " to offset ")
                      .contains("the topic keeps removals for 1s (delete.retention.ms)")
                      .contains("--take-over"));

      JobClient rebuilt = start(cluster, options("--max-downtime=1s", "--take-over"), null);
      Waiting.until("the key is gone", Duration.ofMinutes(1), () -> !client.mightContain("goes"));
      assertThat(client.mightContain("stays")).isTrue();
      rebuilt.cancel().get();
    }
  }

  @Test
  void aTopicThatKeepsRemovalsForLessThanTheJobMayBeDownIsRefused() throws Exception {
    createAccepted(Duration.ofHours(1));
    assertThatThrownBy(() -> Topics.prepareSnapshots(options()))
        .isInstanceOf(UserErrorException.class)
        .hasMessage(
            "topic %s must keep removals for --max-downtime, which is 1d, it keeps them for 1h"
                + " (raise its delete.retention.ms to 86400000, or lower --max-downtime)",
            accepted);
    assertThat(Topics.prepareSnapshots(options("--max-downtime=30m")))
        .isEqualTo(Duration.ofHours(1));
  }
}
