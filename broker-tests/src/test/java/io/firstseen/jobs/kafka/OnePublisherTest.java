package io.firstseen.jobs.kafka;

import static io.firstseen.jobs.kafka.TestJobs.cancel;
import static io.firstseen.jobs.kafka.TestJobs.failure;
import static io.firstseen.jobs.kafka.TestJobs.fromSavepoint;
import static io.firstseen.jobs.kafka.TestJobs.sequences;
import static io.firstseen.jobs.kafka.TestJobs.submitSnapshots;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptionsInternal;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.kafka.common.IsolationLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** One set, one topic, one publisher. */
class OnePublisherTest {

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  @TempDir private static Path directory;
  private static EmbeddedBroker kafka;
  private static EmbeddedCluster cluster;
  private static TopicIo topics;

  @BeforeAll
  static void start() throws Exception {
    kafka = KAFKA.broker();
    cluster = FLINK.cluster();
    topics = new TopicIo(kafka.bootstrapServers());
  }

  @AfterAll
  static void stop() throws Exception {
    topics.close();
  }

  /** A job with topics of its own, except the snapshots topic. */
  private static KafkaOptions kafkaOptions(String job, String snapshots, String... more) {
    return kafkaOptions(job, snapshots, TestJobs.OFTEN, more);
  }

  private static KafkaOptions kafkaOptions(
      String job, String snapshots, Duration checkpointInterval, String... more) {
    return TestJobs.kafkaOptions(
        kafka.bootstrapServers(),
        checkpointInterval,
        List.of(
            "--transactional-id-prefix=" + job,
            "--events-topic=" + job + ".events",
            "--accepted-topic=" + job + ".accepted",
            "--duplicates-topic=" + job + ".duplicates",
            "--dead-letters-topic=" + job + ".dead-letters",
            "--snapshots-topic=" + snapshots),
        more);
  }

  private static JobClient submit(KafkaOptions options, Configuration settings) throws Exception {
    return submitSnapshots(cluster, options, settings);
  }

  private static List<Manifest> manifests(String topic) throws Exception {
    return manifests(topic, READ_COMMITTED);
  }

  private static List<Manifest> manifests(String topic, IsolationLevel isolation) throws Exception {
    return TestJobs.manifests(topics.read(topic, isolation));
  }

  private static List<Long> awaitSequence(String topic, long sequence) throws Exception {
    return sequences(
        topics.readUntil(topic, READ_COMMITTED, read -> sequences(read).contains(sequence)));
  }

  private static void awaitManifests(String topic, IsolationLevel isolation, int count)
      throws Exception {
    assertThat(
            TestJobs.manifests(
                topics.readUntil(
                    topic, isolation, read -> TestJobs.manifests(read).size() >= count)))
        .hasSize(count);
  }

  @Test
  void aNewcomerIsRefusedUntilItTakesOverAndThenTheOlderJobEnds() throws Exception {
    createAccepted("older", "newcomer");
    JobClient older = submit(kafkaOptions("older", "taken"), new Configuration());
    sendAccepted("older", 1, 6);
    awaitSequence("taken", 5);

    // The first window is older than what it takes over.
    sendAccepted("newcomer", 3, 3);
    sendAccepted("newcomer", 11, 13);
    JobClient refused = submit(kafkaOptions("newcomer", "taken"), new Configuration());
    assertThat(failure(refused))
        .isEqualTo(
            "set firstseen on topic taken is not this job's: it has manifests up to sequence 5, of"
                + " job %s, and this job has no state of it (publish under another --set, start"
                + " from the newest savepoint, or stop the other job and start this job with "
                + "--take-over)",
            older.getJobID());

    JobClient newcomer =
        submit(kafkaOptions("newcomer", "taken", "--take-over"), new Configuration());
    assertThat(awaitSequence("taken", 8)).containsExactly(1L, 2L, 3L, 4L, 5L, 7L, 8L);
    assertThat(manifests("taken").get(6).count()).isEqualTo(3);
    sendAccepted("older", 7, 8);
    assertThat(failure(older))
        .isEqualTo(
            "set firstseen on topic taken is not this job's: job %s has taken it over",
            newcomer.getJobID());
    sendAccepted("newcomer", 14, 15);
    assertThat(awaitSequence("taken", 10)).containsExactly(1L, 2L, 3L, 4L, 5L, 7L, 8L, 9L, 10L);
    cancel(newcomer);
  }

