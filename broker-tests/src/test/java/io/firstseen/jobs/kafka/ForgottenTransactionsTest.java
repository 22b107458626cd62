package io.firstseen.jobs.kafka;

import static io.firstseen.jobs.kafka.TestJobs.fromSavepoint;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A start from a savepoint that is older than {@code transactional.id.expiration.ms}. */
class ForgottenTransactionsTest {
  @TempDir private Path directory;

  @Tag("slow")
  @Test
  void aJobStartsFromASavepointWhoseTransactionsAreForgotten() throws Exception {
    try (EmbeddedBroker broker =
            EmbeddedBroker.start(
                directory.resolve("kafka"),
                EmbeddedBroker.Settings.tuned()
                    .with("transactional.id.expiration.ms", "4000")
                    .with("transaction.remove.expired.transaction.cleanup.interval.ms", "200"));
        EmbeddedCluster cluster =
            EmbeddedCluster.start(directory.resolve("flink"), EmbeddedCluster.Settings.defaults());
        TopicIo topics = new TopicIo(broker.bootstrapServers());
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      broker.createTopic("firstseen.events", 1);
      JobClient first = submit(broker, cluster, TestJobs.NEVER, new Configuration());
      topics.send("firstseen.events", 1, List.of(event("a"), event("b")));
      topics.await("firstseen.accepted", READ_UNCOMMITTED, 2);
      String savepoint = cluster.stopWithSavepoint(first, SavepointFormatType.CANONICAL, false);
      await("the broker has forgotten all transactions")
          .atMost(Duration.ofMinutes(1))
          .until(() -> admin.listTransactions().all().get().isEmpty());

      JobClient second = submit(broker, cluster, TestJobs.OFTEN, fromSavepoint(savepoint));
      topics.send("firstseen.events", 1, List.of(event("b"), event("c")));
      topics.await("firstseen.accepted", READ_COMMITTED, 3);
      cluster.stopWithSavepoint(second, SavepointFormatType.CANONICAL, false);
      assertThat(topics.readCommitted("firstseen.accepted")).hasSize(3);
    }
  }

  private static JobClient submit(
      EmbeddedBroker broker,
      EmbeddedCluster cluster,
      Duration checkpointInterval,
      Configuration settings)
      throws Exception {
    KafkaOptions kafka =
        TestJobs.kafkaOptions(broker.bootstrapServers(), checkpointInterval, List.of());
    StreamExecutionEnvironment env = cluster.environment(settings);
    JobMain.buildOnKafka(env, Job.DEDUP, kafka, JobOptions.parse("--capacity=1000"));
    return TestJobs.execute(env, kafka);
  }

  private static String event(String key) {
    return "{\"ts\":1700000000000,\"op\":\"add\",\"key\":\"%s\"}".formatted(key);
  }
}
