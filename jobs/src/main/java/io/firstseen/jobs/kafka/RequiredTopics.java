package io.firstseen.jobs.kafka;

import static org.apache.kafka.common.config.TopicConfig.CLEANUP_POLICY_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.DELETE_RETENTION_MS_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.MAX_MESSAGE_BYTES_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.RETENTION_BYTES_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.RETENTION_MS_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.SEGMENT_BYTES_CONFIG;
import static org.apache.kafka.common.config.TopicConfig.SEGMENT_MS_CONFIG;

import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSavepoint;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.acl.AclOperation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The requirements on the topics that a job writes, and on topics of other jobs that it reads. */
final class RequiredTopics {
  private static final Logger LOG = LoggerFactory.getLogger(RequiredTopics.class);
  // Clients that follow packs do not have to read bases.
  private static final int SNAPSHOTS_PARTITIONS = 2;
  // Each start of a task reads the topic, and Kafka never compacts the newest segment.
  private static final Map<String, String> CLAIMS_SETTINGS =
      Map.of(
          SEGMENT_MS_CONFIG, Long.toString(Duration.ofHours(1).toMillis()),
          SEGMENT_BYTES_CONFIG, Integer.toString(16 << 20),
          MIN_CLEANABLE_DIRTY_RATIO_CONFIG, "0.1");

  private static final String CREATE_TIME = "CreateTime";
  private static final String COMPACT = "compact";
  private static final String DELETE = "delete";
  // The maximum difference between the timestamp of a record and the broker's clock.
  private static final String MAX_AGE = MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG;
  private static final String MAX_AHEAD = MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG;
  static final Set<AclOperation> BOTH = Set.of(AclOperation.READ, AclOperation.WRITE);
  private static final Set<AclOperation> WRITE = Set.of(AclOperation.WRITE);

  /** A topic; the body throws {@link UserErrorException} if it does not meet a requirement. */
  record Topic(
      String name,
      Set<AclOperation> permissions,
      Supplier<NewTopic> missing,
      Consumer<TopicDescription> body) {}

  // The topics of events, which are added later.
  final List<TopicDescription> events = new ArrayList<>();
  // The warnings of the last topic.
  final List<String> warnings = new ArrayList<>();
  // The time for which the accepted topic keeps records that a snapshot job has not read.
  Duration retention = Duration.ZERO;
  private final JobNeeds needs;
  private final KafkaOptions options;
  private final Optional<String> restoredFrom;
  private final boolean creates;
  private final Brokers brokers;
  private final String servers;

  /**
   * @param restoredFrom the savepoint or checkpoint that the job starts from; empty without state
   * @param creates whether missing topics are created
   */
  RequiredTopics(JobNeeds needs, Optional<String> restoredFrom, boolean creates, Brokers brokers) {
    this.needs = needs;
    this.options = needs.kafka();
    this.restoredFrom = restoredFrom;
    this.creates = creates;
    this.brokers = brokers;
    this.servers = options.bootstrapServers();
  }

  List<Topic> ofDedup() {
    List<Topic> topics = new ArrayList<>();
    if (options.topics().output().hasChangelog()) {
      topics.add(accepted(WRITE));
    }
    if (options.topics().output().hasRecords()) {
      topics.add(
          new Topic(
              options.topics().recordsTopic(),
              WRITE,
              this::newRecordsTopic,
              this::requireRecordsTopic));
    }
    if (options.topics().duplicates() != Duplicates.NONE) {
      topics.add(notCompacted(options.topics().duplicatesTopic()));
    }
    topics.add(notCompacted(options.topics().deadLettersTopic()));
    // Only the first partition is used.
    topics.add(compacted(options.topics().claimsTopic(), BOTH, 1, CLAIMS_SETTINGS));
    return topics;
  }

  Topic accepted(Set<AclOperation> permissions) {
    String name = options.topics().acceptedTopic();
    String maxDowntimeMillis = Long.toString(options.maxDowntime().toMillis());
    return new Topic(
        name,
        permissions,
        () ->
            newTopic(
                name,
                needs.job().dedups() ? Optional.of(mostPartitions()) : Optional.empty(),
                COMPACT,
                Map.of(DELETE_RETENTION_MS_CONFIG, maxDowntimeMillis)),
        this::requireAcceptedTopic);
  }

