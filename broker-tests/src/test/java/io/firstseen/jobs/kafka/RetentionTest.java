package io.firstseen.jobs.kafka;

import static io.firstseen.jobs.kafka.TestJobs.cancel;
import static io.firstseen.jobs.kafka.TestJobs.failure;
import static io.firstseen.jobs.kafka.TestJobs.fromSavepoint;
import static io.firstseen.jobs.kafka.TestJobs.submitSnapshots;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A snapshot job that comes back later than the accepted topic keeps removals. */
class RetentionTest {
  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  private final String accepted = SharedBroker.unused("retention.accepted");
  private final String snapshots = SharedBroker.unused("retention.snapshots");

  private KafkaOptions options(String... more) {
    return TestJobs.kafkaOptions(
        KAFKA.servers(),
        TestJobs.OFTEN,
        List.of("--accepted-topic=" + accepted, "--snapshots-topic=" + snapshots),
        more);
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
    EmbeddedCluster cluster = FLINK.cluster();
    try (AcceptedKeys keys = new AcceptedKeys(KAFKA.servers(), accepted);
        SnapshotClient client =
            SnapshotClient.start(
                SnapshotClientOptions.builder(KAFKA.servers(), "firstseen")
                    .topic(snapshots)
                    .build())) {
      JobClient job = submitSnapshots(cluster, options("--max-downtime=1s"), new Configuration());
      keys.add("stays", 1_000);
      keys.add("goes", 1_000);
      keys.add("later", 2_000);
      keys.flush();
      await("answers").atMost(Duration.ofMinutes(1)).until(() -> client.manifest().isPresent());
      assertThat(client.mightContain("goes")).isTrue();
      String savepoint = cluster.stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);

      // With nothing written since, the job goes on, however long it was down.
      TimeUnit.MILLISECONDS.sleep(1_100);
      JobClient idle =
          submitSnapshots(cluster, options("--max-downtime=1s"), fromSavepoint(savepoint));
      savepoint = cluster.stopWithSavepoint(idle, SavepointFormatType.CANONICAL, false);

      TimeUnit.MILLISECONDS.sleep(1_100);
      keys.remove("goes", 3_000);
      keys.add("new", 4_000);
      keys.flush();
      JobClient late =
          submitSnapshots(cluster, options("--max-downtime=1s"), fromSavepoint(savepoint));
      assertThat(failure(late))
          .contains(" of topic " + accepted + " to offset ")
          .contains("the topic keeps unread tombstones for 1s (delete.retention.ms, or")
          .contains("--take-over");

      JobClient rebuilt =
          submitSnapshots(
              cluster, options("--max-downtime=1s", "--take-over"), new Configuration());
      await("the key is gone")
          .atMost(Duration.ofMinutes(1))
          .until(() -> !client.mightContain("goes"));
      assertThat(client.mightContain("stays")).isTrue();
      cancel(rebuilt);
    }
  }

  @Test
  void aTopicThatKeepsRemovalsForLessThanTheJobMayBeDownIsRefused() throws Exception {
    createAccepted(Duration.ofHours(1));
    assertThatThrownBy(() -> TestJobs.require(Job.SNAPSHOTS, options()))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith(
            "topic %s must have delete.retention.ms=86400000 to keep tombstones for --max-downtime,"
                + " but has 3600000: set it with kafka-configs.sh ",
            accepted);
    assertThat(TestJobs.require(Job.SNAPSHOTS, options("--max-downtime=30m")).retention())
        .isEqualTo(Duration.ofHours(1));
  }
}
