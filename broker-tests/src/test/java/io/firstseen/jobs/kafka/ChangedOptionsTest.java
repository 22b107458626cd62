package io.firstseen.jobs.kafka;

import static io.firstseen.jobs.kafka.TestJobs.failure;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Timestamp;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.Bound;
import io.firstseen.jobs.options.ChangelogOptions;
import io.firstseen.jobs.options.DedupOptions;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.jobs.shared.Finding;
import java.lang.reflect.AnnotatedElement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Starts jobs from state with a change of each option that is bound to the state or to another job.
 * The declarations of the options give the list.
 */
class ChangedOptionsTest {
  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  // For each job and option: what differs from the options of the state, where "-" leaves an option
  // out; then a part of the message, if it is not "--option is value, recorded as".
  private static final Map<String, String> CHANGES =
      Map.ofEntries(
          Map.entry("DedupJob canonicaliser", "canonicaliser=text → canonicaliser"),
          Map.entry(
              "DedupJob strip-parameters", "canonicaliser=url strip-parameters=a → canonicaliser"),
          Map.entry("DedupJob near", "canonicaliser=text near=short → canonicaliser"),
          Map.entry("DedupJob hash-key-file", "hash-key-file=KEY → hash key"),
          Map.entry("DedupJob dedup-shards", "dedup-shards=64 → Max parallelism mismatch"),
          Map.entry("DedupJob mode", "mode=exact → mode"),
          Map.entry("DedupJob ttl-clock", "ttl-clock=processing → ttl"),
          Map.entry("DedupJob ttl-since", "ttl-since=last-seen → ttl"),
          Map.entry("DedupJob key-field", "key-field=/at"),
          Map.entry("DedupJob time-field", "time-field=/time"),
          Map.entry("DedupJob time-unit", "time-unit=seconds"),
          Map.entry("DedupJob operation-field", "operation-field=/kind"),
          Map.entry("DedupJob delete-values", "delete-values=gone"),
          Map.entry("DedupJob scope-field", "scope-field=/scope"),
          Map.entry("DedupJob scope-from-topic", "scope-from-topic=true scope-field=-"),
          Map.entry(
              "DedupJob event-format",
              "event-format=key key-field=- time-field=- operation-field=- delete-values=-"
                  + " scope-field=-"),
          Map.entry(
              "DedupJob message",
              "event-format=protobuf schema=DESC message=google.protobuf.Timestamp"
                  + " key-field=/seconds time-field=- operation-field=- delete-values=- "
                  + "scope-field=-"),
          Map.entry(
              "DedupJob schema-header",
              "event-format=avro schema=AVSC schema-header=true time-field=- operation-field=-"
                  + " delete-values=- scope-field=-"),
          Map.entry(
              "SnapshotJob canonicaliser",
              "canonicaliser=none → --canonicaliser is none-1, recorded as"),
          Map.entry("SnapshotJob strip-parameters", "canonicaliser=url strip-parameters=a"),
          Map.entry("SnapshotJob near", "canonicaliser=text near=short → --near is characters"),
          Map.entry("SnapshotJob ttl", "ttl=2d"),
          Map.entry("SnapshotJob hash-key-file", "hash-key-file=KEY → key check"),
          Map.entry("SnapshotJob snapshot-hash-key-file", "snapshot-hash-key-file=KEY → key check"),
          Map.entry("SnapshotJob snapshot-shards", "snapshot-shards=4 → shards"),
          Map.entry("SnapshotJob snapshot-fpr", "snapshot-fpr=0.01 → rate"),
          Map.entry("SnapshotJob snapshot-url-fpr", "snapshot-url-fpr=0.01 → rate"),
          Map.entry("SnapshotJob set", "set=other → --set is other, but the state is of set"),
          Map.entry(
              "SnapshotJob accepted-topic", "accepted-topic=OTHER → but the state is of topic"));

  @TempDir private static Path directory;
  private static String name;
  private static TopicIo topics;
  private static final Map<String, String> states = new HashMap<>();