  /** An existing topic may have any number of partitions, see {@link SnapshotTopicFormat}. */
  Topic snapshots(Set<AclOperation> permissions) {
    return compacted(
        options.topics().snapshotsTopic(), permissions, SNAPSHOTS_PARTITIONS, Map.of());
  }

  private Topic compacted(
      String name, Set<AclOperation> permissions, int partitions, Map<String, String> settings) {
    return new Topic(
        name,
        permissions,
        () -> newTopic(name, Optional.of(partitions), COMPACT, settings),
        topic -> requirePolicy(name, COMPACT));
  }

  private Topic notCompacted(String name) {
    return new Topic(
        name,
        WRITE,
        () -> newTopic(name, Optional.of(mostPartitions()), DELETE, Map.of()),
        topic -> requirePolicy(name, DELETE));
  }

  /** Requires a topic, and creates a missing one if it may; returns empty if it may not. */
  Optional<TopicDescription> require(Topic topic) {
    warnings.clear();
    String name = topic.name();
    Optional<TopicDescription> known = brokers.topic(name, topic.permissions());
    if (known.isEmpty() && !creates) {
      return known;
    }
    TopicDescription described =
        known.orElseGet(() -> create(topic.missing().get(), topic.permissions()));
    requireReplicas(described);
    // A rejected record would fail the job after every restart.
    mustHave(
        !topic.permissions().contains(AclOperation.WRITE)
            || number(name, MAX_MESSAGE_BYTES_CONFIG, Long.MAX_VALUE)
                >= KafkaOptions.MAX_WRITTEN_BYTES,
        name,
        MAX_MESSAGE_BYTES_CONFIG,
        KafkaOptions.MAX_WRITTEN_BYTES,
        " to accept all records of the job");
    topic.body().accept(described);
    if (cleanupPolicy(name).isEmpty()) {
      warnings.add(
          "its settings are not checked, because this user may not read them: allow it "
              + "DescribeConfigs on the topic");
    }
    return Optional.of(described);
  }

  String settings(TopicDescription topic) {
    List<String> settings = new ArrayList<>();
    settings.add(count(topic.partitions().size(), "partition"));
    settings.add(count(replicas(topic), "replica"));
    for (String name : List.of(MIN_IN_SYNC_REPLICAS_CONFIG, CLEANUP_POLICY_CONFIG)) {
      brokers.setting(topic.name(), name).ifPresent(value -> settings.add(name + "=" + value));
    }
    return String.join(", ", settings);
  }

  static String count(int count, String noun) {
    return "%d %s%s".formatted(count, noun, count == 1 ? "" : "s");
  }

  private static int replicas(TopicDescription topic) {
    return topic.partitions().stream().mapToInt(each -> each.replicas().size()).min().orElse(0);
  }

  private int mostPartitions() {
    return events.stream().mapToInt(each -> each.partitions().size()).max().orElseThrow();
  }

  private NewTopic newTopic(
      String name, Optional<Integer> partitions, String policy, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    options
        .topics()
        .minInsyncReplicas()
        .ifPresent(count -> all.put(MIN_IN_SYNC_REPLICAS_CONFIG, Short.toString(count)));
    all.put(CLEANUP_POLICY_CONFIG, policy);
    return new NewTopic(name, partitions, options.topics().replicationFactor()).configs(all);
  }

  private TopicDescription create(NewTopic topic, Set<AclOperation> permissions) {
    must(
        !isOfState(topic.name()),
        "topic %s does not exist at %s, but the state is of a job that wrote to its topics: set the topics of that job, or start the job with --accept-new-topic to create this topic, which has no earlier records"
            .formatted(topic.name(), servers));
    try {
      return brokers.create(topic, permissions);
    } catch (UserErrorException e) {
      if (!topic.configs().keySet().containsAll(CLAIMS_SETTINGS.keySet())) {
        throw e;
      }
      TopicDescription plain =
          brokers.create(newTopic(topic.name(), Optional.of(1), COMPACT, Map.of()), permissions);
      warnings.add("it was created without %s: %s".formatted(CLAIMS_SETTINGS, e.getMessage()));
      return plain;
    }
  }

  /** Whether the job of the state has written a topic, if the state can be read on this machine. */
  private boolean isOfState(String topic) {
    if (restoredFrom.isEmpty() || options.acceptNewTopic()) {
      return false;
    }
    try {
      Set<String> states = DedupSavepoint.operatorStates(restoredFrom.get());
      return Stream.of(options.topics().outcomeTopics(), options.topics().deadLetterTopics())
          .flatMap(topics -> topics.entrySet().stream())
          .anyMatch(
              each ->
                  each.getValue().equals(topic)
                      && states.contains(OutputTopics.state(each.getKey())));
    } catch (IOException | RuntimeException e) {
      LOG.info(
          "cannot read the state at {} on this machine, so the job checks its topics later",
          restoredFrom.get(),
          e);
      return false;
    }
  }