  @Test
  void ofTwoNewJobsWithOnePrefixTheSecondEndsAndTheFirstGoesOn() throws Exception {
    KafkaOptions options = kafkaOptions("pair", "paired", TestJobs.NEVER);
    createAccepted("pair");
    JobClient first = submitSnapshots(cluster, options, new Configuration());
    sendAccepted("pair", 1, 4);
    awaitManifests("paired", READ_UNCOMMITTED, 3);
    JobClient second = submitSnapshots(cluster, options, new Configuration());
    awaitManifests("paired", READ_UNCOMMITTED, 6);

    cluster.triggerCheckpoint(first);
    assertThat(awaitSequence("paired", 3)).containsExactly(1L, 2L, 3L);
    sendAccepted("pair", 5, 6);
    assertThat(failure(second))
        .isEqualTo(
            "set firstseen on topic paired is not this job's: job %s has taken it over",
            first.getJobID());

    awaitManifests("paired", READ_UNCOMMITTED, 8);
    cluster.triggerCheckpoint(first);
    assertThat(awaitSequence("paired", 5)).containsExactly(1L, 2L, 3L, 4L, 5L);
    cancel(first);
  }

  /** The same command again, without state and with an older one: one prefix of ids. */
  @Tag("slow")
  @Test
  void whoIsRefusedHasNotEndedTheTransactionsOfTheOtherJob() throws Exception {
    KafkaOptions options = kafkaOptions("behind", "ahead", TestJobs.NEVER);
    createAccepted("behind");
    JobClient running = submit(options, new Configuration());
    try (AcceptedKeys keys =
        new AcceptedKeys(kafka.bootstrapServers(), options.topics().acceptedTopic())) {
      sendAccepted(keys, 1, 4);
      awaitManifests("ahead", READ_UNCOMMITTED, 3);
      String old = running.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
      sendAccepted(keys, 5, 6);
      awaitManifests("ahead", READ_UNCOMMITTED, 5);
      cluster.triggerCheckpoint(running);
      awaitSequence("ahead", 5);
      sendAccepted(keys, 7, 8);
      awaitManifests("ahead", READ_UNCOMMITTED, 7);

      for (Configuration settings : List.of(new Configuration(), fromSavepoint(old))) {
        assertThat(failure(submit(options, settings)))
            .contains("manifests up to sequence 5, of job " + running.getJobID());
      }

      cluster.triggerCheckpoint(running);
      assertThat(awaitSequence("ahead", 7)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L);
      awaitManifests("ahead", READ_UNCOMMITTED, 7);
    }
    cancel(running);
  }

