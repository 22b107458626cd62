package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.FinalizedVersionRange;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.TransactionalIdNotFoundException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks before a job starts that the broker, its topics and the job's rights there meet the job's
 * needs. Creates missing topics that the job writes to, where that is allowed. Every refusal is a
 * {@link UserErrorException}, within 30 seconds.
 */
public final class Topics implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Topics.class);
  private static final Duration PATIENCE = Duration.ofSeconds(12);
  // So that readers who follow packs need not read bases.
  private static final int SNAPSHOTS_PARTITIONS = 2;
  // Each start of a task reads the topic, and the newest segment is never compacted.
  private static final Map<String, String> CLAIMS_SETTINGS =
      Map.of(
          TopicConfig.SEGMENT_MS_CONFIG, Long.toString(Duration.ofHours(1).toMillis()),
          TopicConfig.SEGMENT_BYTES_CONFIG, Integer.toString(16 << 20),
          TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG, "0.1");

  private static final String CREATE_TIME = "CreateTime";
  private static final String COMPACT = TopicConfig.CLEANUP_POLICY_COMPACT;
  // How far the timestamp of a record may be from the broker's clock.
  private static final String MAX_AGE = TopicConfig.MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG;
  private static final String MAX_AHEAD = TopicConfig.MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG;

  private final KafkaOptions options;
  private final @Nullable Duration ttl;
  private final String servers;
  private final Admin admin;
  private final Collection<Node> brokers;
  private final boolean mayMake;
  private final List<String> acknowledgedByOne = new ArrayList<>();
  // What was asked for; empty if we are not authorised to read it.
  private final Map<ConfigResource, Optional<Config>> configs = new HashMap<>();

  /**
   * Connects.
   *
   * @param ttl for how long keys live; null if they are kept until they are deleted
   * @param mayMake whether missing topics are made
   */
  Topics(KafkaOptions options, @Nullable Duration ttl, boolean mayMake) {
    this.options = options;
    this.ttl = ttl;
    this.mayMake = mayMake;
    this.servers = options.bootstrapServers();
    Properties properties = options.clientProperties();
    String patienceMillis = Long.toString(PATIENCE.toMillis());
    properties.setProperty(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, patienceMillis);
    properties.setProperty(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, patienceMillis);
    try {
      this.admin = Admin.create(properties);
    } catch (KafkaException e) {
      throw new UserErrorException(
          "cannot connect to Kafka at %s: %s".formatted(servers, deepestMessage(e)));
    }
    try {
      this.brokers = get(admin.describeCluster().nodes());
    } catch (RuntimeException e) {
      admin.close(Duration.ZERO);
      throw e;
    }
  }

  /**
   * Prepares the topics of a dedup job.
   *
   * @param ttl for how long keys live; null if they are kept until they are deleted
   */
  public static void prepareDedup(KafkaOptions options, @Nullable Duration ttl) {
    try (Topics topics = new Topics(options, ttl, true)) {
      topics.prepareDedupTopics();
      topics.warnOfWeakTopics();
    }
  }

  /**
   * Prepares the topics of a snapshot job.
   *
   * @param ttl for how long keys live; null if they are kept until they are deleted
   * @return for how long the accepted topic keeps what the job has not read
   */
  public static Duration prepareSnapshots(KafkaOptions options, @Nullable Duration ttl) {
    try (Topics topics = new Topics(options, ttl, true)) {
      topics.requireTransactionTimeout(options.transactionTimeout());
      topics.requireAcceptedTopic(AclOperation.READ, Optional.empty());
      // If it is there: the dedup may not have started yet.
      var unused = topics.describe(options.claimsTopic(), Set.of(AclOperation.READ));
      Duration retention = topics.requireRetention();
      topics.requireSnapshotsTopic();
      topics.requireGroupAndIds(true, options.snapshotsTopic());
      topics.warnOfWeakTopics();
      return retention;
    }
  }

  /**
   * Prepares the topics of a pipeline job.
   *
   * @param ttl for how long keys live; null if they are kept until they are deleted
   */
  public static void preparePipeline(KafkaOptions options, @Nullable Duration ttl) {
    try (Topics topics = new Topics(options, ttl, true)) {
      topics.prepareDedupTopics();
      topics.requireSnapshotsTopic();
      topics.requireGroupAndIds(false, options.snapshotsTopic());
      topics.warnOfWeakTopics();
    }
  }

  private void prepareDedupTopics() {
    requireTransactionTimeout(options.transactionTimeout());
    List<TopicDescription> events = eventsTopics();
    requireStopOffsets(events);
    Optional<Integer> partitions = Optional.of(mostPartitions(events));
    if (options.output().hasChangelog()) {
      requireAcceptedTopic(AclOperation.WRITE, partitions);
    }
    if (options.output().hasRecords()) {
      requireRecordsTopic(events);
    }
    if (options.duplicates() != Duplicates.NONE) {
      requireNotCompacted(options.duplicatesTopic(), partitions);
    }
    requireNotCompacted(options.deadLettersTopic(), partitions);
    requireClaimsTopic();
    requireGroupAndIds(true, options.outputTopic());
  }

  /** All topics of events; at least one. */
  List<TopicDescription> eventsTopics() {
    Pattern pattern = options.eventsTopicPattern().orElse(null);
    List<String> names =
        pattern == null
            ? options.eventsTopics()
            : get(admin.listTopics().names()).stream()
                .filter(name -> pattern.matcher(name).matches())
                .sorted()
                .toList();
    if (names.isEmpty()) {
      throw new UserErrorException(
          "there is no topic at %s that matches %s to read events from"
              .formatted(servers, pattern));
    }
    Map<String, KafkaFuture<TopicDescription>> answers = askAbout(names);
    return names.stream().map(name -> eventsTopic(name, answers.get(name))).toList();
  }

  private TopicDescription eventsTopic(String name, KafkaFuture<TopicDescription> answer) {
    return description(name, Set.of(AclOperation.READ), answer)
        .orElseThrow(
            () ->
                new UserErrorException(
                    "there is no topic %s at %s to read events from".formatted(name, servers)));
  }

  private static int mostPartitions(List<TopicDescription> topics) {
    return topics.stream().mapToInt(each -> each.partitions().size()).max().orElseThrow();
  }

  /** Refuses to leave a partition out, which would pass for one that has been read. */
  private void requireStopOffsets(List<TopicDescription> events) {
    Map<TopicPartition, Long> offsets = options.stopOffsets().orElse(null);
    if (offsets == null) {
      return;
    }
    for (TopicDescription topic : events) {
      topic.partitions().stream()
          .map(info -> new TopicPartition(topic.name(), info.partition()))
          .filter(partition -> !offsets.containsKey(partition))
          .findFirst()
          .ifPresent(
              partition -> {
                throw new UserErrorException(
                    "there must be an offset where to stop for each partition of the topics of events, there is none for "
                        + partition);
              });
    }
  }

  /**
   * Requires compaction. If keys have a ttl, deletion by age may come in addition: else the topic
   * keeps the keys that were forgotten.
   */
  void requireAcceptedTopic(AclOperation right, Optional<Integer> partitions) {
    String topic = options.acceptedTopic();
    Map<String, String> settings =
        Map.of(
            TopicConfig.DELETE_RETENTION_MS_CONFIG,
            Long.toString(options.maxDowntime().toMillis()));
    String policy =
        describeOrCreateCompacted(topic, Set.of(right), partitions, settings).orElse(COMPACT);
    if (ttl == null || !isCompacted(policy)) {
      requireCompactedOnly(topic, policy);
      return;
    }
    topicConfig(topic, TopicConfig.RETENTION_BYTES_CONFIG)
        .filter(bytes -> !bytes.startsWith("-") && deletes(topic))
        .ifPresent(
            bytes -> {
              throw new UserErrorException(
                  "topic %s must delete records by age alone, it has retention.bytes=%s (set it to -1)"
                      .formatted(topic, bytes));
            });
    Duration needed = lifetime(ttl).plus(options.maxDowntime());
    long keepsMillis = retention(topic);
    if (keepsMillis < needed.toMillis()) {
      throw new UserErrorException(
          "topic %s must keep records for %s (--ttl, an eighth of it, and --max-downtime together), it keeps them for %s (raise its retention.ms to %d, or lower --max-downtime)"
              .formatted(
                  topic,
                  OptionValues.write(needed),
                  OptionValues.write(Duration.ofMillis(keepsMillis)),
                  needed.toMillis()));
    }
  }

  /** For how long a key lives from its time on: it is forgotten up to an eighth later. */
  private static Duration lifetime(Duration ttl) {
    return Duration.ofMillis(ttl.toMillis() + (ttl.toMillis() + 7) / 8);
  }

  /**
   * Requires a topic that takes every record of the topics of events as it is, with its partition
   * and timestamp.
   */
  void requireRecordsTopic(List<TopicDescription> events) {
    String topic = options.recordsTopic();
    readConfigs(events.stream().map(each -> topicResource(each.name())).toList());
    Map<String, String> settings = new HashMap<>();
    settings.put(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, CREATE_TIME);
    widest(events, MAX_AHEAD).ifPresent(millis -> settings.put(MAX_AHEAD, Long.toString(millis)));
    // A record is older when it is passed on than when it was sent.
    settings.put(MAX_AGE, Long.toString(Long.MAX_VALUE));
    // As long as theirs: it has their timestamps, so a shorter time would delete old records at
    // once.
    long retention =
        events.stream().map(TopicDescription::name).mapToLong(this::retention).max().orElseThrow();
    settings.put(
        TopicConfig.RETENTION_MS_CONFIG,
        Long.toString(retention == Long.MAX_VALUE ? -1 : retention));
    int partitions = mostPartitions(events);
    TopicDescription records =
        describeOrCreate(
            topic,
            Set.of(AclOperation.WRITE),
            Optional.of(partitions),
            TopicConfig.CLEANUP_POLICY_DELETE,
            settings);
    if (records.partitions().size() < partitions) {
      throw new UserErrorException(
          "topic %s must have at least %d partitions, as many as the topics of events, it has %d"
              .formatted(topic, partitions, records.partitions().size()));
    }
    // Records without a key cannot be compacted.
    boolean areCompacted =
        events.stream().allMatch(each -> isCompacted(cleanupPolicy(each.name()).orElse("compact")));
    cleanupPolicy(topic)
        .filter(policy -> isCompacted(policy) && !areCompacted)
        .ifPresent(
            policy -> {
              throw new UserErrorException(
                  "topic %s must have cleanup.policy=delete, as a topic of events has, it has %s"
                      .formatted(topic, policy));
            });
    topicConfig(topic, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG)
        .filter(type -> !type.equals(CREATE_TIME))
        .ifPresent(
            type -> {
              throw new UserErrorException(
                  "topic %s must have message.timestamp.type=CreateTime to keep timestamps, it has %s"
                      .formatted(topic, type));
            });
    requireBound(topic, MAX_AHEAD, widest(events, MAX_AHEAD));
    requireBound(topic, MAX_AGE, widest(events, MAX_AGE));
    warnOfRetention(topic, retention);
    warnOfMaxAge(topic, retention);
  }

  /**
   * For how many milliseconds a topic keeps its records; {@link Long#MAX_VALUE} for ever, or for a
   * time that is unknown.
   */
  private long retention(String topic) {
    return topicConfig(topic, TopicConfig.RETENTION_MS_CONFIG)
        .map(Long::parseLong)
        .filter(millis -> millis >= 0 && deletes(topic))
        .orElse(Long.MAX_VALUE);
  }

  /** Whether a topic deletes records by age or size; false if that is unknown. */
  boolean deletes(String topic) {
    return cleanupPolicy(topic)
        .map(policy -> policy.contains(TopicConfig.CLEANUP_POLICY_DELETE))
        .orElse(false);
  }

  /** Only warns: a topic that is there may keep less on purpose. */
  private void warnOfRetention(String topic, long needed) {
    long has = retention(topic);
    if (has < needed) {
      LOG.warn(
          "topic {} keeps records for {} ms (retention.ms), and a topic of events for {}: what is"
              + " older is gone as soon as it is written",
          topic,
          has,
          needed == Long.MAX_VALUE ? "longer or for ever" : needed + " ms");
    }
  }

  private void warnOfMaxAge(String topic, long needed) {
    topicConfig(topic, MAX_AGE)
        .map(Long::parseLong)
        .filter(has -> has < needed)
        .ifPresent(
            has ->
                LOG.warn(
                    "topic {} refuses records that are older than {} ms ({}), and a topic of events"
                        + " keeps them for {}: a job that is so far behind cannot pass them on, and"
                        + " ends",
                    topic,
                    has,
                    MAX_AGE,
                    needed == Long.MAX_VALUE ? "longer or for ever" : needed + " ms"));
  }

  private void requireBound(String topic, String bound, Optional<Long> needed) {
    Optional<Long> has = topicConfig(topic, bound).map(Long::parseLong);
    if (needed.isPresent() && has.isPresent() && has.get() < needed.get()) {
      throw new UserErrorException(
          "topic %s must have %s=%d, as a topic of events has, it has %d"
              .formatted(topic, bound, needed.get(), has.get()));
    }
  }

  /**
   * The largest value among topics that keep the timestamps of producers, as far as it is known.
   */
  private Optional<Long> widest(List<TopicDescription> events, String bound) {
    List<TopicDescription> ofProducers =
        events.stream()
            .filter(
                topic ->
                    topicConfig(topic.name(), TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG)
                        .equals(Optional.of(CREATE_TIME)))
            .toList();
    return values(ofProducers, bound).max(Comparator.naturalOrder());
  }

  private Stream<Long> values(List<TopicDescription> topics, String name) {
    return topics.stream()
        .flatMap(topic -> topicConfig(topic.name(), name).stream())
        .map(Long::parseLong);
  }

  private static boolean isCompacted(String cleanupPolicy) {
    return cleanupPolicy.contains(COMPACT);
  }

  /** Requires that the records of removals stay for as long as the job may be down. */
  Duration requireRetention() {
    String topic = options.acceptedTopic();
    Duration needed = options.maxDowntime();
    Duration retention =
        topicConfig(topic, TopicConfig.DELETE_RETENTION_MS_CONFIG)
            .map(millis -> Duration.ofMillis(Long.parseLong(millis)))
            .orElse(needed);
    if (retention.compareTo(needed) < 0) {
      throw new UserErrorException(
          "topic %s must keep removals for --max-downtime, which is %s, it keeps them for %s (raise its delete.retention.ms to %d, or lower --max-downtime)"
              .formatted(
                  topic,
                  OptionValues.write(needed),
                  OptionValues.write(retention),
                  needed.toMillis()));
    }
    // If it deletes by age, what is unread goes after that time.
    return Duration.ofMillis(Math.min(retention.toMillis(), retention(topic)));
  }

  /** A topic that is there may have any number of partitions, see {@link SnapshotTopicFormat}. */
  private void requireSnapshotsTopic() {
    requireSnapshotsTopic(EnumSet.of(AclOperation.READ, AclOperation.WRITE));
  }

  void requireSnapshotsTopic(Set<AclOperation> rights) {
    requireCompacted(options.snapshotsTopic(), rights, Optional.of(SNAPSHOTS_PARTITIONS), Map.of());
  }

  /** Only its first partition is used. */
  void requireClaimsTopic() {
    requireCompacted(
        options.claimsTopic(),
        EnumSet.of(AclOperation.READ, AclOperation.WRITE),
        Optional.of(1),
        CLAIMS_SETTINGS);
  }

  /**
   * Requires compaction: deletion by age would lose live keys, and without compaction the topic
   * would grow without bound.
   *
   * @param partitions how many to create if the topic is missing; the broker's default if empty
   * @param settings more settings of a topic that is created
   */
  private void requireCompacted(
      String topic,
      Set<AclOperation> rights,
      Optional<Integer> partitions,
      Map<String, String> settings) {
    requireCompactedOnly(
        topic, describeOrCreateCompacted(topic, rights, partitions, settings).orElse(COMPACT));
  }

  /** The cleanup policy of a topic that is made for compaction if it is missing. */
  private Optional<String> describeOrCreateCompacted(
      String topic,
      Set<AclOperation> rights,
      Optional<Integer> partitions,
      Map<String, String> settings) {
    describeOrCreate(topic, rights, partitions, COMPACT, settings);
    return cleanupPolicy(topic);
  }

  private void requireCompactedOnly(String topic, String policy) {
    if (!policy.equals(COMPACT)) {
      throw wrongPolicy(topic, COMPACT, policy);
    }
  }

  /**
   * Refuses compaction, which would keep one repeat of each key and refuse records without a key.
   */
  void requireNotCompacted(String topic, Optional<Integer> partitions) {
    describeOrCreate(
        topic, Set.of(AclOperation.WRITE), partitions, TopicConfig.CLEANUP_POLICY_DELETE, Map.of());
    cleanupPolicy(topic)
        .filter(Topics::isCompacted)
        .ifPresent(
            policy -> {
              throw wrongPolicy(topic, TopicConfig.CLEANUP_POLICY_DELETE, policy);
            });
  }

  private UserErrorException wrongPolicy(String topic, String needed, String policy) {
    return new UserErrorException(
        "topic %s must have cleanup.policy=%s, it has %s: set it by kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %s --add-config cleanup.policy=%s, or take another topic"
            .formatted(topic, needed, policy, servers, topic, needed));
  }

  /** Requires that the brokers allow it; gives the longest that they allow, if they tell. */
  Optional<Duration> requireTransactionTimeout(Duration timeout) {
    String anyBroker = brokers.iterator().next().idString();
    Optional<Duration> longest =
        config(
                new ConfigResource(ConfigResource.Type.BROKER, anyBroker),
                "transaction.max.timeout.ms")
            .map(millis -> Duration.ofMillis(Long.parseLong(millis)));
    if (longest.isPresent() && timeout.compareTo(longest.get()) > 0) {
      throw new UserErrorException(
          "--transaction-timeout must be at most %s, which is what the brokers at %s allow, got %s"
              .formatted(OptionValues.write(longest.get()), servers, OptionValues.write(timeout)));
    }
    return longest;
  }

  /**
   * Requires the rights on consumer group and transactional ids, by asking about them. To ask needs
   * the right to describe, which those to read and to write include.
   *
   * @param reads whether the job has the group
   * @param output the topic that group and ids name
   */
  void requireGroupAndIds(boolean reads, String output) {
    String name = options.transactionalIdPrefix(output);
    // The job's id follows.
    String id = name + ".0";
    requireRight(
        admin.describeTransactions(List.of(id)).description(id),
        "the job's user may not write with transactional ids that begin with %s. at %s: allow it by kafka-acls.sh --operation Write --transactional-id %s. --resource-pattern-type prefixed"
            .formatted(name, servers, name));
    if (reads) {
      requireRight(
          admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata(),
          "the job's user may not read in consumer group %s at %s: allow it by kafka-acls.sh --operation Read --group %s"
              .formatted(name, servers, name));
    }
  }

  /**
   * Returns for each partition whose committed offset is gone where the job resumes and what there
   * is. Nothing is known without a consumer group, or without a right on it.
   */
  List<String> lostOffsets(String output, Collection<String> inputs) {
    Map<TopicPartition, Long> committed = new HashMap<>();
    try {
      getOrThrow(
              admin
                  .listConsumerGroupOffsets(options.transactionalIdPrefix(output))
                  .partitionsToOffsetAndMetadata())
          .forEach(
              (partition, offset) -> {
                if (offset != null && inputs.contains(partition.topic())) {
                  committed.put(partition, offset.offset());
                }
              });
    } catch (GroupIdNotFoundException | AuthorizationException e) {
      LOG.debug("no offsets are committed, as far as is known", e);
    } catch (KafkaException e) {
      throw refusal(e);
    }
    Map<TopicPartition, Long> begins = offsets(committed.keySet(), OffsetSpec.earliest());
    Map<TopicPartition, Long> ends = offsets(committed.keySet(), OffsetSpec.latest());
    return committed.keySet().stream()
        .filter(each -> InputTopics.isLoss(committed.get(each), begins.get(each), ends.get(each)))
        .map(each -> InputTopics.range(each, committed.get(each), begins.get(each), ends.get(each)))
        .toList();
  }

  private Map<TopicPartition, Long> offsets(
      Collection<TopicPartition> partitions, OffsetSpec which) {
    Map<TopicPartition, OffsetSpec> specs = new HashMap<>();
    partitions.forEach(partition -> specs.put(partition, which));
    Map<TopicPartition, Long> offsets = new HashMap<>();
    get(admin.listOffsets(specs).all())
        .forEach((partition, result) -> offsets.put(partition, result.offset()));
    return offsets;
  }

  private void requireRight(KafkaFuture<?> answer, String refusal) {
    try {
      getOrThrow(answer);
    } catch (AuthorizationException e) {
      throw new UserErrorException(refusal);
    } catch (TransactionalIdNotFoundException
        | GroupIdNotFoundException
        | UnsupportedVersionException e) {
      LOG.debug("there is none yet, or the broker does not tell", e);
    } catch (TimeoutException e) {
      throw new UserErrorException(
          "the brokers at %s told nothing of transactions or groups within %s: try again if they have just started; otherwise make sure that transaction.state.log.replication.factor and offsets.topic.replication.factor are at most the number of brokers, %d"
              .formatted(servers, OptionValues.write(PATIENCE), brokers.size()));
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  private TopicDescription describeOrCreate(
      String topic,
      Set<AclOperation> rights,
      Optional<Integer> partitions,
      String cleanupPolicy,
      Map<String, String> settings) {
    TopicDescription description =
        describe(topic, rights)
            .orElseGet(
                () -> {
                  create(topic, partitions, cleanupPolicy, settings);
                  return awaitDescription(topic, rights);
                });
    requireReplicas(description);
    if (rights.contains(AclOperation.WRITE)) {
      requireRecordSize(topic);
    }
    return description;
  }

  /** A record that is refused would fail the job again and again. */
  private void requireRecordSize(String topic) {
    int most =
        topicConfig(topic, TopicConfig.MAX_MESSAGE_BYTES_CONFIG)
            .map(Integer::parseInt)
            .orElse(Integer.MAX_VALUE);
    if (most < KafkaOptions.MAX_WRITTEN_BYTES) {
      throw new UserErrorException(
          "topic %s must take records of %d bytes, its max.message.bytes is %d: raise it by kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %s --add-config max.message.bytes=1048588"
              .formatted(topic, KafkaOptions.MAX_WRITTEN_BYTES, most, servers, topic));
    }
  }

  private void requireReplicas(TopicDescription topic) {
    int replicas =
        topic.partitions().stream().mapToInt(each -> each.replicas().size()).min().orElse(0);
    int needed = options.replicationFactor().orElse((short) 1);
    if (replicas < needed) {
      throw new UserErrorException(
          "topic %s must have %d replicas (--topic-replication-factor), it has %d: add replicas with kafka-reassign-partitions.sh, or lower the option"
              .formatted(topic.name(), needed, replicas));
    }
    Optional<Integer> inSync =
        topicConfig(topic.name(), TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG).map(Integer::parseInt);
    if (options.minInsyncReplicas().isPresent()) {
      requireInSync(topic.name(), inSync, options.minInsyncReplicas().get());
    } else if (replicas > 1 && inSync.equals(Optional.of(1))) {
      acknowledgedByOne.add(topic.name());
    }
  }

  private void requireInSync(String topic, Optional<Integer> inSync, int needed) {
    if (inSync.isEmpty()) {
      throw new UserErrorException(
          "the job's user may not read min.insync.replicas of topic %s at %s: allow it by kafka-acls.sh --operation DescribeConfigs --topic %s, or leave --topic-min-insync-replicas out"
              .formatted(topic, servers, topic));
    }
    if (inSync.get() < needed) {
      throw new UserErrorException(
          "topic %s must have min.insync.replicas=%d (--topic-min-insync-replicas), it has %d: raise it by kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %s --add-config min.insync.replicas=%d, or lower the option"
              .formatted(topic, needed, inSync.get(), servers, topic, needed));
    }
  }

  /**
   * Whether a record of a topic that was checked counts as written once one of several brokers has
   * it.
   */
  boolean isWeak(String topic) {
    return acknowledgedByOne.contains(topic);
  }

  /** The number of brokers. */
  int brokerCount() {
    return brokers.size();
  }

  /** The level of the feature {@code metadata.version}; empty if the brokers do not tell. */
  OptionalInt metadataLevel() {
    try {
      FinalizedVersionRange range =
          getOrThrow(admin.describeFeatures().featureMetadata())
              .finalizedFeatures()
              .get("metadata.version");
      return range == null ? OptionalInt.empty() : OptionalInt.of(range.maxVersionLevel());
    } catch (KafkaException e) {
      LOG.debug("the broker does not tell its features", e);
      return OptionalInt.empty();
    }
  }

  private void warnOfWeakTopics() {
    if (!acknowledgedByOne.isEmpty()) {
      LOG.warn(
          "min.insync.replicas is 1, so a record counts as written once a single broker has it, and is"
              + " lost with that broker, on {} (--topic-min-insync-replicas)",
          String.join(", ", acknowledgedByOne));
    }
  }

  private void create(
      String topic,
      Optional<Integer> partitions,
      String cleanupPolicy,
      Map<String, String> settings) {
    if (options.topicsOfState().contains(topic)) {
      throw new UserErrorException(
          "topic %s does not exist at %s, and the job starts from state of a job that has written its topics: name the topics of that job, or start the job with --accept-new-topic to create this one, which has no earlier records"
              .formatted(topic, servers));
    }
    if (!mayMake) {
      throw new UserErrorException(
          "topic %s was deleted at %s meanwhile".formatted(topic, servers));
    }
    NewTopic newTopic = new NewTopic(topic, partitions, options.replicationFactor());
    Map<String, String> all = new HashMap<>(settings);
    options
        .minInsyncReplicas()
        .ifPresent(
            count -> all.put(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, Short.toString(count)));
    all.put(TopicConfig.CLEANUP_POLICY_CONFIG, cleanupPolicy);
    newTopic.configs(all);
    try {
      getOrThrow(admin.createTopics(List.of(newTopic)).all());
    } catch (TopicExistsException e) {
      LOG.debug("somebody else made it, or the broker that was asked did not know it yet", e);
    } catch (AuthorizationException e) {
      throw new UserErrorException(
          "there is no topic %s at %s, and it may not be made: make it with cleanup.policy=%s"
              .formatted(topic, servers, cleanupPolicy));
    } catch (InvalidReplicationFactorException e) {
      throw new UserErrorException(
          "topic %s cannot have %s replicas at %s, the number of brokers is %d: start more of them, or set --topic-replication-factor to at most %d"
              .formatted(
                  topic,
                  options
                      .replicationFactor()
                      .map(String::valueOf)
                      .orElse("default.replication.factor"),
                  servers,
                  brokers.size(),
                  brokers.size()));
    } catch (KafkaException e) {
      if (settings.equals(CLAIMS_SETTINGS)) {
        LOG.warn("topic {} is made without {}: {}", topic, settings, deepestMessage(e));
        create(topic, partitions, cleanupPolicy, Map.of());
        return;
      }
      throw new UserErrorException(
          "cannot make topic %s at %s: %s".formatted(topic, servers, deepestMessage(e)));
    }
    awaitLeaders(topic);
  }

  /** Waits until a new topic accepts records: records sent earlier can be lost. */
  private void awaitLeaders(String topic) {
    long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        TopicDescription description =
            getOrThrow(admin.describeTopics(List.of(topic)).topicNameValues().get(topic));
        description
            .partitions()
            .forEach(
                partition ->
                    ends.put(
                        new TopicPartition(topic, partition.partition()), OffsetSpec.latest()));
        getOrThrow(admin.listOffsets(ends).all());
        return;
      } catch (KafkaException e) {
        if (System.nanoTime() > deadlineNanos) {
          throw new UserErrorException(
              "topic %s was made at %s but takes no records: %s"
                  .formatted(topic, servers, deepestMessage(e)));
        }
      }
      pause();
    }
  }

  /** Describes a new topic, which not every broker knows at once. */
  private TopicDescription awaitDescription(String topic, Set<AclOperation> rights) {
    long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Optional<TopicDescription> description = describe(topic, rights);
      if (description.isPresent()) {
        return description.get();
      }
      if (System.nanoTime() > deadlineNanos) {
        throw new UserErrorException(
            "topic %s was made at %s but is not there".formatted(topic, servers));
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UserErrorException("interrupted while waiting for Kafka");
    }
  }

  /** The topic, on which the job's user needs rights; empty if there is none. */
  Optional<TopicDescription> describe(String topic, Set<AclOperation> rights) {
    return description(topic, rights, askAbout(List.of(topic)).get(topic));
  }

  private Map<String, KafkaFuture<TopicDescription>> askAbout(List<String> topics) {
    DescribeTopicsOptions withRights =
        new DescribeTopicsOptions().includeAuthorizedOperations(true);
    return admin.describeTopics(topics, withRights).topicNameValues();
  }

  private Optional<TopicDescription> description(
      String topic, Set<AclOperation> rights, KafkaFuture<TopicDescription> answer) {
    try {
      TopicDescription description = getOrThrow(answer);
      Set<AclOperation> held = description.authorizedOperations();
      // Null, or none at all, from brokers that do not tell.
      if (held != null && !held.isEmpty() && !held.containsAll(rights)) {
        Set<AclOperation> missing = EnumSet.copyOf(rights);
        missing.removeAll(held);
        throw mayNot(topic, missing);
      }
      return Optional.of(description);
    } catch (UnknownTopicOrPartitionException e) {
      return Optional.empty();
    } catch (TopicAuthorizationException e) {
      throw mayNot(topic, rights);
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  private UserErrorException mayNot(String topic, Set<AclOperation> rights) {
    List<String> names =
        rights.stream()
            .sorted()
            .map(right -> right == AclOperation.READ ? "Read" : "Write")
            .toList();
    return new UserErrorException(
        "the job's user may not %s topic %s at %s: allow it by kafka-acls.sh --operation %s --topic %s"
            .formatted(
                String.join(" and ", names).toLowerCase(Locale.ROOT),
                topic,
                servers,
                String.join(" --operation ", names),
                topic));
  }

  private Optional<String> cleanupPolicy(String topic) {
    return topicConfig(topic, TopicConfig.CLEANUP_POLICY_CONFIG);
  }

  /** A setting of a topic; empty if we are not authorised to read it. */
  Optional<String> topicConfig(String topic, String name) {
    return config(topicResource(topic), name);
  }

  private static ConfigResource topicResource(String topic) {
    return new ConfigResource(ConfigResource.Type.TOPIC, topic);
  }

  /** A setting; empty if we are not authorised to read it. */
  private Optional<String> config(ConfigResource resource, String name) {
    if (!configs.containsKey(resource)) {
      readConfigs(List.of(resource));
    }
    return configs.get(resource).map(config -> config.get(name)).map(ConfigEntry::value);
  }

  /** Reads the settings of many at once. */
  private void readConfigs(List<ConfigResource> resources) {
    admin
        .describeConfigs(resources)
        .values()
        .forEach((resource, answer) -> configs.put(resource, config(resource, answer)));
  }

  private Optional<Config> config(ConfigResource resource, KafkaFuture<Config> answer) {
    try {
      return Optional.of(awaitKnown(resource, answer));
    } catch (AuthorizationException e) {
      return Optional.empty();
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  /** Asks again if the broker that was asked does not know a topic yet that another one knows. */
  private Config awaitKnown(ConfigResource resource, KafkaFuture<Config> firstAnswer) {
    long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
    KafkaFuture<Config> answer = firstAnswer;
    while (true) {
      try {
        return getOrThrow(answer);
      } catch (UnknownTopicOrPartitionException e) {
        if (System.nanoTime() > deadlineNanos) {
          throw e;
        }
      }
      pause();
      answer = admin.describeConfigs(List.of(resource)).values().get(resource);
    }
  }

  private <T> T get(KafkaFuture<T> future) {
    try {
      return getOrThrow(future);
    } catch (KafkaException e) {
      throw refusal(e);
    }
  }

  private UserErrorException refusal(KafkaException e) {
    return new UserErrorException(
        e instanceof TimeoutException
            ? "no Kafka broker answers at %s (waited %s)"
                .formatted(servers, OptionValues.write(PATIENCE))
            : "Kafka at %s refuses: %s".formatted(servers, deepestMessage(e)));
  }

  private static <T> T getOrThrow(KafkaFuture<T> future) {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof KafkaException kafka ? kafka : new KafkaException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted", e);
    }
  }

  private static String deepestMessage(Throwable e) {
    Throwable deepest = e;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    return deepest.getMessage();
  }

  @Override
  public void close() {
    admin.close(Duration.ZERO);
  }
}