  private void requireReplicas(TopicDescription topic) {
    int replicas = replicas(topic);
    int needed = options.topics().replicationFactor().orElse((short) 1);
    must(
        replicas >= needed,
        "topic %s must have %d replicas (--topic-replication-factor), but has %d: add replicas with kafka-reassign-partitions.sh, or lower the option"
            .formatted(topic.name(), needed, replicas));
    long inSync = number(topic.name(), MIN_IN_SYNC_REPLICAS_CONFIG, -1);
    Short neededInSync = options.topics().minInsyncReplicas().orElse(null);
    if (neededInSync != null) {
      must(
          inSync >= 0,
          "the job's user may not read min.insync.replicas of topic %s at %s: allow it with kafka-acls.sh --operation DescribeConfigs --topic %1$s, or omit --topic-min-insync-replicas"
              .formatted(topic.name(), servers));
      mustHave(
          inSync >= neededInSync,
          topic.name(),
          MIN_IN_SYNC_REPLICAS_CONFIG,
          neededInSync,
          " (--topic-min-insync-replicas)");
    } else if (replicas > 1 && inSync == 1) {
      warnings.add(
          "a record counts as written when a single broker has stored it, and is lost with that broker: increase min.insync.replicas to 2 (--topic-min-insync-replicas)");
    }
  }

  /** Requires compaction; deletion by age is also possible if keys have a TTL. */
  private void requireAcceptedTopic(TopicDescription described) {
    String topic = described.name();
    Duration ttl = needs.options().ttlOfAccepted();
    if (ttl == null || !isCompacted(topic, true)) {
      requirePolicy(topic, COMPACT);
    } else {
      mustHave(
          number(topic, RETENTION_BYTES_CONFIG, -1) < 0 || !deletes(topic),
          topic,
          RETENTION_BYTES_CONFIG,
          -1,
          " to delete records only by age");
      // A key expires up to an eighth later than the TTL.
      Duration needed = ttl.plusMillis((ttl.toMillis() + 7) / 8).plus(options.maxDowntime());
      mustHave(
          retention(topic) >= needed.toMillis(),
          topic,
          RETENTION_MS_CONFIG,
          needed.toMillis(),
          ", the sum of --ttl, an eighth of it, and --max-downtime");
    }
    if (needs.job() == Job.SNAPSHOTS) {
      long needed = options.maxDowntime().toMillis();
      long keeps = number(topic, DELETE_RETENTION_MS_CONFIG, needed);
      mustHave(
          keeps >= needed,
          topic,
          DELETE_RETENTION_MS_CONFIG,
          needed,
          " to keep tombstones for --max-downtime");
      // A topic that deletes by age also deletes unread records.
      retention = Duration.ofMillis(Math.min(keeps, retention(topic)));
    }
  }

  private NewTopic newRecordsTopic() {
    brokers.readSettings(names(events));
    Map<String, String> settings = new HashMap<>();
    settings.put(MESSAGE_TIMESTAMP_TYPE_CONFIG, CREATE_TIME);
    widest(MAX_AHEAD).ifPresent(millis -> settings.put(MAX_AHEAD, Long.toString(millis)));
    // A record is older when it is forwarded than when it was sent.
    settings.put(MAX_AGE, Long.toString(Long.MAX_VALUE));
    // The records keep their timestamps, so a shorter retention would delete old records
    // immediately.
    long longest = retentionOfEvents();
    settings.put(RETENTION_MS_CONFIG, Long.toString(longest == Long.MAX_VALUE ? -1 : longest));
    return newTopic(
        options.topics().recordsTopic(), Optional.of(mostPartitions()), DELETE, settings);
  }

