package io.firstseen.jobs.kafka;

import static io.firstseen.jobs.kafka.TestJobs.SET;
import static io.firstseen.jobs.kafka.TestJobs.cancel;
import static io.firstseen.jobs.kafka.TestJobs.failure;
import static io.firstseen.jobs.kafka.TestJobs.fromSavepoint;
import static io.firstseen.jobs.kafka.TestJobs.manifests;
import static io.firstseen.jobs.kafka.TestJobs.sequences;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Records that others wrote to the topics of a snapshot job. */
class StrayRecordsTest {

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  @TempDir private static Path directory;
  private static EmbeddedCluster cluster;
  private static TopicIo topics;
  private static KafkaProducer<byte[], byte[]> foreignProducer;

  private final SigningKey key = SigningKey.generate();

  @BeforeAll
  static void start() throws Exception {
    cluster = FLINK.cluster();
    topics = new TopicIo(KAFKA.servers());
    foreignProducer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", KAFKA.servers()),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  @AfterAll
  static void stop() throws Exception {
    foreignProducer.close();
    topics.close();
  }

  private static KafkaOptions kafkaOptions(
      String accepted, String snapshots, Duration checkpointInterval, String... more) {
    return TestJobs.kafkaOptions(
        KAFKA.servers(),
        checkpointInterval,
        List.of(
            "--transactional-id-prefix=" + accepted,
            "--accepted-topic=" + accepted,
            "--snapshots-topic=" + snapshots),
        more);
  }

  private static KafkaOptions kafkaOptions(String accepted, String snapshots, String... more) {
    return kafkaOptions(accepted, snapshots, TestJobs.OFTEN, more);
  }

  private static JobClient submit(
      KafkaOptions kafka, @Nullable Path signingKey, Configuration settings) throws Exception {
    return signingKey == null
        ? TestJobs.submitSnapshots(cluster, kafka, settings)
        : TestJobs.submitSnapshots(cluster, kafka, settings, "--signing-key=" + signingKey);
  }

  private static String createAccepted(String name) {
    String topic = SharedBroker.unused(name);
    KAFKA.create(topic, "compact");
    return topic;
  }

  private static Path file(SigningKey key) throws Exception {
    return Files.writeString(Files.createTempFile(directory, "signing", ".key"), key.toPem());
  }

  private static Path publicFile(SigningKey key) throws Exception {
    return Files.writeString(
        Files.createTempFile(directory, "signing", ".key.pub"), key.publicKey().toPem());
  }

  /** One key a second of event time, so each is a window; the last one stays open. */
  private static void send(String accepted, int from, int to) throws Exception {
    try (AcceptedKeys keys = new AcceptedKeys(KAFKA.servers(), accepted)) {
      for (int second = from; second <= to; second++) {
        keys.add(accepted + "-" + second, second * 1_000L);
      }
      keys.flush();
    }
  }

  private static void write(String topic, String recordKey, byte @Nullable [] value)
      throws Exception {
    foreignProducer.send(new ProducerRecord<>(topic, 0, recordKey.getBytes(UTF_8), value)).get();
  }

  private static Manifest await(String topic, long sequence, TrustedKey... keys) throws Exception {
    List<Manifest> all =
        manifests(
            topics.readUntil(
                topic, READ_COMMITTED, read -> sequences(read, keys).contains(sequence)),
            keys);
    return all.get(all.size() - 1);
  }

  private static void awaitCount(String topic, IsolationLevel isolation, int count)
      throws Exception {
    topics.readUntil(topic, isolation, read -> sequences(read).size() >= count);
  }

  private static Manifest withSequence(Manifest manifest, long sequence) {
    return Manifest.of(
        manifest.setName(),
        sequence,
        manifest.windowStartMillis(),
        manifest.windowEndMillis(),
        manifest.parameters(),
        manifest.count(),
        manifest.root(),
        manifest.pack(),
        manifest.packBytes());
  }

  @Tag("slow")
  @Test
  void anAcceptedKeyYearsAheadDoesNotKeepTheSetFromChanging() throws Exception {
    String accepted = createAccepted("ahead");
    String snapshots = SharedBroker.unused("ahead-snapshots");
    JobClient job = submit(kafkaOptions(accepted, snapshots), null, new Configuration());
    send(accepted, 1, 3);
    await(snapshots, 2);
    try (AcceptedKeys keys = new AcceptedKeys(KAFKA.servers(), accepted)) {
      long years = Instant.now().plus(Duration.ofDays(3_650)).toEpochMilli();
      keys.add("stray", years).remove(accepted + "-1", years).flush();
    }
    send(accepted, 4, 7);
    Manifest newest = await(snapshots, 6);
    assertThat(newest.windowEndMillis()).isEqualTo(7_000);
    assertThat(newest.count()).isEqualTo(6);
    cancel(job);
  }

  @Test
  void unsignedRecordsDoNotEndAJobThatSigns() throws Exception {
    String accepted = createAccepted("signed");
    String snapshots = SharedBroker.unused("signed-snapshots");
    Path file = file(key);
    TrustedKey trusted = key.publicKey();
    JobClient job = submit(kafkaOptions(accepted, snapshots), file, new Configuration());
    send(accepted, 1, 4);
    Manifest third = await(snapshots, 3, trusted);

    Manifest last = withSequence(third, Long.MAX_VALUE);
    write(snapshots, SET, last.toBytes());
    write(snapshots, SET, SigningKey.generate().sign(last).toBytes());
    write(snapshots, SET, null);
    write(snapshots, SET, "no manifest".getBytes(UTF_8));
    write(snapshots, SET + "/publisher", "anybody/1".getBytes(UTF_8));
    send(accepted, 5, 7);
    await(snapshots, 6, trusted);
    String savepoint = cluster.stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);

    write(snapshots, SET, last.toBytes());
    write(snapshots, SET + "/publisher", "anybody/2".getBytes(UTF_8));
    JobClient successor = submit(kafkaOptions(accepted, snapshots), file, fromSavepoint(savepoint));
    send(accepted, 8, 9);
    await(snapshots, 8, trusted);
    assertThat(failure(submit(kafkaOptions(accepted, snapshots), file, new Configuration())))
        .isEqualTo(
            "set firstseen on topic %s is not this job's: it has signed manifests up to sequence 8,"
                    .formatted(snapshots)
                + " and this job has no state of it (publish under another --set, start from the"
                + " newest savepoint, or stop the other job and start this job with --take-over)");
    cancel(successor);
  }

