package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.fixtures.EventStream;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Events of several topics, listed or by a pattern. */
class SeveralTopicsTest {

  @RegisterExtension private static final SharedBroker BROKER = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  private final String name = SharedBroker.unused("several");

  private KafkaOptions options(String... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "--bootstrap-servers=" + BROKER.servers(),
                "--transactional-id-prefix=" + name,
                "--accepted-topic=" + name + ".accepted",
                "--duplicates-topic=" + name + ".duplicates",
                "--dead-letters-topic=" + name + ".dead-letters"));
    words.addAll(List.of(more));
    return KafkaOptions.parse(words.toArray(String[]::new));
  }

  private void create(String topic, int partitions) {
    BROKER.broker().createTopics(List.of(new NewTopic(name + topic, partitions, (short) 1)));
  }

  private static JobOptions job() {
    return JobOptions.parse("--fpr=0.0000001", "--capacity=100000");
  }

  private static List<String> keys(TopicIo topics, String topic) throws Exception {
    return topics.readCommitted(topic).stream()
        .map(record -> new String(record.key(), UTF_8))
        .sorted()
        .toList();
  }

  private static String scoped(String scope, String key) throws Exception {
    return new String(ScopedKey.join(scope.getBytes(UTF_8), key.getBytes(UTF_8)), UTF_8);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void keysOfTwoTopicsAreOneSetOrOneForEachTopic(boolean apart) throws Exception {
    create(".a", 2);
    create(".b", 3);
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      EventStream stream = new EventStream(71, 100);
      topics.send(name + ".a", 2, stream.adds(List.of("x", "y", "x")));
      topics.send(name + ".b", 3, stream.adds(List.of("y", "z", "z")));
      Map<TopicPartition, Long> ends = new HashMap<>(topics.ends(name + ".a"));
      ends.putAll(topics.ends(name + ".b"));
      String list = "--events-topic=" + name + ".a," + name + ".b";
      KafkaOptions options = apart ? options(list, "--scope-from-topic") : options(list);
      StreamExecutionEnvironment env = FLINK.environment();
      JobMain.buildOnKafka(env, Job.DEDUP, options.stopAt(ends), job());
      env.execute();

      Stream<String> accepted =
          apart
              ? Stream.of(
                  scoped(name + ".a", "x"),
                  scoped(name + ".a", "y"),
                  scoped(name + ".b", "y"),
                  scoped(name + ".b", "z"))
              : Stream.of("x", "y", "z");
      assertThat(keys(topics, name + ".accepted")).containsExactlyElementsOf(accepted.toList());
      assertThat(topics.readCommitted(name + ".duplicates")).hasSize(apart ? 2 : 3);
      // As many partitions as the topic that has most.
      assertThat(topics.ends(name + ".accepted")).hasSize(3);
    }
  }

  @Test
  void topicsThatMatchAreReadAlsoThoseThatAreMadeLater() throws Exception {
    create(".in.a", 1);
    create(".other", 1);
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      EventStream stream = new EventStream(72, 100);
      topics.send(name + ".in.a", 1, stream.adds(List.of("x")));
      topics.send(name + ".other", 1, stream.adds(List.of("w")));
      StreamExecutionEnvironment env = FLINK.environment();
      JobMain.buildOnKafka(
          env,
          Job.DEDUP,
          options(
              "--events-topic-pattern=" + Pattern.quote(name) + "\\.in\\..*",
              "--kafka-property=partition.discovery.interval.ms=100",
              "--scope-from-topic"),
          job());
      env.executeAsync(name);
      topics.await(name + ".accepted", READ_UNCOMMITTED, 1);

      create(".in.b", 1);
      topics.send(name + ".in.b", 1, stream.adds(List.of("x", "y", "x")));
      topics.await(name + ".accepted", READ_UNCOMMITTED, 3);
      assertThat(topics.read(name + ".accepted", READ_UNCOMMITTED))
          .extracting(record -> new String(record.key(), UTF_8))
          .containsExactlyInAnyOrder(
              scoped(name + ".in.a", "x"),
              scoped(name + ".in.b", "x"),
              scoped(name + ".in.b", "y"));
    }
  }

  @Test
  void recordsOfSeveralTopicsArePassedOnToTheirPartitions() throws Exception {
    create(".a", 1);
    create(".b", 2);
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      EventStream stream = new EventStream(73, 100);
      List<String> ofA = stream.adds(List.of("x", "y"));
      topics.send(name + ".a", 1, ofA);
      topics.send(name + ".b", 2, stream.adds(List.of("p", "q", "r", "s")));
      Map<TopicPartition, Long> ends = new HashMap<>(topics.ends(name + ".a"));
      ends.putAll(topics.ends(name + ".b"));
      StreamExecutionEnvironment env = FLINK.environment();
      JobMain.buildOnKafka(
          env,
          Job.DEDUP,
          options(
                  "--events-topic=" + name + ".a," + name + ".b",
                  "--output=record",
                  "--records-topic=" + name + ".records")
              .stopAt(ends),
          job());
      env.execute();
      assertThat(topics.ends(name + ".records")).hasSize(2);
      assertThat(values(topics, name + ".records", 1))
          .isEqualTo(values(topics, name + ".b", 1))
          .isNotEmpty();
      List<String> ofFirst = new ArrayList<>(values(topics, name + ".b", 0));
      ofFirst.addAll(ofA);
      assertThat(values(topics, name + ".records", 0))
          .containsExactlyInAnyOrderElementsOf(ofFirst)
          .containsSubsequence(ofA);
    }
  }

  private static List<String> values(TopicIo topics, String topic, int partition) throws Exception {
    return topics.readCommitted(topic).stream()
        .filter(record -> record.partition() == partition)
        .map(record -> new String(record.value(), UTF_8))
        .toList();
  }

  @Test
  void topicsThatAreNotThereAndStopsThatAreNotNamedAreRefused() throws Exception {
    create(".a", 2);
    assertRefused(
        options("--events-topic=" + name + ".a," + name + ".gone"),
        "topic "
            + name
            + ".gone of events; not exist at "
            + BROKER.servers()
            + "; kafka-topics.sh");
    assertRefused(
        options("--events-topic-pattern=" + name + "\\.gone.*"),
        "no topic of events; " + BROKER.servers() + "; " + name + "\\.gone.*");
    assertRefused(
        options("--events-topic=" + name + ".a")
            .stopAt(Map.of(new TopicPartition(name + ".a", 0), 0L)),
        "stop offset; " + name + ".a-1");
    for (String own : Arrays.asList("accepted", "duplicates", "dead-letters")) {
      KafkaOptions options = options("--events-topic-pattern=" + name + "\\." + own);
      assertThatThrownBy(options::check)
          .isInstanceOf(UserErrorException.class)
          .hasMessageContainingAll(
              "--events-topic-pattern", name + "\\." + own, name + "." + own + " of --" + own);
    }
  }

  private static void assertRefused(KafkaOptions options, String facts) {
    options.check();
    assertThatThrownBy(() -> TestJobs.require(Job.DEDUP, options))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(facts.split("; "));
  }
}
