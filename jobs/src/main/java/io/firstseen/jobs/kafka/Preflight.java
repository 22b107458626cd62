package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobIdentity;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.jobs.shared.Finding;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSavepoint;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.TopicConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a job requires of its brokers, topics and rights there, one by one. A job requires all of it
 * before it starts: the first requirement that does not hold is a {@link UserErrorException}, and
 * missing topics that the job writes to are created. A report has a finding for each requirement,
 * and creates nothing.
 */
public final class Preflight implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Preflight.class);
  private static final long CLOCK_MILLIS = 60_000;
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
  private static final String DELETE = TopicConfig.CLEANUP_POLICY_DELETE;
  // How far the timestamp of a record may be from the broker's clock.
  private static final String MAX_AGE = TopicConfig.MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG;
  private static final String MAX_AHEAD = TopicConfig.MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG;
  private static final Set<AclOperation> READ = Set.of(AclOperation.READ);
  private static final Set<AclOperation> WRITE = Set.of(AclOperation.WRITE);
  private static final Set<AclOperation> BOTH = EnumSet.of(AclOperation.READ, AclOperation.WRITE);

  /**
   * What must hold.
   *
   * @param check what is checked, in a few words
   * @param body finds how it is; throws {@link UserErrorException} if it does not hold
   */
  private record Requirement(String check, Runnable body) {}

  private final KafkaOptions options;
  private final Job job;
  private final @Nullable Duration ttl;
  private final Optional<JobIdentity> identity;
  private final Optional<String> restoredFrom;
  private final boolean creates;
  private final Consumer<Finding> found;
  private final String servers;
  private final Brokers brokers;
  private final List<Requirement> requirements = new ArrayList<>();
  private final List<TopicDescription> events = new ArrayList<>();
  // Of the topic that is checked.
  private final List<String> warnings = new ArrayList<>();
  private Duration retention = Duration.ZERO;
  private boolean isSnapshotsTopicThere;

  private Preflight(
      JobNeeds needs, Optional<String> restoredFrom, boolean creates, Consumer<Finding> found) {
    this.options = needs.kafka();
    this.job = needs.job();
    this.ttl = needs.ttl().orElse(null);
    this.identity = needs.identity();
    this.restoredFrom = restoredFrom;
    this.creates = creates;
    this.found = found;
    this.servers = options.bootstrapServers();
    this.brokers = new Brokers(options.clientProperties(), servers);
    if (job.dedups()) {
      transactionTimeout();
      eventsTopics();
      outputsOfDedup();
      rights(true, options.outputTopic());
    } else if (job == Job.SNAPSHOTS) {
      transactionTimeout();
      topic(options.acceptedTopic(), READ, this::acceptedTopic, this::requireAcceptedTopic);
      optionsOfDedup();
    }
    if (job.publishes()) {
      snapshotsTopic(BOTH);
      rights(job == Job.SNAPSHOTS, options.snapshotsTopic());
    } else if (job == Job.NONE) {
      snapshotsTopic(READ);
    }
  }

  /**
   * Requires what the job needs. Creates missing topics that it writes to, and logs what may not be
   * wanted.
   *
   * @param restoredFrom the savepoint or checkpoint that the job starts from; empty without state
   * @return for how long the accepted topic keeps what a job with snapshots has not read
   * @throws UserErrorException if something does not hold
   */
  public static Duration require(JobNeeds needs, Optional<String> restoredFrom) {
    Consumer<Finding> logged =
        finding -> {
          if (finding.status() == Finding.Status.WARNING) {
            LOG.warn("{}: {}", finding.check(), finding.text());
          }
        };
    try (Preflight preflight = new Preflight(needs, restoredFrom, true, logged)) {
      preflight.requirements.forEach(requirement -> requirement.body().run());
      return preflight.retention;
    }
  }

  /**
   * Reports how everything is. Without brokers there is one finding, after 12 seconds.
   *
   * @param setName the set whose newest manifest is looked at
   * @param trusted the keys, one of which must have signed it; empty for any manifest
   * @param release the name of a {@code metadata.version}
   * @param found gets each finding at once
   */
  public static void report(
      JobNeeds needs,
      String setName,
      List<TrustedKey> trusted,
      IntFunction<String> release,
      Consumer<Finding> found) {
    try (Preflight preflight = new Preflight(needs, Optional.empty(), false, found)) {
      preflight.brokers(release);
      preflight.observe(setName, trusted);
      for (Requirement requirement : preflight.requirements) {
        try {
          requirement.body().run();
        } catch (UserErrorException e) {
          found.accept(Finding.failed(requirement.check(), e.getMessage()));
        }
      }
    } catch (UserErrorException e) {
      // Only the connection is outside of all requirements.
      found.accept(Finding.failed("brokers", e.getMessage()));
    }
  }

  /** Adds what a job finds out from its state, or does not need. */
  private void observe(String setName, List<TrustedKey> trusted) {
    if (job.dedups()) {
      requirement(
          "offsets of the topics of events",
          () ->
              lostOffsets(
                  options.outputTopic(), events.stream().map(TopicDescription::name).toList()));
      requirement("topics of the last job", this::writtenTopics);
      optionsOfDedup();
    } else if (job == Job.SNAPSHOTS) {
      requirement(
          "offsets of topic " + options.acceptedTopic(),
          () -> lostOffsets(options.snapshotsTopic(), List.of(options.acceptedTopic())));
    }
    if (job != Job.DEDUP) {
      newestManifest(setName, trusted);
    }
  }

  private void requirement(String check, Runnable body) {
    requirements.add(new Requirement(check, body));
  }

  private void brokers(IntFunction<String> release) {
    String version =
        brokers.metadataLevel().stream()
            .mapToObj(release)
            .findFirst()
            .map(name -> ", version " + name)
            .orElse("");
    int count = brokers.count();
    found.accept(
        Finding.ok(
            "brokers",
            "%d %s at %s%s".formatted(count, count == 1 ? "broker" : "brokers", servers, version)));
  }

  private void transactionTimeout() {
    String check = "transaction timeout";
    String timeout = OptionValues.write(options.transactionTimeout());
    requirement(
        check,
        () -> {
          Duration longest =
              brokers
                  .setting("transaction.max.timeout.ms")
                  .map(millis -> Duration.ofMillis(Long.parseLong(millis)))
                  .orElse(null);
          if (longest == null) {
            found.accept(
                Finding.warning(
                    check,
                    "the brokers do not tell transaction.max.timeout.ms: allow this user DescribeConfigs on the cluster, or make sure that it is at least "
                        + timeout));
          } else if (options.transactionTimeout().compareTo(longest) > 0) {
            throw new UserErrorException(
                "--transaction-timeout must be at most %s, which is what the brokers at %s allow, got %s"
                    .formatted(OptionValues.write(longest), servers, timeout));
          } else {
            found.accept(
                Finding.ok(
                    check,
                    "--transaction-timeout is %s, the brokers allow %s"
                        .formatted(timeout, OptionValues.write(longest))));
          }
        });
  }

  /**
   * Requires the rights on transactional ids and, if the job reads, on the consumer group.
   *
   * @param output the topic that group and ids name
   */
  private void rights(boolean reads, String output) {
    String check = "rights for " + output;
    String name = options.transactionalIdPrefix(output);
    requirement(
        check,
        () -> {
          brokers.requireIds(name);
          if (reads) {
            brokers.requireGroup(name);
          }
          found.accept(
              Finding.ok(
                  check,
                  "nothing forbids transactional ids %s.*%s"
                      .formatted(name, reads ? " and consumer group " + name : "")));
        });
  }

  private void eventsTopics() {
    Pattern pattern = options.eventsTopicPattern().orElse(null);
    if (pattern == null) {
      options.eventsTopics().forEach(this::eventsTopic);
    } else {
      String check = "topics of events";
      requirement(
          check,
          () -> {
            List<String> names =
                brokers.topics().stream()
                    .filter(name -> pattern.matcher(name).matches())
                    .sorted()
                    .toList();
            events.addAll(brokers.topics(names, READ).values());
            if (events.isEmpty()) {
              throw new UserErrorException(
                  "there is no topic at %s that matches %s to read events from"
                      .formatted(servers, pattern));
            }
            found.accept(Finding.ok(check, String.join(", ", names)));
          });
    }
    options.stopOffsets().ifPresent(this::stopOffsets);
  }

  private void eventsTopic(String name) {
    String check = "topic " + name;
    requirement(
        check,
        () -> {
          TopicDescription topic =
              brokers
                  .topic(name, READ)
                  .orElseThrow(
                      () ->
                          new UserErrorException(
                              "there is no topic %s at %s to read events from: make it by kafka-topics.sh --bootstrap-server %2$s --create --topic %1$s, or name yours with --events-topic"
                                  .formatted(name, servers)));
          events.add(topic);
          found.accept(Finding.ok(check, settings(topic)));
        });
  }

  /** Refuses to leave a partition out, which would pass for one that has been read. */
  private void stopOffsets(Map<TopicPartition, Long> offsets) {
    requirement(
        "offsets where to stop",
        () ->
            events.stream()
                .flatMap(
                    topic ->
                        topic.partitions().stream()
                            .map(info -> new TopicPartition(topic.name(), info.partition())))
                .filter(partition -> !offsets.containsKey(partition))
                .findFirst()
                .ifPresent(
                    partition -> {
                      throw new UserErrorException(
                          "there must be an offset where to stop for each partition of the topics of events, there is none for "
                              + partition);
                    }));
  }

  private int mostPartitions() {
    return events.stream().mapToInt(each -> each.partitions().size()).max().orElseThrow();
  }

  private void outputsOfDedup() {
    if (options.output().hasChangelog()) {
      topic(options.acceptedTopic(), WRITE, this::acceptedTopic, this::requireAcceptedTopic);
    }
    if (options.output().hasRecords()) {
      topic(options.recordsTopic(), WRITE, this::recordsTopic, this::requireRecordsTopic);
    }
    if (options.duplicates() != Duplicates.NONE) {
      notCompacted(options.duplicatesTopic());
    }
    notCompacted(options.deadLettersTopic());
    String claims = options.claimsTopic();
    // Only its first partition is used.
    topic(
        claims,
        BOTH,
        () -> newTopic(claims, Optional.of(1), COMPACT, CLAIMS_SETTINGS),
        topic -> requireCompactedOnly(claims));
  }

  /** A topic that is there may have any number of partitions, see {@link SnapshotTopicFormat}. */
  private void snapshotsTopic(Set<AclOperation> rights) {
    String name = options.snapshotsTopic();
    topic(
        name,
        rights,
        () -> newTopic(name, Optional.of(SNAPSHOTS_PARTITIONS), COMPACT, Map.of()),
        topic -> {
          requireCompactedOnly(name);
          isSnapshotsTopicThere = true;
        });
  }

  /**
   * Refuses compaction, which would keep one repeat of each key and refuse records without a key.
   */
  private void notCompacted(String name) {
    topic(
        name,
        WRITE,
        () -> newTopic(name, Optional.of(mostPartitions()), DELETE, Map.of()),
        topic ->
            cleanupPolicy(name)
                .filter(Preflight::isCompacted)
                .ifPresent(
                    policy -> {
                      throw wrongPolicy(name, DELETE, policy);
                    }));
  }

  /**
   * Requires a topic.
   *
   * @param missing the topic to create if it is missing
   * @param body throws if the topic is not as it must be
   */
  private void topic(
      String name,
      Set<AclOperation> rights,
      Supplier<NewTopic> missing,
      Consumer<TopicDescription> body) {
    String check = "topic " + name;
    requirement(
        check,
        () -> {
          Optional<TopicDescription> known = brokers.topic(name, rights);
          if (known.isEmpty() && !creates) {
            found.accept(
                job == Job.NONE
                    ? absent(check, "there is no such topic at " + servers)
                    : Finding.ok(check, "not there yet; the job makes it, if its user may"));
            return;
          }
          warnings.clear();
          TopicDescription topic = known.orElseGet(() -> create(missing.get(), rights));
          requireReplicas(topic);
          if (rights.contains(AclOperation.WRITE)) {
            requireRecordSize(name);
          }
          body.accept(topic);
          if (cleanupPolicy(name).isEmpty()) {
            warnings.add(
                "its settings are not checked, as this user may not read them: allow it DescribeConfigs on the topic");
          }
          String settings = settings(topic);
          warnings.forEach(each -> found.accept(Finding.warning(check, settings + "; " + each)));
          if (warnings.isEmpty()) {
            found.accept(Finding.ok(check, settings));
          }
        });
  }

  /** What is not there yet is a problem of those who only read it. */
  private Finding absent(String check, String sentence) {
    return job == Job.NONE
        ? Finding.warning(check, sentence + ": start the job that publishes, or name another")
        : Finding.ok(check, sentence + " yet");
  }

  private String settings(TopicDescription topic) {
    int partitions = topic.partitions().size();
    int replicas = replicas(topic);
    StringBuilder text = new StringBuilder();
    text.append(partitions).append(partitions == 1 ? " partition, " : " partitions, ");
    text.append(replicas).append(replicas == 1 ? " replica" : " replicas");
    for (String name :
        List.of(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, TopicConfig.CLEANUP_POLICY_CONFIG)) {
      brokers
          .setting(topic.name(), name)
          .ifPresent(value -> text.append(", ").append(name).append('=').append(value));
    }
    return text.toString();
  }

  private static int replicas(TopicDescription topic) {
    return topic.partitions().stream().mapToInt(each -> each.replicas().size()).min().orElse(0);
  }

  private NewTopic newTopic(
      String name, Optional<Integer> partitions, String policy, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    options
        .minInsyncReplicas()
        .ifPresent(
            count -> all.put(TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG, Short.toString(count)));
    all.put(TopicConfig.CLEANUP_POLICY_CONFIG, policy);
    return new NewTopic(name, partitions, options.replicationFactor()).configs(all);
  }

  private TopicDescription create(NewTopic topic, Set<AclOperation> rights) {
    if (isOfState(topic.name())) {
      throw new UserErrorException(
          "topic %s does not exist at %s, and the job starts from state of a job that has written its topics: name the topics of that job, or start the job with --accept-new-topic to create this one, which has no earlier records"
              .formatted(topic.name(), servers));
    }
    try {
      return brokers.create(topic, rights);
    } catch (UserErrorException e) {
      if (!topic.configs().keySet().containsAll(CLAIMS_SETTINGS.keySet())) {
        throw e;
      }
      TopicDescription plain =
          brokers.create(newTopic(topic.name(), Optional.of(1), COMPACT, Map.of()), rights);
      warnings.add("it was made without %s: %s".formatted(CLAIMS_SETTINGS, e.getMessage()));
      return plain;
    }
  }

  /** Whether the job of the state has written a topic, as far as the state can be read here. */
  private boolean isOfState(String topic) {
    if (restoredFrom.isEmpty() || options.acceptNewTopic()) {
      return false;
    }
    try {
      Set<String> states = DedupSavepoint.operatorStates(restoredFrom.get());
      return Stream.of(OutputTopics.ofOutcomes(options), OutputTopics.ofDeadLetters(options))
          .flatMap(topics -> topics.names().entrySet().stream())
          .anyMatch(
              each ->
                  each.getValue().equals(topic)
                      && states.contains(OutputTopics.state(each.getKey())));
    } catch (IOException | RuntimeException e) {
      LOG.info(
          "cannot read the state at {} here, so its topics are checked later",
          restoredFrom.get(),
          e);
      return false;
    }
  }

  private void requireReplicas(TopicDescription topic) {
    int replicas = replicas(topic);
    int needed = options.replicationFactor().orElse((short) 1);
    if (replicas < needed) {
      throw new UserErrorException(
          "topic %s must have %d replicas (--topic-replication-factor), it has %d: add replicas with kafka-reassign-partitions.sh, or lower the option"
              .formatted(topic.name(), needed, replicas));
    }
    Optional<Integer> inSync =
        brokers
            .setting(topic.name(), TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG)
            .map(Integer::parseInt);
    if (options.minInsyncReplicas().isPresent()) {
      requireInSync(topic.name(), inSync, options.minInsyncReplicas().get());
    } else if (replicas > 1 && inSync.equals(Optional.of(1))) {
      warnings.add(
          "a record counts as written once a single broker has it, and is lost with that broker: raise min.insync.replicas to 2 (--topic-min-insync-replicas)");
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

  /** A record that is refused would fail the job again and again. */
  private void requireRecordSize(String topic) {
    int most =
        brokers
            .setting(topic, TopicConfig.MAX_MESSAGE_BYTES_CONFIG)
            .map(Integer::parseInt)
            .orElse(Integer.MAX_VALUE);
    if (most < KafkaOptions.MAX_WRITTEN_BYTES) {
      throw new UserErrorException(
          "topic %s must take records of %d bytes, its max.message.bytes is %d: raise it by kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %s --add-config max.message.bytes=1048588"
              .formatted(topic, KafkaOptions.MAX_WRITTEN_BYTES, most, servers, topic));
    }
  }

  private NewTopic acceptedTopic() {
    return newTopic(
        options.acceptedTopic(),
        job.dedups() ? Optional.of(mostPartitions()) : Optional.empty(),
        COMPACT,
        Map.of(
            TopicConfig.DELETE_RETENTION_MS_CONFIG,
            Long.toString(options.maxDowntime().toMillis())));
  }

  /**
   * Requires compaction. If keys have a ttl, deletion by age may come in addition: else the topic
   * keeps the keys that were forgotten.
   */
  private void requireAcceptedTopic(TopicDescription described) {
    String topic = described.name();
    if (ttl == null || !isCompacted(cleanupPolicy(topic).orElse(COMPACT))) {
      requireCompactedOnly(topic);
    } else {
      brokers
          .setting(topic, TopicConfig.RETENTION_BYTES_CONFIG)
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
    if (job == Job.SNAPSHOTS) {
      requireRetention(topic);
    }
  }

  /** For how long a key lives from its time on: it is forgotten up to an eighth later. */
  private static Duration lifetime(Duration ttl) {
    return Duration.ofMillis(ttl.toMillis() + (ttl.toMillis() + 7) / 8);
  }

  /** Requires that the records of removals stay for as long as the job may be down. */
  private void requireRetention(String topic) {
    Duration needed = options.maxDowntime();
    Duration keeps =
        brokers
            .setting(topic, TopicConfig.DELETE_RETENTION_MS_CONFIG)
            .map(millis -> Duration.ofMillis(Long.parseLong(millis)))
            .orElse(needed);
    if (keeps.compareTo(needed) < 0) {
      throw new UserErrorException(
          "topic %s must keep removals for --max-downtime, which is %s, it keeps them for %s (raise its delete.retention.ms to %d, or lower --max-downtime)"
              .formatted(
                  topic, OptionValues.write(needed), OptionValues.write(keeps), needed.toMillis()));
    }
    // If it deletes by age, what is unread goes after that time.
    retention = Duration.ofMillis(Math.min(keeps.toMillis(), retention(topic)));
  }

  private NewTopic recordsTopic() {
    brokers.readSettings(events.stream().map(TopicDescription::name).toList());
    Map<String, String> settings = new HashMap<>();
    settings.put(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, CREATE_TIME);
    widest(MAX_AHEAD).ifPresent(millis -> settings.put(MAX_AHEAD, Long.toString(millis)));
    // A record is older when it is passed on than when it was sent.
    settings.put(MAX_AGE, Long.toString(Long.MAX_VALUE));
    // It has their timestamps, so a shorter time would delete old records at once.
    long longest = retentionOfEvents();
    settings.put(
        TopicConfig.RETENTION_MS_CONFIG, Long.toString(longest == Long.MAX_VALUE ? -1 : longest));
    return newTopic(options.recordsTopic(), Optional.of(mostPartitions()), DELETE, settings);
  }

  /**
   * Requires a topic that takes every record of the topics of events as it is, with its partition
   * and timestamp.
   */
  private void requireRecordsTopic(TopicDescription records) {
    if (events.isEmpty()) {
      return;
    }
    String topic = records.name();
    int partitions = mostPartitions();
    if (records.partitions().size() < partitions) {
      throw new UserErrorException(
          "topic %s must have at least %d partitions, as many as the topics of events, it has %d"
              .formatted(topic, partitions, records.partitions().size()));
    }
    // Records without a key cannot be compacted.
    boolean areCompacted =
        events.stream().allMatch(each -> isCompacted(cleanupPolicy(each.name()).orElse(COMPACT)));
    cleanupPolicy(topic)
        .filter(policy -> isCompacted(policy) && !areCompacted)
        .ifPresent(
            policy -> {
              throw new UserErrorException(
                  "topic %s must have cleanup.policy=delete, as a topic of events has, it has %s"
                      .formatted(topic, policy));
            });
    brokers
        .setting(topic, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG)
        .filter(type -> !type.equals(CREATE_TIME))
        .ifPresent(
            type -> {
              throw new UserErrorException(
                  "topic %s must have message.timestamp.type=CreateTime to keep timestamps, it has %s"
                      .formatted(topic, type));
            });
    requireBound(topic, MAX_AHEAD);
    requireBound(topic, MAX_AGE);
    // A topic that is there may keep less on purpose.
    long needed = retentionOfEvents();
    String time = needed == Long.MAX_VALUE ? "longer or for ever" : needed + " ms";
    long has = retention(topic);
    if (has < needed) {
      warnings.add(
          "it keeps records for %d ms (retention.ms), and a topic of events for %s: what is older is gone as soon as it is written"
              .formatted(has, time));
    }
    brokers
        .setting(topic, MAX_AGE)
        .map(Long::parseLong)
        .filter(age -> age < needed)
        .ifPresent(
            age ->
                warnings.add(
                    "it refuses records that are older than %d ms (%s), and a topic of events keeps them for %s: a job that is so far behind cannot pass them on, and ends"
                        .formatted(age, MAX_AGE, time)));
  }

  private void requireBound(String topic, String bound) {
    Optional<Long> needed = widest(bound);
    Optional<Long> has = brokers.setting(topic, bound).map(Long::parseLong);
    if (needed.isPresent() && has.isPresent() && has.get() < needed.get()) {
      throw new UserErrorException(
          "topic %s must have %s=%d, as a topic of events has, it has %d"
              .formatted(topic, bound, needed.get(), has.get()));
    }
  }

  /**
   * The largest value among topics of events that keep the timestamps of producers, as far as it is
   * known.
   */
  private Optional<Long> widest(String bound) {
    return events.stream()
        .map(TopicDescription::name)
        .filter(
            topic ->
                brokers
                    .setting(topic, TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG)
                    .equals(Optional.of(CREATE_TIME)))
        .flatMap(topic -> brokers.setting(topic, bound).stream())
        .map(Long::parseLong)
        .max(Comparator.naturalOrder());
  }

  private long retentionOfEvents() {
    return events.stream()
        .map(TopicDescription::name)
        .mapToLong(this::retention)
        .max()
        .orElseThrow();
  }

  /**
   * For how many milliseconds a topic keeps its records; {@link Long#MAX_VALUE} for ever, or for a
   * time that is unknown.
   */
  private long retention(String topic) {
    return brokers
        .setting(topic, TopicConfig.RETENTION_MS_CONFIG)
        .map(Long::parseLong)
        .filter(millis -> millis >= 0 && deletes(topic))
        .orElse(Long.MAX_VALUE);
  }

  /** Whether a topic deletes records by age or size; false if that is unknown. */
  private boolean deletes(String topic) {
    return cleanupPolicy(topic).map(policy -> policy.contains(DELETE)).orElse(false);
  }

  private Optional<String> cleanupPolicy(String topic) {
    return brokers.setting(topic, TopicConfig.CLEANUP_POLICY_CONFIG);
  }

  private static boolean isCompacted(String cleanupPolicy) {
    return cleanupPolicy.contains(COMPACT);
  }

  /**
   * Requires compaction: deletion by age would lose live keys, and without compaction the topic
   * would grow without bound.
   */
  private void requireCompactedOnly(String topic) {
    cleanupPolicy(topic)
        .filter(policy -> !policy.equals(COMPACT))
        .ifPresent(
            policy -> {
              throw wrongPolicy(topic, COMPACT, policy);
            });
  }

  private UserErrorException wrongPolicy(String topic, String needed, String policy) {
    return new UserErrorException(
        "topic %s must have cleanup.policy=%s, it has %s: set it by kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %s --add-config cleanup.policy=%s, or take another topic"
            .formatted(topic, needed, policy, servers, topic, needed));
  }

  /** Compares the options with the options that a dedup has recorded, if there are any. */
  private void optionsOfDedup() {
    String check = "options of topic " + options.outputTopic();
    requirement(
        check,
        () -> {
          // If it is there: the dedup may not have started yet.
          var unused = brokers.topic(options.claimsTopic(), READ);
          if (identity.isEmpty()) {
            return;
          }
          ChangelogCheck ofChangelog = ChangelogCheck.of(options, identity.get());
          try (ClaimsTail tail = ofChangelog.tail()) {
            boolean isRecorded = job.dedups() ? requireRecorded(tail) : ofChangelog.require(tail);
            found.accept(
                isRecorded
                    ? Finding.ok(check, "the same as of its dedup")
                    : job.dedups()
                        ? Finding.ok(check, "not recorded yet by a dedup")
                        : Finding.warning(
                            check,
                            "topic %s does not have the options of the dedup yet, so they are compared with the options of this job later"
                                .formatted(options.claimsTopic())));
          } catch (KafkaException e) {
            throw TailReader.cannotRead(options.claimsTopic(), e);
          }
        });
  }

  /** Whether options are recorded; throws if they are others. */
  private boolean requireRecorded(ClaimsTail tail) {
    if (tail.exists()) {
      tail.readToEnd();
    }
    tail.identity()
        .flatMap(before -> identity.orElseThrow().difference(before, options.acceptedChanges()))
        .ifPresent(
            difference -> {
              throw new UserErrorException(difference);
            });
    return tail.identity().isPresent();
  }

  /** Reports the offsets that the newest checkpoint needs and the topics no longer have. */
  private void lostOffsets(String output, List<String> inputs) {
    Map<TopicPartition, Long> committed = brokers.committed(options.transactionalIdPrefix(output));
    committed.keySet().removeIf(each -> !inputs.contains(each.topic()));
    try {
      Map<TopicPartition, Long> begins = brokers.offsets(committed.keySet(), OffsetSpec.earliest());
      Map<TopicPartition, Long> ends = brokers.offsets(committed.keySet(), OffsetSpec.latest());
      committed.forEach(
          (each, offset) -> {
            if (InputTopics.isLoss(offset, begins.get(each), ends.get(each))) {
              found.accept(
                  Finding.warning(
                      "offsets of topic " + each.topic(),
                      InputTopics.range(each, offset, begins.get(each), ends.get(each))
                          + ": a start from state fails without --allow-skipped-offsets, unless the state is newer"));
            }
          });
    } catch (KafkaException e) {
      throw brokers.refusal(e);
    }
  }

  /** Requires that topics are the ones that the last job has written. */
  private void writtenTopics() {
    try {
      Map<String, List<String>> before = ClaimsTail.read(options).topics();
      if (!before.isEmpty() && !options.acceptNewTopic()) {
        List<String> all = before.values().stream().flatMap(List::stream).toList();
        OutputTopics.requireSame(all, OutputTopics.ofOutcomes(options).now(brokers));
        OutputTopics.requireSame(all, OutputTopics.ofDeadLetters(options).now(brokers));
      }
    } catch (KafkaException e) {
      found.accept(Finding.warning("topics of the last job", "not compared: " + e.getMessage()));
    }
  }

  private void newestManifest(String setName, List<TrustedKey> trusted) {
    String check = "set " + setName;
    requirement(
        check,
        () -> {
          if (isSnapshotsTopicThere) {
            found.accept(
                PublishedTail.read(
                        options.clientProperties(),
                        options.snapshotsTopic(),
                        setName,
                        trusted,
                        "give the publisher's key with --public-key")
                    .newest()
                    .map(manifest -> ofManifest(check, manifest, System.currentTimeMillis()))
                    .orElseGet(
                        () ->
                            absent(
                                check,
                                "nothing is published on topic " + options.snapshotsTopic())));
          }
        });
  }

  /** How a newest manifest is at a time. */
  static Finding ofManifest(String check, Manifest manifest, long nowMillis) {
    String text =
        "sequence %d, %d keys, published at %s"
            .formatted(
                manifest.sequence(),
                manifest.count(),
                Instant.ofEpochMilli(manifest.publishedMillis()));
    Long expiresMillis = manifest.expiresMillis();
    long ageMillis = nowMillis - manifest.publishedMillis();
    if (ageMillis < -CLOCK_MILLIS) {
      return Finding.warning(
          check,
          "%s, which is %s ahead of this machine's clock: set the clock here or at the publisher"
              .formatted(text, roughly(-ageMillis)));
    }
    text = "%s, %s ago".formatted(text, roughly(Math.max(0, ageMillis)));
    if (expiresMillis != null && expiresMillis <= nowMillis) {
      return Finding.warning(
          check,
          "%s, expired at %s: see whether its publisher runs"
              .formatted(text, Instant.ofEpochMilli(expiresMillis)));
    }
    return Finding.ok(check, text);
  }

  private static String roughly(long millis) {
    Duration time = Duration.ofMillis(millis);
    if (time.toDays() > 1) {
      return time.toDays() + "d";
    }
    if (time.toHours() > 1) {
      return time.toHours() + "h";
    }
    return time.toMinutes() > 1 ? time.toMinutes() + "m" : time.toSeconds() + "s";
  }

  @Override
  public void close() {
    brokers.close();
  }
}
