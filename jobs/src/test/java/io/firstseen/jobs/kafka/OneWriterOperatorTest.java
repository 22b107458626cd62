package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.testing.SharedBroker;
import io.firstseen.types.Operation;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
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

  private OneInputStreamOperatorTestHarness<Outcome, Outcome> task(JobID job, int index)
      throws Exception {
    OutputClaim claim =
        new OutputClaim(
            kafka.clientProperties(),
            kafka.topics().claimsTopic(),
            kafka.topics().outputTopic(),
            "outcomes",
            name,
            name,
            false,
            PublisherLine.NEW,
            JobIdentity.ofDedup(kafka, JobOptions.parse()),
            Set.of(),
            KafkaSinks.outcomeTopics(kafka));
    OneInputStreamOperatorTestHarness<Outcome, Outcome> harness =
        new OneInputStreamOperatorTestHarness<>(
            new OneWriterOperator(claim, 1, null),
            new MockEnvironmentBuilder()
                .setJobID(job)
                .setParallelism(TASKS)
                .setMaxParallelism(TASKS)
                .setSubtaskIndex(index)
                .build());
    harness.open();
    return harness;
  }

  private static Outcome accepted(String key, Place place) {
    return Outcome.of(
        Outcome.Kind.ACCEPTED,
        key.getBytes(UTF_8),
        SourceEvent.of(Operation.ADD, null, key.getBytes(UTF_8), new byte[0], 1, place));
  }

  /** Writes what the sink would commit at a checkpoint. */
  private void commit(List<Outcome> passed) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            kafka.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (Outcome each : passed) {
        if (each.kind() == Outcome.Kind.WRITTEN) {
          producer
              .send(
                  new ProducerRecord<>(
                      kafka.topics().claimsTopic(), 0, each.canonicalKey(), each.event().payload()))
              .get();
        }
      }
    }
  }

  @Test
  void aTaskWhoseFirstEventComesAfterACommitOfAnotherTaskBegins() throws Exception {
    KAFKA
        .broker()
        .createTopics(
            List.of(
                new NewTopic(kafka.topics().claimsTopic(), 1, (short) 1),
                new NewTopic(kafka.topics().acceptedTopic(), 1, (short) 1),
                new NewTopic(kafka.topics().duplicatesTopic(), 1, (short) 1)));
    JobID job = JobID.generate();
    try (OneInputStreamOperatorTestHarness<Outcome, Outcome> early = task(job, 0);
        OneInputStreamOperatorTestHarness<Outcome, Outcome> late = task(job, 1)) {
      // The barrier passes the second task before the first event claims the output.
      late.prepareSnapshotPreBarrier(1);
      early.processElement(accepted("a", new Place("events", 0, 0)), 1);
      early.prepareSnapshotPreBarrier(1);
      commit(early.extractOutputValues());

      late.processElement(accepted("b", new Place("events", 1, 0)), 1);
      late.prepareSnapshotPreBarrier(2);
      assertThat(late.extractOutputValues())
          .extracting(Outcome::kind)
          .containsExactly(Outcome.Kind.ACCEPTED, Outcome.Kind.WRITTEN);
    }
  }
}
