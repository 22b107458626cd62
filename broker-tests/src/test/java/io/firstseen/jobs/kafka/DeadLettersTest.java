package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.fixtures.EventStream;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The transactions of the sink of dead letters. */
class DeadLettersTest {

  @RegisterExtension private static final SharedBroker BROKER = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  private static final String BAD = "{\"broken\":\"";

  private final String name = SharedBroker.unused("dead");
  private final String idPrefix = name + "." + name + ".accepted.dead-letters.";

  @Test
  void aJobThatStartsFromStateAbortsWhatTheLastTaskOfItsPredecessorLeftOpen() throws Exception {
    abortsWhatTheLastTaskLeftOpen(4, 2);
  }

  @Tag("slow")
  @Test
  void oneTaskThatStartsFromStateAbortsWhatItsPredecessorLeftOpen() throws Exception {
    abortsWhatTheLastTaskLeftOpen(1, 1);
  }

  private void abortsWhatTheLastTaskLeftOpen(int tasks, int tasksAfterwards) throws Exception {
    try (TopicIo topics = topics()) {
      EventStream stream = new EventStream(22, 100);
      topics.send(name + ".events", 1, stream.adds(List.of("a")));
      JobClient job = start(new Configuration(), tasks);
      topics.await(name + ".accepted", READ_UNCOMMITTED, 1);
      String savepoint =
          FLINK.cluster().stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);

      // What a task would have left that died after the state was written.
      String left =
          "%s%s-%d-%d"
              .formatted(
                  idPrefix, job.getJobID().toHexString(), tasks - 1, checkpointId(savepoint) + 1);
      try (KafkaProducer<byte[], byte[]> dead = producer(left)) {
        dead.initTransactions();
        dead.beginTransaction();
        dead.send(new ProducerRecord<>(name + ".dead-letters", "lost".getBytes(UTF_8))).get();
        assertThat(state(left)).isEqualTo("Ongoing");
        JobClient restored = start(TestJobs.fromSavepoint(savepoint), tasksAfterwards);
        topics.send(name + ".events", 1, stream.adds(List.of("b")));
        topics.await(name + ".accepted", READ_UNCOMMITTED, 2);
        FLINK.cluster().triggerCheckpoint(restored);
        await("an abort of " + left)
            .atMost(Duration.ofSeconds(30))
            .until(() -> !state(left).equals("Ongoing"));
        topics.send(name + ".events", 1, List.of(BAD));
        topics.await(name + ".dead-letters", READ_UNCOMMITTED, 2);
        FLINK.cluster().triggerCheckpoint(restored);
        topics.await(name + ".dead-letters", READ_COMMITTED, 1);
      }
    }
  }

  private static long checkpointId(String savepoint) throws IOException {
    Path metadata = Path.of(URI.create(savepoint)).resolve("_metadata");
    try (DataInputStream in = new DataInputStream(Files.newInputStream(metadata))) {
      return Checkpoints.loadCheckpointMetadata(
              in, DeadLettersTest.class.getClassLoader(), savepoint)
          .getCheckpointId();
    }
  }

  private TopicIo topics() {
    BROKER.broker().createTopics(List.of(new NewTopic(name + ".events", 1, (short) 1)));
    return new TopicIo(BROKER.broker().bootstrapServers());
  }

  private JobClient start(Configuration settings, int tasks) throws Exception {
    KafkaOptions kafka =
        KafkaOptions.parse(
            "--bootstrap-servers=" + BROKER.broker().bootstrapServers(),
            "--checkpoint-interval=10m",
            "--transactional-id-prefix=" + name,
            "--events-topic=" + name + ".events",
            "--accepted-topic=" + name + ".accepted",
            "--duplicates=none",
            "--dead-letters-topic=" + name + ".dead-letters");
    StreamExecutionEnvironment env = FLINK.environment(settings);
    JobMain.buildOnKafka(env, Job.DEDUP, kafka, JobOptions.parse("--parallelism=" + tasks));
    return env.executeAsync(name);
  }

  private static KafkaProducer<byte[], byte[]> producer(String transactionalId) {
    return new KafkaProducer<>(
        Map.of(
            "bootstrap.servers",
            BROKER.broker().bootstrapServers(),
            "transactional.id",
            transactionalId),
        new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  private static Admin admin() {
    return Admin.create(Map.of("bootstrap.servers", BROKER.broker().bootstrapServers()));
  }

  private static String state(String transactionalId) throws Exception {
    try (Admin admin = admin()) {
      return admin
          .describeTransactions(List.of(transactionalId))
          .description(transactionalId)
          .get()
          .state()
          .toString();
    }
  }
}