  @Test
  void aTakeOverWithANewKeyGoesOnAfterTheManifestsOfTheOldOne() throws Exception {
    String accepted = createAccepted("rotated");
    String snapshots = SharedBroker.unused("rotated-snapshots");
    JobClient job = submit(kafkaOptions(accepted, snapshots), file(key), new Configuration());
    send(accepted, 1, 4);
    Manifest third = await(snapshots, 3, key.publicKey());
    cancel(job);
    write(snapshots, SET, withSequence(third, Long.MAX_VALUE).toBytes());

    SigningKey newKey = SigningKey.generate();
    KafkaOptions withoutOldKey = kafkaOptions(accepted, snapshots, "--take-over");
    assertThatThrownBy(() -> submit(withoutOldKey, file(newKey), new Configuration()))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(
            "set firstseen on topic " + snapshots, "trusted key", "--public-key", "--take-over");
    KafkaOptions takingOver =
        kafkaOptions(accepted, snapshots, "--take-over", "--public-key=" + publicFile(key));
    JobClient newJob = submit(takingOver, file(newKey), new Configuration());
    send(accepted, 5, 7);
    // Two windows that end before that of manifest 3 are held.
    await(snapshots, 9, newKey.publicKey());
    cancel(newJob);
  }

  @Test
  void ofTwoJobsWithOneKeyTheSecondEndsAndTheFirstGoesOn() throws Exception {
    String first = createAccepted("first");
    String second = createAccepted("second");
    String snapshots = SharedBroker.unused("both-snapshots");
    JobClient firstJob =
        submit(kafkaOptions(first, snapshots, TestJobs.NEVER), file(key), new Configuration());
    send(first, 1, 4);
    awaitCount(snapshots, READ_UNCOMMITTED, 3);
    JobClient secondJob =
        submit(kafkaOptions(second, snapshots, TestJobs.NEVER), file(key), new Configuration());
    send(second, 1, 4);
    awaitCount(snapshots, READ_UNCOMMITTED, 6);
    cluster.triggerCheckpoint(firstJob);
    cluster.triggerCheckpoint(secondJob);
    awaitCount(snapshots, READ_COMMITTED, 6);

    send(second, 5, 6);
    assertThat(failure(secondJob))
        .matches(
            "set firstseen on topic %s is not this job's: its manifest [123] differs from the manifest that"
                    .formatted(snapshots)
                + " this job sent: .*");
    send(first, 5, 6);
    awaitCount(snapshots, READ_UNCOMMITTED, 8);
    cluster.triggerCheckpoint(firstJob);
    await(snapshots, 5, key.publicKey());
    cancel(firstJob);
  }

  @Test
  void afterTheHighestSequenceNoneFollowsAndOneSentenceSaysSo() throws Exception {
    String accepted = createAccepted("last");
    String snapshots = SharedBroker.unused("last-snapshots");
    JobClient job = submit(kafkaOptions(accepted, snapshots), null, new Configuration());
    send(accepted, 1, 4);
    Manifest third = await(snapshots, 3);
    write(snapshots, SET, withSequence(third, Long.MAX_VALUE).toBytes());
    send(accepted, 5, 6);
    assertThat(failure(job)).contains("it has manifest 9223372036854775807");

    assertThatThrownBy(
            () -> {
              JobClient takingOver =
                  submit(
                      kafkaOptions(accepted, snapshots, "--take-over"), null, new Configuration());
              try {
                failure(takingOver);
              } finally {
                takingOver.cancel().get();
              }
            })
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(
            "set firstseen", "9223372036854775807", "tombstone", "--set", "--signing-key");
  }
}