  /** It has aborted the transactions of the other job; both are on the same TaskManager. */
  @Test
  void whoGoesOnFromTheNewestStateOfARunningJobSucceedsIt() throws Exception {
    KafkaOptions options = kafkaOptions("forked", "forks", TestJobs.NEVER);
    createAccepted("forked");
    JobClient older = submit(options, new Configuration());
    try (AcceptedKeys keys =
        new AcceptedKeys(kafka.bootstrapServers(), options.topics().acceptedTopic())) {
      sendAccepted(keys, 1, 4);
      awaitManifests("forks", READ_UNCOMMITTED, 3);
      cluster.triggerCheckpoint(older);
      awaitSequence("forks", 3);
      String newest = older.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
      sendAccepted(keys, 5, 6);
      awaitManifests("forks", READ_UNCOMMITTED, 5);

      JobClient newer = submit(options, fromSavepoint(newest));
      awaitManifests("forks", READ_UNCOMMITTED, 7);
      cluster.triggerCheckpoint(newer);
      assertThat(awaitSequence("forks", 5)).containsExactly(1L, 2L, 3L, 4L, 5L);
      sendAccepted(keys, 7, 7);
      // It sees the claim, or is fenced, restarts, and sees the claim then.
      assertThat(failure(older))
          .startsWith("set firstseen on topic forks is not this job's: ")
          .contains("job " + newer.getJobID());
      cluster.triggerCheckpoint(newer);
      assertThat(awaitSequence("forks", 6)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
      cancel(newer);
    }
  }

  private static void createAccepted(String... jobs) {
    for (String job : jobs) {
      KAFKA.create(job + ".accepted", "compact");
    }
  }

  /** Keys that a dedup has accepted. */
  private static void sendAccepted(String job, int from, int to) throws Exception {
    try (AcceptedKeys keys = new AcceptedKeys(kafka.bootstrapServers(), job + ".accepted")) {
      sendAccepted(keys, from, to);
    }
  }

  private static void sendAccepted(AcceptedKeys keys, int from, int to) throws Exception {
    for (int second = from; second <= to; second++) {
      keys.add("key-" + second, second * 1_000L);
    }
    keys.flush();
  }

  @Tag("slow")
  @Test
  void stateThatIsOlderThanTheTopicIsRefusedAndTheNewestGoesOn() throws Exception {
    createAccepted("going");
    JobClient job = submit(kafkaOptions("going", "rolled"), new Configuration());
    sendAccepted("going", 1, 4);
    awaitSequence("rolled", 3);
    String old = job.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
    sendAccepted("going", 5, 6);
    awaitSequence("rolled", 5);
    String newest = cluster.stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);

    Configuration fromOld = fromSavepoint(old);
    // Elsewhere its dedup has no claim, so that only the set is refused.
    assertThat(
            failure(submit(kafkaOptions("going", "rolled", "--claims-topic=elsewhere"), fromOld)))
        .startsWith(
            "set firstseen on topic rolled is not this job's: it has manifests up to sequence 5, of"
                + " job %s, and this job continues after sequence 3, of job %1$s ("
                    .formatted(job.getJobID()));

    // It may be restarted twice before its first manifest.
    Configuration from = fromSavepoint(newest);
    for (int i = 0; i < 2; i++) {
      JobClient idle = submit(kafkaOptions("going", "rolled"), from);
      from = fromSavepoint(cluster.stopWithSavepoint(idle, SavepointFormatType.CANONICAL, false));
    }
    JobClient successor = submit(kafkaOptions("going", "rolled"), from);
    sendAccepted("going", 7, 8);
    assertThat(awaitSequence("rolled", 7)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L);
    cancel(successor);

    JobClient backAgain = submit(kafkaOptions("going", "rolled", "--take-over"), fromOld);
    // It has read to event 4, and of the others it closes the windows until the last but one.
    awaitSequence("rolled", 11);
    List<Manifest> all = manifests("rolled");
    assertThat(all.stream().map(Manifest::sequence)).isSorted().doesNotHaveDuplicates();
    assertThat(all.get(all.size() - 1).count()).isEqualTo(7);
    cancel(backAgain);
  }

  @Tag("slow")
  @Test
  void whatTheOlderJobStillPublishesEndsTheNewcomer() throws Exception {
    createAccepted("running", "hasty");
    JobClient running = submit(kafkaOptions("running", "shared"), new Configuration());
    sendAccepted("running", 1, 4);
    awaitSequence("shared", 3);
    JobClient hasty = submit(kafkaOptions("hasty", "shared", "--take-over"), new Configuration());
    // Then it has begun.
    awaitSavepoint(hasty);
    sendAccepted("running", 5, 6);
    awaitSequence("shared", 5);
    sendAccepted("hasty", 11, 12);
    assertThat(failure(hasty))
        .startsWith(
            "set firstseen on topic shared is not this job's: it has manifest 5, which"
                + " this job did not send: ");
    sendAccepted("running", 7, 7);
    assertThat(awaitSequence("shared", 6)).containsExactly(1L, 2L, 3L, 4L, 5L, 6L);
    cancel(running);
  }

