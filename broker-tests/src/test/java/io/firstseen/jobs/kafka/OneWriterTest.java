package io.firstseen.jobs.kafka;

import static io.firstseen.jobs.kafka.TestJobs.NEVER;
import static io.firstseen.jobs.kafka.TestJobs.cancel;
import static io.firstseen.jobs.kafka.TestJobs.failure;
import static io.firstseen.jobs.kafka.TestJobs.fromSavepoint;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.fixtures.EventStream;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptionsInternal;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One output of a dedup, one job that writes it; and changing the job while both run. */
class OneWriterTest {
  private static final int KEYS = 500;

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  @TempDir private static Path directory;
  private static EmbeddedBroker kafka;
  private static EmbeddedCluster cluster;
  private static TopicIo topics;

  private final Model model = new Model();
  private EventStream stream;
  private String name;
  private int partitions;

  /** The records of all outputs, if every event has its outcome once. */
  private static final class Model {
    // Of each key; null for a removal.
    final Map<String, List<String>> accepted = new LinkedHashMap<>();
    final List<String> repeats = new ArrayList<>();
    int changes;
    int deadLetters;

    void apply(List<String> events) {
      for (String event : events) {
        String key = EventStream.keyOf(event);
        if (key.equals(event)) {
          deadLetters++;
          continue;
        }
        List<String> ofKey = accepted.computeIfAbsent(key, k -> new ArrayList<>());
        boolean isLive = !ofKey.isEmpty() && ofKey.get(ofKey.size() - 1) != null;
        boolean isAdd = event.contains("\"op\":\"add\"");
        if (isAdd == isLive) {
          repeats.add(event);
        } else {
          ofKey.add(isAdd ? event : null);
          changes++;
        }
      }
    }
  }

  @BeforeAll
  static void start() throws Exception {
    kafka = KAFKA.broker();
    cluster = FLINK.cluster();
    topics = new TopicIo(kafka.bootstrapServers());
  }

  @AfterAll
  static void stop() {
    topics.close();
  }

  private void begin(long seed, int ofPartitions) {
    stream = new EventStream(seed, KEYS);
    name = SharedBroker.unused("writer");
    partitions = ofPartitions;
    kafka.createTopics(List.of(new NewTopic(name + ".events", partitions, (short) 1)));
  }

  private JobClient submit(
      int parallelism, Duration checkpointInterval, Configuration settings, String... more)
      throws Exception {
    KafkaOptions options =
        TestJobs.kafkaOptions(
            kafka.bootstrapServers(),
            checkpointInterval,
            List.of(
                "--transactional-id-prefix=" + name,
                "--events-topic=" + name + ".events",
                "--accepted-topic=" + name + ".accepted",
                "--duplicates-topic=" + name + ".duplicates",
                "--dead-letters-topic=" + name + ".dead-letters"),
            more);
    StreamExecutionEnvironment env = cluster.environment(settings);
    // At this rate none of these few keys is dropped, so the exact model applies.
    JobMain.buildOnKafka(
        env,
        Job.DEDUP,
        options,
        JobOptions.parse("--fpr=0.0000001", "--capacity=100000", "--parallelism=" + parallelism));
    return TestJobs.execute(env, options);
  }

  /** Sends events, and applies them to the model. */
  private void send(int count) throws Exception {
    List<String> events = stream.next(count);
    model.apply(events);
    topics.send(name + ".events", partitions, events);
  }

  private void awaitAccepted(int extra) throws Exception {
    topics.await(name + ".accepted", READ_UNCOMMITTED, model.changes + extra);
  }

  private static String savepoint(JobClient job) throws Exception {
    return job.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
  }

  private String refusal(String reason) {
    return "the output on topic %s.accepted is not this job's: %s".formatted(name, reason);
  }