  @BeforeAll
  static void writeStates() throws Exception {
    name = SharedBroker.unused("changed");
    topics = new TopicIo(KAFKA.servers());
    KAFKA.broker().createTopics(List.of(new NewTopic(name + ".events", 1, (short) 1)));
    KAFKA.create(name + ".other", "compact");
    Files.writeString(directory.resolve("KEY"), "0123456789abcdef".repeat(2));
    Files.write(
        directory.resolve("DESC"),
        FileDescriptorSet.newBuilder()
            .addFile(Timestamp.getDescriptor().getFile().toProto())
            .build()
            .toByteArray());
    Files.writeString(
        directory.resolve("AVSC"),
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"id\",\"type\":\"string\"}]}");
    JobClient dedup = submit("DedupJob", Map.of(), new Configuration());
    send(name, 1, 5);
    topics.readUntil(name + ".accepted", READ_COMMITTED, records -> records.size() >= 5);
    JobClient snapshots = submit("SnapshotJob", Map.of(), new Configuration());
    topics.readUntil(name + ".snapshots", READ_COMMITTED, records -> !records.isEmpty());
    states.put("DedupJob", stop(dedup));
    states.put("SnapshotJob", stop(snapshots));
  }

  @AfterAll
  static void close() {
    topics.close();
  }