  /** Requires a topic that accepts every record of the topics of events unchanged. */
  private void requireRecordsTopic(TopicDescription records) {
    if (events.isEmpty()) {
      return;
    }
    String topic = records.name();
    int partitions = records.partitions().size();
    must(
        partitions >= mostPartitions(),
        "topic %s must have at least %d partitions, as many as the topics of events, but has %d"
            .formatted(topic, mostPartitions(), partitions));
    // Records without a key cannot be compacted.
    if (!events.stream().allMatch(each -> isCompacted(each.name(), true))) {
      requirePolicy(topic, DELETE);
    }
    mustHave(
        brokers
            .setting(topic, MESSAGE_TIMESTAMP_TYPE_CONFIG)
            .orElse(CREATE_TIME)
            .equals(CREATE_TIME),
        topic,
        MESSAGE_TIMESTAMP_TYPE_CONFIG,
        CREATE_TIME,
        " to keep timestamps");
    for (String bound : List.of(MAX_AHEAD, MAX_AGE)) {
      long needed = widest(bound).orElse(Long.MIN_VALUE);
      mustHave(
          number(topic, bound, Long.MAX_VALUE) >= needed,
          topic,
          bound,
          needed,
          ", like a topic of events");
    }
    // A shorter retention of an existing topic may be intended.
    long needed = retentionOfEvents();
    String time = needed == Long.MAX_VALUE ? "a longer or unlimited time" : needed + " ms";
    long has = retention(topic);
    if (has < needed) {
      warnings.add(
          "it keeps records for %d ms (retention.ms), but a topic of events keeps them for %s: older records are deleted as soon as they are written"
              .formatted(has, time));
    }
    long age = number(topic, MAX_AGE, Long.MAX_VALUE);
    if (age < needed) {
      warnings.add(
          "it rejects records that are older than %d ms (%s), but a topic of events keeps them for %s: a job that is this far behind cannot forward them, and fails"
              .formatted(age, MAX_AGE, time));
    }
  }

  /** The largest known value among topics of events that keep the timestamps of producers. */
  private OptionalLong widest(String bound) {
    return names(events).stream()
        .filter(
            topic ->
                brokers
                    .setting(topic, MESSAGE_TIMESTAMP_TYPE_CONFIG)
                    .equals(Optional.of(CREATE_TIME)))
        .flatMap(topic -> brokers.setting(topic, bound).stream())
        .mapToLong(Long::parseLong)
        .max();
  }

  private long retentionOfEvents() {
    return names(events).stream().mapToLong(this::retention).max().orElseThrow();
  }

  static List<String> names(List<TopicDescription> topics) {
    return topics.stream().map(TopicDescription::name).toList();
  }

  /** The retention in milliseconds; {@link Long#MAX_VALUE} if unlimited or unknown. */
  private long retention(String topic) {
    long millis = number(topic, RETENTION_MS_CONFIG, -1);
    return millis >= 0 && deletes(topic) ? millis : Long.MAX_VALUE;
  }

  /** Whether a topic deletes records by age or size; false if this is unknown. */
  private boolean deletes(String topic) {
    return cleanupPolicy(topic).orElse("").contains(DELETE);
  }

  private boolean isCompacted(String topic, boolean ifUnknown) {
    return cleanupPolicy(topic).map(policy -> policy.contains(COMPACT)).orElse(ifUnknown);
  }

  private Optional<String> cleanupPolicy(String topic) {
    return brokers.setting(topic, CLEANUP_POLICY_CONFIG);
  }

  private long number(String topic, String setting, long ifUnknown) {
    return brokers.setting(topic, setting).map(Long::parseLong).orElse(ifUnknown);
  }

  /**
   * Requires compaction only, because deletion loses live keys, and without compaction the topic
   * grows; or no compaction, which would drop duplicates of a key and reject records without a key.
   */
  private void requirePolicy(String topic, String policy) {
    boolean holds =
        policy.equals(COMPACT)
            ? cleanupPolicy(topic).orElse(COMPACT).equals(COMPACT)
            : !isCompacted(topic, false);
    mustHave(holds, topic, CLEANUP_POLICY_CONFIG, policy, "");
  }

  /** Requires the value of a setting, and names the command that sets it. */
  private void mustHave(boolean holds, String topic, String setting, Object value, String reason) {
    must(
        holds,
        "topic %s must have %s=%s%s, but has %s: set it with kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %1$s --add-config %2$s=%3$s, or use another topic%7$s"
            .formatted(
                topic,
                setting,
                value,
                reason,
                brokers.setting(topic, setting).orElse("an unknown value"),
                servers,
                reason.contains("--") ? ", or lower the option" : ""));
  }

  static void must(boolean holds, String sentence) {
    if (!holds) {
      throw new UserErrorException(sentence);
    }
  }
}
