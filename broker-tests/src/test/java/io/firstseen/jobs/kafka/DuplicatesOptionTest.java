package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.fixtures.EventStream;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.OutcomeCounts;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.serializers.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@code --duplicates} writes, and that all is counted whatever is written. */
class DuplicatesOptionTest {
  private static final int KEYS = 1_000;

  @RegisterExtension private static final SharedBroker BROKER = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  @ParameterizedTest
  @EnumSource(names = {"NONE", "SAMPLE"})
  void repeatsAreWrittenAsTheOptionSaysAndAllAreCounted(Duplicates which) throws Exception {
    assertWrittenAndCounted(which);
  }

  @Tag("slow")
  @Test
  void soAreThoseOfATopicOfAllRepeats() throws Exception {
    assertWrittenAndCounted(Duplicates.TOPIC);
  }

  private static void assertWrittenAndCounted(Duplicates which) throws Exception {
    EmbeddedBroker kafka = BROKER.broker();
    String name = SharedBroker.unused("repeats");
    kafka.createTopics(List.of(new NewTopic(name + ".events", 1, (short) 1)));
    List<String> keys = IntStream.range(0, KEYS).mapToObj(i -> "key-" + i).toList();
    EventStream stream = new EventStream(23, 1);
    List<String> events = new ArrayList<>(stream.adds(keys));
    events.addAll(stream.adds(keys));
    String unknown = "{\"ts\":1700000000000,\"op\":\"delete\",\"key\":\"stranger-%d\"}";
    IntStream.range(0, 7).forEach(i -> events.add(unknown.formatted(i)));
    try (TopicIo topics = new TopicIo(kafka.bootstrapServers())) {
      topics.send(name + ".events", 1, events);
      StreamExecutionEnvironment env = FLINK.environment();
      KafkaOptions options =
          KafkaOptions.parse(
              "--bootstrap-servers=" + kafka.bootstrapServers(),
              "--transactional-id-prefix=" + name,
              "--events-topic=" + name + ".events",
              "--accepted-topic=" + name + ".accepted",
              "--duplicates-topic=" + name + ".duplicates",
              "--duplicates=" + which.name().toLowerCase(Locale.ROOT),
              "--dead-letters-topic=" + name + ".dead-letters");
      JobMain.buildOnKafka(
          env,
          Job.DEDUP,
          options.stopAt(topics.ends(name + ".events")),
          JobOptions.parse("--fpr=0.0000001", "--capacity=100000"));
      Map<Outcome.Kind, Long> counts = OutcomeCounts.of(env.execute().getAllAccumulatorResults());

      assertThat(counts)
          .containsEntry(Outcome.Kind.ACCEPTED, (long) KEYS)
          .containsEntry(Outcome.Kind.DUPLICATE, (long) KEYS)
          .containsEntry(Outcome.Kind.UNKNOWN_DELETE, 7L);
      assertThat(topics.readCommitted(name + ".accepted")).hasSize(KEYS);
      assertThat(topics.exists(name + ".duplicates")).isEqualTo(which != Duplicates.NONE);
      if (which != Duplicates.NONE) {
        List<String> written =
            topics.readCommitted(name + ".duplicates").stream()
                .map(record -> new String(record.key(), UTF_8))
                .toList();
        Stream<String> absentKeys = IntStream.range(0, 7).mapToObj(i -> "stranger-" + i);
        List<String> sample =
            keys.stream().filter(key -> which == Duplicates.TOPIC || isInSample(key)).toList();
        assertThat(sample.size()).isIn(KEYS, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        assertThat(written)
            .containsExactlyElementsOf(Stream.concat(sample.stream(), absentKeys).toList());
      }
    }
  }

  /** The rule in {@code docs/operations/your-topics.md}. */
  private static boolean isInSample(String key) {
    return Long.remainderUnsigned(KeyHash.fixed().hash(key.getBytes(UTF_8)), 100) == 0;
  }
}
