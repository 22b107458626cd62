package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.OutcomeCounts;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Outcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code --output record}: downstream of the job, it is as if repeats had not been there. */
class PassedRecordsTest {
  private static final int PARTITIONS = 3;
  private static final int KEYS = 300;
  private static final long START_MILLIS = 1_700_000_000_000L;

  @RegisterExtension private static final SharedBroker BROKER = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  private final String name = SharedBroker.unused("passed");

  /**
   * Records in a form of its own, and which of them change the live keys. A key stays on its
   * partition, so that what is expected does not depend on the order of partitions.
   */
  private final class Input {
    private final Random random;
    private final Set<Integer> live = new HashSet<>();
    private final List<ProducerRecord<byte[], byte[]>> all = new ArrayList<>();
    private final List<List<String>> passed = new ArrayList<>();
    private int count;

    Input(long seed) {
      random = new Random(seed);
      for (int i = 0; i < PARTITIONS; i++) {
        passed.add(new ArrayList<>());
      }
    }

    /** The next records, which are not the same ones again. */
    List<ProducerRecord<byte[], byte[]>> next(int records) {
      List<ProducerRecord<byte[], byte[]>> next = new ArrayList<>();
      for (int i = 0; i < records; i++) {
        next.add(random.nextInt(50) == 0 ? broken() : event());
      }
      all.addAll(next);
      return next;
    }

    private ProducerRecord<byte[], byte[]> broken() {
      return record(random.nextInt(PARTITIONS), "{\"id\":");
    }

    private ProducerRecord<byte[], byte[]> event() {
      int id = random.nextInt(KEYS);
      boolean isDelete = random.nextInt(6) == 0;
      String value = "{ \"n\":%d,\"o\":{\"id\":[%d]},\"op\":\"%s\"}";
      int partition = id % PARTITIONS;
      ProducerRecord<byte[], byte[]> record =
          record(partition, value.formatted(count, id, isDelete ? "d" : "u"));
      if (isDelete ? live.remove(id) : live.add(id)) {
        passed.get(partition).add(text(record));
      }
      return record;
    }

    private ProducerRecord<byte[], byte[]> record(int partition, String value) {
      count++;
      byte[] key = random.nextInt(3) == 0 ? null : bytes(random.nextInt(9));
      ProducerRecord<byte[], byte[]> record =
          new ProducerRecord<>(
              name + ".events",
              partition,
              START_MILLIS + random.nextInt(1_000_000),
              key,
              value.getBytes(UTF_8));
      for (int i = random.nextInt(4); i > 0; i--) {
        String[] names = {"b", "a", "", "firstseen.outcome", "ü"};
        record
            .headers()
            .add(names[random.nextInt(names.length)], random.nextInt(4) == 0 ? null : bytes(3));
      }
      return record;
    }