  /** Waits for all outcomes, ends the job, and compares what is committed with the model. */
  private void assertEachOutcomeIsThereOnce(JobClient job) throws Exception {
    topics.readUntil(
        name + ".accepted", READ_COMMITTED, records -> records.size() >= model.changes);
    topics.readUntil(
        name + ".duplicates", READ_COMMITTED, records -> records.size() >= model.repeats.size());
    topics.readUntil(
        name + ".dead-letters", READ_COMMITTED, records -> records.size() >= model.deadLetters);
    cluster.stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);
    Map<String, List<String>> accepted = new LinkedHashMap<>();
    for (ConsumerRecord<byte[], byte[]> record : topics.readCommitted(name + ".accepted")) {
      accepted
          .computeIfAbsent(new String(record.key(), UTF_8), k -> new ArrayList<>())
          .add(text(record));
    }
    assertThat(accepted.values())
        .containsExactlyInAnyOrderElementsOf(
            model.accepted.values().stream().filter(each -> !each.isEmpty()).toList());
    assertThat(
            topics.readCommitted(name + ".duplicates").stream()
                .map(OneWriterTest::text)
                .sorted()
                .toList())
        .isEqualTo(model.repeats.stream().sorted().toList());
    Set<String> places = new HashSet<>();
    for (ConsumerRecord<byte[], byte[]> record : topics.readCommitted(name + ".dead-letters")) {
      places.add(new String(record.headers().lastHeader("firstseen.place").value(), UTF_8));
    }
    assertThat(places).hasSize(model.deadLetters);
    assertThat(topics.readCommitted(name + ".dead-letters")).hasSize(model.deadLetters);
  }

  private static String text(ConsumerRecord<byte[], byte[]> record) {
    return record.value() == null ? null : new String(record.value(), UTF_8);
  }

  @Tag("slow")
  @Test
  void greenTakesOverFromBlueUnderLoadWithoutADoubleOrALoss() throws Exception {
    takeOverUnderLoad(3);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void soItDoesAtOtherParallelisms(int parallelism) throws Exception {
    takeOverUnderLoad(parallelism);
  }

  /** Blue runs on after its savepoint, and commits; green begins at the savepoint. */
  private void takeOverUnderLoad(int parallelism) throws Exception {
    begin(31, 2);
    JobClient blue = submit(2, TestJobs.OFTEN, new Configuration());
    AtomicBoolean isOver = new AtomicBoolean();
    CompletableFuture<Void> load =
        CompletableFuture.runAsync(
            () -> {
              try {
                while (!isOver.get()) {
                  send(50);
                }
              } catch (Exception e) {
                throw new AssertionError(e);
              }
            });
    String savepoint;
    JobClient green;
    try {
      awaitCommitted(1);
      savepoint = savepoint(blue);
      // Blue has committed more than is in the savepoint.
      awaitCommitted(topics.read(name + ".accepted", READ_UNCOMMITTED).size() + 1);
      green = submit(parallelism, TestJobs.OFTEN, fromSavepoint(savepoint), "--take-over");
      assertThat(failure(blue))
          .isEqualTo(refusal("job %s has taken it over".formatted(green.getJobID())));
      awaitCommitted(topics.read(name + ".accepted", READ_UNCOMMITTED).size() + 1);
      cluster.replaceTaskManager();
      cluster.awaitRunning(green);
    } finally {
      isOver.set(true);
      load.join();
    }
    assertEachOutcomeIsThereOnce(green);
  }

  private void awaitCommitted(int count) throws Exception {
    topics.readUntil(name + ".accepted", READ_COMMITTED, records -> records.size() >= count);
  }

  @Test
  void stateThatIsOlderThanTheOutputIsRefusedAndTheOtherJobGoesOn() throws Exception {
    begin(32, 1);
    JobClient blue = submit(1, NEVER, new Configuration());
    send(400);
    awaitAccepted(0);
    cluster.triggerCheckpoint(blue);
    String savepoint = savepoint(blue);
    send(400);
    awaitAccepted(0);
    cluster.triggerCheckpoint(blue);
    topics.await(name + ".accepted", READ_COMMITTED, model.changes);

    assertThat(failure(submit(1, NEVER, fromSavepoint(savepoint))))
        .matches(
            refusal(
                "it has outcomes of events up to %1$s.events-0@\\d+, of job %2$s, and this job continues"
                        .formatted(name, blue.getJobID())
                    + " after %1$s.events-0@\\d+, of job %2$s \\(write to other topics, start from the newest state of that job, or start this job with --take-over\\)"
                        .formatted(name, blue.getJobID())));
    assertThat(failure(submit(1, NEVER, new Configuration())))
        .contains(", of job %s, and this job has no state of it (".formatted(blue.getJobID()));

    send(400);
    awaitAccepted(0);
    cluster.triggerCheckpoint(blue);
    topics.await(name + ".accepted", READ_COMMITTED, model.changes);

    JobClient green = submit(1, NEVER, fromSavepoint(savepoint), "--take-over");
    cluster.awaitRunning(green);
    cluster.triggerCheckpoint(green);
    send(400);
    awaitAccepted(0);
    cluster.triggerCheckpoint(green);
    assertEachOutcomeIsThereOnce(green);
  }

  /** It has no transaction that could be aborted, and Kafka lets it begin one. */
  @Tag("slow")
  @Test
  void anIdleJobIsFoundOutAtItsNextCommit() throws Exception {
    begin(36, 1);
    JobClient idle = submit(1, NEVER, new Configuration());
    send(400);
    awaitAccepted(0);
    cluster.triggerCheckpoint(idle);
    topics.await(name + ".accepted", READ_COMMITTED, model.changes);

    int before = model.changes;
    JobClient anew = submit(1, NEVER, new Configuration(), "--take-over");
    awaitAccepted(before);
    send(400);
    awaitAccepted(model.changes);
    var unused = savepointOrNothing(idle);
    assertThat(failure(idle))
        .isEqualTo(refusal("job %s has taken it over".formatted(anew.getJobID())));
    cluster.triggerCheckpoint(anew);
    topics.await(name + ".accepted", READ_COMMITTED, before + model.changes);
    cancel(anew);
  }

  /** The transaction of an intermediate savepoint stays open until the next checkpoint. */
  @Tag("slow")
  @Test
  void whatBlueHasUnderWayIsAbortedAndWrittenByGreen() throws Exception {
    begin(33, 1);
    JobClient blue = submit(1, NEVER, new Configuration());
    send(400);
    awaitAccepted(0);
    String savepoint = savepoint(blue);
    int atSavepoint = model.changes;
    send(400);
    awaitAccepted(0);
    savepoint(blue);
    send(400);
    awaitAccepted(0);

    JobClient green = submit(1, NEVER, fromSavepoint(savepoint), "--take-over");
    awaitAccepted(model.changes - atSavepoint);
    cluster.triggerCheckpoint(green);
    topics.await(name + ".accepted", READ_COMMITTED, model.changes);
    var unused = savepointOrNothing(blue);
    assertThat(failure(blue))
        .isEqualTo(refusal("job %s has taken it over".formatted(green.getJobID())));
    assertEachOutcomeIsThereOnce(green);
  }

  /** As one that fails at its first event: the next one starts without --take-over. */
  @Tag("slow")
  @Test
  void aNewJobWithoutEventsHasClaimedNothing() throws Exception {
    begin(8, 1);
    JobClient first = submit(1, NEVER, new Configuration());
    cluster.triggerCheckpoint(first);
    cancel(first);
    JobClient second = submit(1, Duration.ofMillis(300), new Configuration());
    send(20);
    awaitAccepted(0);
    assertEachOutcomeIsThereOnce(second);
  }

  /** Its sink of dead letters has written nothing, but knows the claim of the other sink. */
  @Tag("slow")
  @Test
  void aJobWithoutDeadLettersGoesOnFromItsState() throws Exception {
    begin(9, 1);
    JobClient first = submit(1, Duration.ofMillis(300), new Configuration());
    sendWithoutDeadLetters(20);
    topics.await(name + ".accepted", READ_COMMITTED, model.changes);
    String savepoint = cluster.stopWithSavepoint(first, SavepointFormatType.CANONICAL, false);
    JobClient second = submit(1, Duration.ofMillis(300), fromSavepoint(savepoint));
    sendWithoutDeadLetters(20);
    assertEachOutcomeIsThereOnce(second);
  }

  private void sendWithoutDeadLetters(int count) throws Exception {
    List<String> events =
        stream.next(count).stream()
            .filter(event -> !EventStream.keyOf(event).equals(event))
            .toList();
    model.apply(events);
    topics.send(name + ".events", partitions, events);
  }

  private static CompletableFuture<String> savepointOrNothing(JobClient job) {
    return job.triggerSavepoint(null, SavepointFormatType.CANONICAL);
  }

  @Test
  void ofTwoJobsFromOneSavepointTheSecondIsRefused() throws Exception {
    begin(34, 1);
    JobClient blue = submit(1, NEVER, new Configuration());
    send(400);
    awaitAccepted(0);
    String savepoint = cluster.stopWithSavepoint(blue, SavepointFormatType.CANONICAL, false);

    JobClient first = submit(1, NEVER, fromSavepoint(savepoint));
    send(400);
    awaitAccepted(0);
    assertThat(failure(submit(1, NEVER, fromSavepoint(savepoint))))
        .contains(
            "it has a claim without outcomes since, of job %s, and this job continues after "
                .formatted(first.getJobID()));
    cluster.triggerCheckpoint(first);
    assertEachOutcomeIsThereOnce(first);
  }

  /** As jobs with high availability have in application mode: the claim is its own already. */
  @Tag("slow")
  @Test
  void aJobWithAFixedIdThatTakesOverItsOwnOutputFromOlderStateWritesNothingTwice()
      throws Exception {
    begin(37, 1);
    Configuration fixedId =
        new Configuration()
            .set(PipelineOptionsInternal.PIPELINE_FIXED_JOB_ID, JobID.generate().toString());
    JobClient job = submit(1, NEVER, fixedId);
    send(400);
    awaitAccepted(0);
    cluster.triggerCheckpoint(job);
    String savepoint = savepoint(job);
    send(400);
    awaitAccepted(0);
    cluster.triggerCheckpoint(job);
    topics.await(name + ".accepted", READ_COMMITTED, model.changes);
    cancel(job);

    EmbeddedCluster before = cluster;
    try (EmbeddedCluster another =
        EmbeddedCluster.start(directory.resolve("another"), EmbeddedCluster.Settings.defaults())) {
      cluster = another;
      Configuration settings = fromSavepoint(savepoint);
      settings.addAll(fixedId);
      JobClient again = submit(1, NEVER, settings, "--take-over");
      assertThat(again.getJobID()).isEqualTo(job.getJobID());
      cluster.awaitRunning(again);
      cluster.triggerCheckpoint(again);
      send(400);
      awaitAccepted(0);
      cluster.triggerCheckpoint(again);
      assertEachOutcomeIsThereOnce(again);
    } finally {
      cluster = before;
    }
  }

  /** What it has to do with the output before, nobody knows: it writes all outcomes. */
  @Tag("slow")
  @Test
  void aJobWithoutStateThatTakesOverBeginsAnew() throws Exception {
    begin(35, 1);
    JobClient older = submit(1, NEVER, new Configuration());
    send(300);
    awaitAccepted(0);
    cluster.stopWithSavepoint(older, SavepointFormatType.CANONICAL, false);
    JobClient anew = submit(1, NEVER, new Configuration(), "--take-over");
    topics.await(name + ".accepted", READ_UNCOMMITTED, 2 * model.changes);
    String savepoint = cluster.stopWithSavepoint(anew, SavepointFormatType.CANONICAL, false);
    JobClient next = submit(1, NEVER, fromSavepoint(savepoint));
    int before = model.changes;
    send(300);
    topics.await(name + ".accepted", READ_UNCOMMITTED, before + model.changes);
    cancel(next);
  }
}