  private static void awaitSavepoint(JobClient job) throws Exception {
    long deadlineNanos = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (true) {
      try {
        job.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
        return;
      } catch (ExecutionException e) {
        assertThat(System.nanoTime()).as("%s", e).isLessThan(deadlineNanos);
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }
  }

  @Tag("slow")
  @Test
  void blobsThatAreNotOnTheTopicAreNotNamed() throws Exception {
    createAccepted("moving");
    JobClient job = submit(kafkaOptions("moving", "from"), new Configuration());
    sendAccepted("moving", 1, 4);
    awaitSequence("from", 3);
    String savepoint = cluster.stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);

    sendAccepted("moving", 5, 6);
    assertThat(failure(submit(kafkaOptions("moving", "to"), fromSavepoint(savepoint))))
        .matches(missingBlobs("to"));
    assertThat(manifests("to")).isEmpty();
  }

  private static String missingBlobs(String topic) {
    return "set firstseen needs \\d+ blobs, but \\d+ of them are not on topic "
        + topic
        + ", such as [0-9a-f]{64}: the job published elsewhere when it wrote its state, or the "
        + "state is so old that the blobs were deleted \\(restore the blobs, or start without "
        + "state\\)";
  }

  @Tag("slow")
  @Test
  void blobsAreLookedForUntilTheFirstManifestWhateverFailsBefore() throws Exception {
    createAccepted("failed");
    JobClient job = submit(kafkaOptions("failed", "there"), new Configuration());
    sendAccepted("failed", 1, 4);
    awaitSequence("there", 3);
    String savepoint = cluster.stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);

    JobClient moved = submit(kafkaOptions("failed", "nowhere"), fromSavepoint(savepoint));
    cluster.triggerCheckpoint(moved);
    cluster.replaceTaskManager();
    sendAccepted("failed", 5, 6);
    assertThat(failure(moved)).matches(missingBlobs("nowhere"));
    assertThat(manifests("nowhere")).isEmpty();
  }

  /** As in application mode, where the cluster's id gives the job its id. */
  @Tag("slow")
  @Test
  void theSameIdIsNoReasonToGoBack() throws Exception {
    createAccepted("named");
    Configuration settings = new Configuration();
    settings.set(PipelineOptionsInternal.PIPELINE_FIXED_JOB_ID, "0123456789abcdef".repeat(2));
    JobClient job = submit(kafkaOptions("named", "back"), settings);
    sendAccepted("named", 1, 4);
    awaitSequence("back", 3);
    String old = job.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
    sendAccepted("named", 5, 6);
    awaitSequence("back", 5);
    cancel(job);

    settings.addAll(fromSavepoint(old));
    try (EmbeddedCluster another = another("again")) {
      JobClient back = submitSnapshots(another, kafkaOptions("named", "back"), settings);
      assertThat(back.getJobID()).isEqualTo(job.getJobID());
      assertThat(failure(back))
          .contains("it has manifests up to sequence 5, ", " continues after sequence 3, ");
    }
    if (Integer.getInteger("firstseen.scale", 1) == 1) {
      return;
    }
    try (EmbeddedCluster another = another("taken-over")) {
      JobClient back =
          submitSnapshots(another, kafkaOptions("named", "back", "--take-over"), settings);
      assertThat(back.getJobID()).isEqualTo(job.getJobID());
      // Events 5 and 6 are read again, and one of their windows has ended.
      awaitSequence("back", 7);
      cancel(back);
    }
  }

  private static EmbeddedCluster another(String name) throws Exception {
    return EmbeddedCluster.start(directory.resolve(name), EmbeddedCluster.Settings.defaults());
  }

  @Tag("slow")
  @Test
  void aFailureIsNoTakeOver() throws Exception {
    createAccepted("failing");
    JobClient job = submit(kafkaOptions("failing", "mine"), new Configuration());
    sendAccepted("failing", 1, 4);
    awaitSequence("mine", 3);
    cluster.replaceTaskManager();
    sendAccepted("failing", 5, 6);
    assertThat(awaitSequence("mine", 5)).containsExactly(1L, 2L, 3L, 4L, 5L);
    assertThat(topics.read("mine", READ_UNCOMMITTED)).isNotEmpty();
    cancel(job);
  }
}