    private byte[] bytes(int length) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      return bytes;
    }
  }

  private static String text(ProducerRecord<byte[], byte[]> record) {
    return text(
        record.partition(),
        record.timestamp(),
        record.key(),
        record.value(),
        record.headers().toArray());
  }

  private static String text(ConsumerRecord<byte[], byte[]> record) {
    return text(
        record.partition(),
        record.timestamp(),
        record.key(),
        record.value(),
        record.headers().toArray());
  }

  private static String text(
      int partition, long millis, byte[] key, byte[] value, Header[] headers) {
    List<String> texts =
        Arrays.stream(headers).map(each -> each.key() + "=" + hex(each.value())).toList();
    return partition + " " + millis + " " + hex(key) + " " + hex(value) + " " + texts;
  }

  private static String hex(byte[] bytes) {
    return bytes == null ? "null" : HexFormat.of().formatHex(bytes);
  }

  /** The records of a topic, by partition, in order. */
  private List<List<String>> records(TopicIo topics) throws Exception {
    List<List<String>> records = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      records.add(new ArrayList<>());
    }
    for (ConsumerRecord<byte[], byte[]> record : topics.readCommitted(name + ".records")) {
      records.get(record.partition()).add(text(record));
    }
    return records;
  }

  private KafkaOptions options(String... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "--bootstrap-servers=" + BROKER.servers(),
                "--checkpoint-interval=10m",
                "--transactional-id-prefix=" + name,
                "--events-topic=" + name + ".events",
                "--accepted-topic=" + name + ".accepted",
                "--duplicates-topic=" + name + ".duplicates",
                "--dead-letters-topic=" + name + ".dead-letters",
                "--key-field=/o/id/0",
                "--operation-field=/op",
                "--delete-values=d"));
    words.addAll(List.of(more));
    if (words.stream().noneMatch(word -> word.startsWith("--records-topic="))) {
      words.add("--records-topic=" + name + ".records");
    }
    return KafkaOptions.parse(words.toArray(String[]::new));
  }

  private static JobOptions job(int parallelism) {
    return JobOptions.parse("--fpr=0.0000001", "--capacity=100000", "--parallelism=" + parallelism);
  }

  private void create(String topic, int partitions, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    // The records are years old.
    all.put("retention.ms", "-1");
    BROKER.broker().createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(all)));
  }

  private static void send(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", BROKER.servers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (ProducerRecord<byte[], byte[]> record : records) {
        sent.add(producer.send(record));
      }
      for (Future<RecordMetadata> one : sent) {
        one.get();
      }
    }
  }

  @Tag("slow")
  @Test
  void theTopicOfRecordsAloneOfOneTaskIsTheInputLessItsRepeats() throws Exception {
    theTopicIsTheInputLessItsRepeats("record", 1);
  }

  @ParameterizedTest
  @CsvSource({"both, 1", "record, 2"})
  void theTopicIsTheInputLessItsRepeats(String output, int parallelism) throws Exception {
    create(name + ".events", PARTITIONS, Map.of());
    Input input = new Input(61);
    send(input.next(3_000));
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      StreamExecutionEnvironment env = FLINK.environment();
      KafkaOptions options = options("--output=" + output);
      JobMain.buildOnKafka(
          env, Job.DEDUP, options.stopAt(topics.ends(name + ".events")), job(parallelism));
      Map<Outcome.Kind, Long> counts = OutcomeCounts.of(env.execute().getAllAccumulatorResults());

      int expected = passed(input);
      assertThat(counts.get(Outcome.Kind.ACCEPTED) + counts.get(Outcome.Kind.REMOVED))
          .isEqualTo(expected);
      List<List<String>> records = records(topics);
      List<List<String>> passed = input.passed;
      if (parallelism > 1) {
        // Shards are decided on by different tasks.
        records.forEach(Collections::sort);
        passed.forEach(Collections::sort);
      }
      assertSame(records, passed);
      assertThat(counts.get(Outcome.Kind.REMOVED)).isGreaterThan(100);
      assertThat(counts.get(Outcome.Kind.DUPLICATE)).isGreaterThan(100);
      assertThat(topics.exists(name + ".accepted")).isEqualTo(output.equals("both"));
      assertThat(transactionalIds())
          .isNotEmpty()
          .allMatch(
              id -> id.startsWith(name + (output.equals("both") ? ".accepted." : ".records.")));
      if (output.equals("both")) {
        assertThat(topics.readCommitted(name + ".accepted")).hasSize(expected);
      }
      assertThat(
              topics.readCommitted(name + ".duplicates").size()
                  + topics.readCommitted(name + ".dead-letters").size()
                  + expected)
          .isEqualTo(3_000);
    }
  }

  /** What is written after the last checkpoint is not there for readers, and comes once. */
  @Test
  void whatWasWrittenBeforeAFailureIsNotThereTwice() throws Exception {
    create(name + ".events", PARTITIONS, Map.of());
    Input input = new Input(62);
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      send(input.next(400));
      JobClient job = start("record", new Configuration());
      topics.await(name + ".records", READ_UNCOMMITTED, passed(input));
      String savepoint = job.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
      int before = passed(input);
      send(input.next(400));
      topics.await(name + ".records", READ_UNCOMMITTED, passed(input));
      TestJobs.cancel(job);
      int lost = passed(input) - before;
      assertThat(lost).isPositive();

      JobClient restored = start("both", TestJobs.fromSavepoint(savepoint));
      topics.await(name + ".records", READ_UNCOMMITTED, passed(input) + lost);
      FLINK.cluster().stopWithSavepoint(restored, SavepointFormatType.CANONICAL, true);
      assertSame(records(topics), input.passed);
      // The control: a reader of all that was written sees some of it twice.
      assertThat(topics.read(name + ".records", READ_UNCOMMITTED)).hasSize(passed(input) + lost);
      assertThat(topics.read(name + ".accepted", READ_COMMITTED)).hasSize(lost);
    }
  }

  /** Says what differs, but not all that is the same. */
  private static void assertSame(List<List<String>> records, List<List<String>> expected) {
    for (int i = 0; i < PARTITIONS; i++) {
      assertThat(records.get(i).size())
          .as("records of partition %d", i)
          .isEqualTo(expected.get(i).size());
      for (int j = 0; j < records.get(i).size(); j++) {
        if (!records.get(i).get(j).equals(expected.get(i).get(j))) {
          throw new AssertionError(
              "record %d is%n%s, not%n%s"
                  .formatted(j, records.get(i).get(j), expected.get(i).get(j)));
        }
      }
    }
  }

  /** Of this test, without the prefix of the options. */
  private List<String> transactionalIds() throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", BROKER.servers()))) {
      return admin.listTransactions().all().get().stream()
          .map(TransactionListing::transactionalId)
          .filter(id -> id.startsWith(name + "."))
          .map(id -> id.substring(name.length() + 1))
          .toList();
    }
  }

  private static int passed(Input input) {
    return input.passed.stream().mapToInt(List::size).sum();
  }

  private JobClient start(String output, Configuration settings) throws Exception {
    StreamExecutionEnvironment env = FLINK.environment(settings);
    JobMain.buildOnKafka(env, Job.DEDUP, options("--output=" + output), job(1));
    return env.executeAsync(name);
  }

  @Test
  void deletesOfTheKeyFormatPassOnWithoutAValue() throws Exception {
    // With this ratio the broker never compacts them. Records of the past end segments at once.
    Map<String, String> compact =
        Map.of("cleanup.policy", "compact", "min.cleanable.dirty.ratio", "1");
    create(name + ".events", 1, compact);
    create(name + ".records", 2, compact);
    byte[] key = {1};
    byte[] value = {2};
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
    for (byte[] one : new byte[][] {value, value, null, null, {3}}) {
      records.add(
          new ProducerRecord<>(name + ".events", 0, START_MILLIS + records.size(), key, one));
    }
    send(records);
    try (TopicIo topics = new TopicIo(BROKER.servers())) {
      StreamExecutionEnvironment env = FLINK.environment();
      KafkaOptions options =
          KafkaOptions.parse(
              "--bootstrap-servers=" + BROKER.servers(),
              "--transactional-id-prefix=" + name,
              "--events-topic=" + name + ".events",
              "--event-format=key",
              "--output=record",
              "--records-topic=" + name + ".records",
              "--duplicates=none",
              "--dead-letters-topic=" + name + ".dead-letters");
      JobMain.buildOnKafka(env, Job.DEDUP, options.stopAt(topics.ends(name + ".events")), job(1));
      env.execute();
      assertThat(topics.readCommitted(name + ".records").stream().map(PassedRecordsTest::text))
          .containsExactly(text(records.get(0)), text(records.get(2)), text(records.get(4)));
    }
  }

  @Test
  void theTopicIsMadeToTakeEveryRecord() throws Exception {
    create(
        name + ".events",
        3,
        Map.of(
            "message.timestamp.after.max.ms",
            "7200000",
            "message.timestamp.before.max.ms",
            "86400000"));
    TestJobs.require(Job.DEDUP, options("--output=record"));
    String topic = name + ".records";
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", BROKER.servers()))) {
      assertThat(admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions())
          .hasSize(3);
      ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
      Config config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
      assertThat(config.get("retention.ms").value()).isEqualTo("-1");
      assertThat(config.get("message.timestamp.after.max.ms").value()).isEqualTo("7200000");
      assertThat(config.get("message.timestamp.before.max.ms").value())
          .isEqualTo(Long.toString(Long.MAX_VALUE));
    }
    // It is what is needed.
    TestJobs.require(Job.DEDUP, options("--output=record"));
    Map<String, String> refusals = new HashMap<>();
    refusals.put("cleanup.policy=compact", "must have cleanup.policy=delete, but has compact: ");
    refusals.put(
        "message.timestamp.type=LogAppendTime",
        "must have message.timestamp.type=CreateTime to keep timestamps, but has LogAppendTime: ");
    refusals.put(
        "message.timestamp.after.max.ms=7199999",
        "must have message.timestamp.after.max.ms=7200000, like a topic of events, but has "
            + "7199999: ");
    refusals.put(
        "message.timestamp.before.max.ms=86399999",
        "must have message.timestamp.before.max.ms=86400000, like a topic of events, but has "
            + "86399999: ");
    for (Map.Entry<String, String> refusal : refusals.entrySet()) {
      String other = SharedBroker.unused(name);
      String[] setting = refusal.getKey().split("=", 2);
      Map<String, String> settings =
          new HashMap<>(Map.of("message.timestamp.after.max.ms", "7200000"));
      settings.put(setting[0], setting[1]);
      create(other, 3, settings);
      assertRefused(other, refusal.getValue());
    }
    String narrow = SharedBroker.unused(name);
    create(narrow, 2, Map.of());
    assertRefused(
        narrow, "must have at least 3 partitions, as many as the topics of events, but has 2");
  }

  /** What stays in a topic of events must not be gone from the records. */
  @ParameterizedTest
  @CsvSource({
    "delete, 7200000",
    "compact, -1",
    "'compact,delete', 7200000",
  })
  void theTopicKeepsWhatTheTopicsOfEventsKeep(String policy, String retention) throws Exception {
    String topic = name + ".records";
    String other = name + ".other";
    BROKER
        .broker()
        .createTopics(
            List.of(
                new NewTopic(name + ".events", 1, (short) 1)
                    .configs(Map.of("retention.ms", "3600000")),
                new NewTopic(other, 1, (short) 1)
                    .configs(Map.of("retention.ms", "7200000", "cleanup.policy", policy))));
    TestJobs.require(Job.DEDUP, options("--output=record", "--events-topic=" + other));
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", BROKER.servers()))) {
      ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
      Config config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
      assertThat(config.get("retention.ms").value()).isEqualTo(retention);
      assertThat(config.get("cleanup.policy").value()).isEqualTo("delete");
    }
  }

  private void assertRefused(String topic, String sentence) {
    assertThatThrownBy(
            () ->
                TestJobs.require(Job.DEDUP, options("--output=record", "--records-topic=" + topic)))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith("topic " + topic + " " + sentence);
  }
}
