package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.SharedBroker;
import io.firstseen.jobs.kafka.WrittenOutcomes.OutcomeShards;
import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.types.Either;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tasks of {@link OneWriterOperator}, each in a harness of Flink, with a real topic of claims. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class OneWriterOperatorTest {
  private static final int TASKS = 2;

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  private final String name = SharedBroker.unused("claims");
  private final KafkaOptions kafka =
      KafkaOptions.parse(
          "--bootstrap-servers=" + KAFKA.servers(),
          "--accepted-topic=" + name + ".accepted",
          "--duplicates-topic=" + name + ".duplicates");

  private OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>> task(
      JobID job, int index) throws Exception {
    OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>> harness =
        harness(new OneWriterOperator(claim(), OutcomeShards.ONE), job, index);
    harness.open();
    return harness;
  }

  private OutputClaim claim() {
    return claim(JobIdentity.ofDedup(kafka, JobOptions.parse()));
  }

  private OutputClaim claim(JobIdentity identity) {
    return new OutputClaim(
        kafka.clientProperties(),
        kafka.topics().claimsTopic(),
        kafka.topics().outputTopic(),
        "outcomes",
        name,
        false,
        PublisherLine.NEW,
        identity,
        Set.of(),
        KafkaSinks.outcomeTopics(kafka),
        new OutputTopics(Map.of(), true, 0));
  }

  private static OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>>
      harness(
          OneInputStreamOperator<Outcome, Either<Outcome, Tuple2<String, String>>> operator,
          JobID job,
          int index)
          throws Exception {
    OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>> harness =
        new OneInputStreamOperatorTestHarness<>(
            operator,
            new MockEnvironmentBuilder()
                .setJobID(job)
                .setParallelism(TASKS)
                .setMaxParallelism(TASKS)
                .setSubtaskIndex(index)
                .build());
    harness.setup(OneWriterOperator.OUTPUT.createSerializer(new SerializerConfigImpl()));
    return harness;
  }

  /** The state of the operator in 0.1.0, which had neither options nor topics. */
  private static final class StateOfFirstRelease
      extends AbstractStreamOperator<Either<Outcome, Tuple2<String, String>>>
      implements OneInputStreamOperator<Outcome, Either<Outcome, Tuple2<String, String>>> {
    private final String claim;

    StateOfFirstRelease(String claim) {
      this.claim = claim;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
      super.initializeState(context);
      context
          .getOperatorStateStore()
          .getUnionListState(
              new ListStateDescriptor<>(
                  "writer", Types.TUPLE(Types.LIST(Types.STRING), Types.LIST(Types.STRING))))
          .add(Tuple2.of(List.of(claim), List.of("0-0 events-0@7")));
    }

    @Override
    public void processElement(StreamRecord<Outcome> element) {}
  }

  @BeforeEach
  void createTopics() {
    KAFKA
        .broker()
        .createTopics(
            List.of(
                new NewTopic(kafka.topics().claimsTopic(), 1, (short) 1),
                new NewTopic(kafka.topics().acceptedTopic(), 1, (short) 1),
                new NewTopic(kafka.topics().duplicatesTopic(), 1, (short) 1)));
  }

  @Test
  void stateOfTheFirstReleaseIsContinuedAndTheOptionsAreRecorded() throws Exception {
    JobID first = JobID.generate();
    OperatorSubtaskState state;
    try (OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>>
        before = harness(new StateOfFirstRelease(claim().of(first)), first, 0)) {
      before.open();
      state = before.snapshot(1, 1);
    }
    JobID second = JobID.generate();
    try (OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>> task =
        harness(new OneWriterOperator(claim(), OutcomeShards.ONE), second, 0)) {
      task.initializeState(state);
      task.open();
      task.processElement(accepted("a", new Place("events", 0, 8)), 1);
      task.prepareSnapshotPreBarrier(2);
      assertThat(task.extractOutputValues())
          .extracting(Either::isLeft)
          .containsExactly(true, false);
      state = task.snapshot(2, 2);
    }
    try (ClaimsTail tail =
        new ClaimsTail(
            kafka.clientProperties(), kafka.topics().claimsTopic(), kafka.topics().outputTopic())) {
      tail.readToEnd();
      assertThat(tail.newest).contains(claim().of(second));
      assertThat(tail.identity).contains(claim().identity());
    }
    // The options are also in the state: different options are rejected.
    KafkaOptions other =
        KafkaOptions.parse(
            "--bootstrap-servers=" + KAFKA.servers(),
            "--accepted-topic=" + kafka.topics().acceptedTopic(),
            "--duplicates-topic=" + kafka.topics().duplicatesTopic(),
            "--scope-from-topic");
    OutputClaim changed = claim(JobIdentity.ofDedup(other, JobOptions.parse()));
    OperatorSubtaskState restored = state;
    try (OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>> task =
        harness(new OneWriterOperator(changed, OutcomeShards.ONE), JobID.generate(), 0)) {
      assertThatThrownBy(() -> task.initializeState(restored))
          .hasStackTraceContaining("scope-from-topic");
    }
  }

  private static Outcome accepted(String key, Place place) {
    return Outcome.of(
        Outcome.Kind.ACCEPTED,
        key.getBytes(UTF_8),
        SourceEvent.of(Operation.ADD, null, key.getBytes(UTF_8), new byte[0], 1, place));
  }

  /** Writes what the sink would commit at a checkpoint. */
  private void commit(List<Either<Outcome, Tuple2<String, String>>> passed) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            kafka.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer())) {
      OutcomeRecords records = KafkaSinks.records(kafka);
      for (Either<Outcome, Tuple2<String, String>> each : passed) {
        for (OutcomeRecords.Part part : records.parts(each)) {
          producer.send(records.serialize(part, null, 0L)).get();
        }
      }
    }
  }

  @Test
  void oneOfTwoJobsThatClaimTheOutputAtTheSameTimeBegins() throws Exception {
    ClaimedOutput.State none =
        new ClaimedOutput.State(false, PublisherLine.NEW, new WrittenOffsets(1), 0);
    List<String> jobs = List.of(claim().of(JobID.generate()), claim().of(JobID.generate()));
    CyclicBarrier both = new CyclicBarrier(2);
    List<CompletableFuture<Void>> begun = new ArrayList<>();
    for (String job : jobs) {
      begun.add(
          CompletableFuture.runAsync(
              () -> {
                try (ClaimedOutput output =
                    new ClaimedOutput(claim(), job, new TaskInfoImpl("sink", 1, 0, 1, 0), none)) {
                  both.await();
                  output.begin(Map.of());
                } catch (InterruptedException | BrokenBarrierException e) {
                  throw new CompletionException(e);
                }
              }));
    }
    String first;
    try (ClaimsTail tail =
        new ClaimsTail(
            kafka.clientProperties(), kafka.topics().claimsTopic(), kafka.topics().outputTopic())) {
      assertThatThrownBy(
              () -> CompletableFuture.allOf(begun.toArray(new CompletableFuture<?>[0])).join())
          .hasMessageContaining("is not this job's");
      tail.readToEnd();
      first = tail.newest.orElseThrow();
    }
    assertThat(begun.get(jobs.indexOf(first))).isCompleted();
    assertThat(begun.get(1 - jobs.indexOf(first))).isCompletedExceptionally();
    // Compaction keeps the last claim.
    assertThat(lastClaim()).isEqualTo(first);
  }

  private String lastClaim() {
    List<String> values = new ArrayList<>();
    try (TailReader reader =
        new TailReader(
            kafka.clientProperties(),
            IsolationLevel.READ_UNCOMMITTED,
            kafka.topics().claimsTopic())) {
      reader.startAt(List.of(new TopicPartition(kafka.topics().claimsTopic(), 0)));
      String key = OutputClaim.claimKey(kafka.topics().outputTopic());
      reader.readToEnd(
          record -> {
            if (key.equals(new String(record.key(), UTF_8))) {
              values.add(new String(record.value(), UTF_8));
            }
          });
    }
    return values.get(values.size() - 1);
  }

  @Test
  void theFirstOfTwoClaimsAtTheSameTimeIsValid() throws Exception {
    ClaimedOutput.State none =
        new ClaimedOutput.State(false, PublisherLine.NEW, new WrittenOffsets(1), 0);
    String first = claim().of(JobID.generate());
    String second = claim().of(JobID.generate());
    try (ClaimedOutput early =
            new ClaimedOutput(claim(), first, new TaskInfoImpl("sink", 1, 0, 1, 0), none);
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(
                kafka.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer());
        ClaimsTail tail =
            new ClaimsTail(
                kafka.clientProperties(),
                kafka.topics().claimsTopic(),
                kafka.topics().outputTopic())) {
      early.begin(Map.of());
      // The second job has read the topic before the first one wrote its claim.
      ProducerRecord<byte[], byte[]> late =
          new ProducerRecord<>(
              kafka.topics().claimsTopic(),
              0,
              OutputClaim.claimKey(kafka.topics().outputTopic()).getBytes(UTF_8),
              second.getBytes(UTF_8));
      late.headers().add(ClaimsTail.AFTER, new byte[0]);
      producer.send(late).get();
      tail.readToEnd();
      assertThat(tail.newest).contains(first);
      assertThat(tail.all).containsExactly(first);
      early.begin(Map.of());
    }
  }

  @Test
  void aTaskWhoseFirstEventComesAfterACommitOfAnotherTaskBegins() throws Exception {
    JobID job = JobID.generate();
    try (OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>> early =
            task(job, 0);
        OneInputStreamOperatorTestHarness<Outcome, Either<Outcome, Tuple2<String, String>>> late =
            task(job, 1)) {
      // The barrier passes the second task before the first event claims the output.
      late.prepareSnapshotPreBarrier(1);
      early.processElement(accepted("a", new Place("events", 0, 0)), 1);
      early.prepareSnapshotPreBarrier(1);
      commit(early.extractOutputValues());

      late.processElement(accepted("b", new Place("events", 1, 0)), 1);
      late.prepareSnapshotPreBarrier(2);
      assertThat(late.extractOutputValues())
          .extracting(Either::isLeft)
          .containsExactly(true, false);
    }
  }
}