  private static String stop(JobClient job) throws Exception {
    return FLINK.cluster().stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);
  }

  private static void send(String topics, int from, int to) throws Exception {
    ChangedOptionsTest.topics.send(
        topics + ".events",
        1,
        IntStream.rangeClosed(from, to)
            .mapToObj(
                i ->
                    "{\"id\":\"a.example/%d\",\"at\":%d,\"op\":\"c\",\"s\":\"x\"}"
                        .formatted(i, i * 1_000L))
            .toList());
  }

  private static JobClient submit(String job, Map<String, String> changes, Configuration settings)
      throws Exception {
    return submit(job, name, changes, settings);
  }

  private static Map<String, String> words(String job, String prefix, Map<String, String> changes) {
    Map<String, String> words = new LinkedHashMap<>();
    words.put("bootstrap-servers", KAFKA.servers());
    words.put("checkpoint-interval", "200ms");
    words.put("transactional-id-prefix", prefix);
    words.put("events-topic", prefix + ".events");
    words.put("accepted-topic", prefix + ".accepted");
    words.put("duplicates-topic", prefix + ".duplicates");
    words.put("dead-letters-topic", prefix + ".dead-letters");
    words.put("snapshots-topic", prefix + ".snapshots");
    words.put("canonicaliser", "url-expression");
    words.put("ttl", "1d");
    if (!job.equals("SnapshotJob")) {
      words.put("key-field", "/id");
      words.put("time-field", "/at");
      words.put("operation-field", "/op");
      words.put("delete-values", "d");
      words.put("scope-field", "/s");
    }
    if (!job.equals("DedupJob")) {
      words.put("window", "1s");
      words.put("idle-timeout", "1s");
      words.put("out-of-orderness", "0s");
    }
    words.putAll(changes);
    words.values().removeIf("-"::equals);
    return words;
  }

  private static JobClient submit(
      String job, String prefix, Map<String, String> changes, Configuration settings)
      throws Exception {
    CommandSpec ofKafka = new CommandLine(KafkaOptions.class).getCommandSpec();
    List<String> kafka = new ArrayList<>();
    List<String> others = new ArrayList<>();
    words(job, prefix, changes)
        .forEach(
            (option, value) ->
                (ofKafka.findOption("--" + option) == null ? others : kafka)
                    .add("--" + option + "=" + value));
    KafkaOptions kafkaOptions = KafkaOptions.parse(kafka.toArray(String[]::new));
    JobOptions options = JobOptions.parse(others.toArray(String[]::new));
    StreamExecutionEnvironment env = FLINK.cluster().environment(settings);
    switch (job) {
      case "DedupJob" -> JobMain.buildOnKafka(env, Job.DEDUP, kafkaOptions, options);
      case "SnapshotJob" -> JobMain.buildOnKafka(env, Job.SNAPSHOTS, kafkaOptions, options);
      default -> JobMain.buildOnKafka(env, Job.PIPELINE, kafkaOptions, options);
    }
    return env.executeAsync();
  }

  private static Configuration from(String state) {
    // As Flink advises where an operator is missing.
    return TestJobs.fromSavepoint(state)
        .set(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE, true);
  }

  /** In the quick tier, one of three. */
  static Stream<String> boundOptions() {
    List<String> cases = new ArrayList<>();
    for (Class<?> type : List.of(KeyOptions.class, DedupOptions.class, KafkaOptions.class)) {
      collect(type, Set.of(Bound.By.IDENTITY, Bound.By.STATE), "DedupJob ", cases);
    }
    cases.addAll(List.of("DedupJob ttl-clock", "DedupJob ttl-since"));
    for (Class<?> type : List.of(KeyOptions.class, SnapshotOptions.class, ChangelogOptions.class)) {
      collect(type, EnumSet.complementOf(EnumSet.of(Bound.By.NOTHING)), "SnapshotJob ", cases);
    }
    collect(KafkaOptions.class, Set.of(Bound.By.SOURCE), "SnapshotJob ", cases);
    assertThat(CHANGES).containsOnlyKeys(cases);
    int step = Integer.getInteger("firstseen.scale", 1) > 1 ? 1 : 3;
    return IntStream.range(0, cases.size()).filter(i -> i % step == 0).mapToObj(cases::get);
  }

  private static void collect(
      Class<?> type, Set<Bound.By> kinds, String prefix, List<String> cases) {
    for (OptionSpec option : new CommandLine(type).getCommandSpec().options()) {
      Bound bound = ((AnnotatedElement) option.userObject()).getAnnotation(Bound.class);
      if (kinds.contains(bound.value())) {
        cases.add(prefix + option.longestName().substring(2));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("boundOptions")
  void aChangeOfABoundOptionEndsTheJob(String option) {
    String job = option.split(" ")[0];
    String[] parts = CHANGES.get(option).split(" → ");
    Map<String, String> changes = new LinkedHashMap<>();
    for (String word : parts[0].split(" ")) {
      String value = word.split("=")[1];
      if (Files.exists(directory.resolve(value))) {
        value = directory.resolve(value).toString();
      }
      changes.put(word.split("=")[0], value.equals("OTHER") ? name + ".other" : value);
    }
    String message =
        parts.length > 1
            ? parts[1]
            : "--%s is %s, recorded as"
                .formatted(option.split(" ")[1], changes.get(option.split(" ")[1]));
    assertThat(failureOf(job, changes)).contains(message);
  }

  /** The exceptions of the submission or of the job, with their causes. */
  private static String failureOf(String job, Map<String, String> changes) {
    try {
      submit(job, changes, from(states.get(job))).getJobExecutionResult().get(1, TimeUnit.MINUTES);
    } catch (Exception e) {
      return ExceptionUtils.stringifyException(e);
    }
    throw new AssertionError("the job ended well");
  }

  @Test
  void anAcceptedChangeIsRecorded() throws Exception {
    String changed = SharedBroker.unused("accepted");
    KAFKA.broker().createTopics(List.of(new NewTopic(changed + ".events", 1, (short) 1)));
    JobClient first = submit("DedupJob", changed, Map.of(), new Configuration());
    send(changed, 1, 2);
    topics.readUntil(changed + ".accepted", READ_COMMITTED, records -> records.size() >= 2);
    assertThat(identity(changed)).contains("scope-field=/s", "ttl=1d", "scope-from-topic=false");

    Map<String, String> changes =
        Map.of("scope-field", "-", "accept-changes", "scope-field", "ttl", "2d");
    JobClient second = submit("DedupJob", changed, changes, from(stop(first)));
    send(changed, 1, 2);
    topics.readUntil(changed + ".accepted", READ_COMMITTED, records -> records.size() >= 4);
    assertThat(identity(changed)).contains("scope-field=none", "ttl=2d");
    assertThat(failure(submit("DedupJob", changed, Map.of(), from(stop(second)))))
        .isEqualTo(
            "the options differ from the options recorded for the output on topic "
                + changed
                + ".accepted, so equal events would have a different key, operation or time:"
                + " --scope-field is /s, recorded as none (start with the recorded values, or"
                + " accept the change with --accept-changes scope-field; with"
                + " 'firstseen up', use another --data directory)");
  }

  private static List<String> identity(String prefix) {
    return topics.read(prefix + ".accepted.claims", READ_UNCOMMITTED).stream()
        .filter(record -> new String(record.key(), UTF_8).equals(prefix + ".accepted/identity"))
        .reduce((before, after) -> after)
        .map(record -> new String(record.value(), UTF_8).lines().toList())
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "DedupJob, scope-field, -, '--scope-field is none, recorded as /s'",
    "DedupJob, ttl, 2d, ",
    "SnapshotJob, ttl, 2d, '--ttl is 2d, recorded as 1d'",
    "SnapshotJob, ttl, 1d, "
  })
  void doctorComparesWithoutAStart(String job, String option, String value, String difference) {
    String[] arguments =
        words(job, name, Map.of(option, value)).entrySet().stream()
            .map(word -> "--" + word.getKey() + "=" + word.getValue())
            .toArray(String[]::new);
    List<Finding> found = new ArrayList<>();
    Preflight.report(
        job.equals("DedupJob") ? DedupJob.check(arguments) : SnapshotJob.check(arguments),
        TestJobs.SET,
        List.of(),
        level -> "",
        finding -> {
          if (finding.check().equals("options of topic " + name + ".accepted")) {
            found.add(finding);
          }
        });
    assertThat(found).hasSize(1);
    if (difference == null) {
      assertThat(found.get(0).status()).isEqualTo(Finding.Status.OK);
      assertThat(found.get(0).text()).isEqualTo("the same as in its dedup job");
    } else {
      assertThat(found.get(0).status()).isEqualTo(Finding.Status.FAILED);
      assertThat(found.get(0).text()).contains(difference);
    }
  }

  /** It has no state whose options could be compared, only the claims topic. */
  @Test
  void aJobWithoutStateThatTakesOverIsComparedToo() throws Exception {
    assertThat(
            failure(
                submit(
                    "DedupJob",
                    Map.of("take-over", "true", "scope-field", "-"),
                    new Configuration())))
        .contains("--scope-field is none, recorded as /s (");
  }

  @Test
  void aSnapshotJobThatStartedBeforeItsDedupEndsAtItsFirstManifest() throws Exception {
    String early = SharedBroker.unused("early");
    KAFKA.broker().createTopics(List.of(new NewTopic(early + ".events", 1, (short) 1)));
    KAFKA.create(early + ".accepted", "compact");
    JobClient snapshots =
        submit("SnapshotJob", early, Map.of("canonicaliser", "none"), new Configuration());
    JobClient dedup = submit("DedupJob", early, Map.of(), new Configuration());
    send(early, 1, 5);
    assertThat(failure(snapshots))
        .startsWith(
            "the options differ from the options of the dedup job that writes topic "
                + early
                + ".accepted, so the set would not contain the keys of the topic: --canonicaliser"
                + " is none-1, recorded as url-expression-2 (");
    TestJobs.cancel(dedup);
  }

  /** Flink gives operators without state an empty one. */
  @Test
  void snapshotsThatAreAddedToADedupWithStateEndTheJobUnlessAccepted() throws Exception {
    String added = SharedBroker.unused("added");
    KAFKA.broker().createTopics(List.of(new NewTopic(added + ".events", 1, (short) 1)));
    JobClient dedup = submit("DedupJob", added, Map.of(), new Configuration());
    send(added, 1, 2);
    topics.readUntil(added + ".accepted", READ_COMMITTED, records -> records.size() >= 2);
    String state = stop(dedup);
    assertThat(failure(submit("PipelineJob", added, Map.of(), TestJobs.fromSavepoint(state))))
        .isEqualTo(
            "the state "
                + state
                + " does not contain set firstseen, so the set would lack all earlier keys (start"
                + " a SnapshotJob without state, which reads all keys of the accepted topic,"
                + " or start with --accept-changes set, so that the set contains only keys"
                + " that are accepted from now on)");
    submit("PipelineJob", added, Map.of("accept-changes", "set"), TestJobs.fromSavepoint(state));
    send(added, 3, 6);
    topics.readUntil(added + ".snapshots", READ_COMMITTED, records -> !records.isEmpty());
  }
}
