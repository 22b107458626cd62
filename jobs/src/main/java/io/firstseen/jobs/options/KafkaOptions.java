package io.firstseen.jobs.options;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.jobs.shared.EventFields;
import io.firstseen.jobs.shared.Output;
import io.firstseen.jobs.shared.ValueSchema;
import io.firstseen.operators.UserErrorException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The brokers and topics of the jobs, and how they commit. */
public final class KafkaOptions implements Cloneable {

  /** How an event is written in a record. */
  public enum EventFormat {
    /** The value is a JSON object with {@code ts}, {@code op}, {@code key}, {@code scope}. */
    JSON,
    /** The record's key is the key; a null value deletes it. */
    KEY,
    /** The value is of Avro, in its binary encoding. */
    AVRO,
    /** The value is a message of Protocol Buffers. */
    PROTOBUF;

    static final class Converter extends OptionValues.LowerCaseName<EventFormat> {
      Converter() {
        super(EventFormat.class);
      }
    }
  }

  /** Where a job without a checkpoint begins to read. */
  public enum Start {
    /** At the oldest record. */
    EARLIEST,
    /** After the newest record. */
    LATEST,
    /** Where the consumer group stopped; at the oldest record if there is no group. */
    COMMITTED;

    static final class Converter extends OptionValues.LowerCaseName<Start> {
      Converter() {
        super(Start.class);
      }
    }
  }

  /** Flink takes a shorter one for none. */
  private static final Duration LEAST_CHECKPOINT_INTERVAL = Duration.ofMillis(10);

  // Milliseconds are an int.
  private static final Duration MAX_TRANSACTION_TIMEOUT = Duration.ofDays(24);

  /** The bytes of the largest record that the jobs write, rounded up. */
  public static final int MAX_WRITTEN_BYTES = 1_000_000;

  static final class OutputName extends OptionValues.LowerCaseName<Output> {
    OutputName() {
      super(Output.class);
    }
  }

  static final class DuplicatesName extends OptionValues.LowerCaseName<Duplicates> {
    DuplicatesName() {
      super(Duplicates.class);
    }
  }

  static final class ChangedOption implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
      if (!JobIdentity.names().contains(value)) {
        throw new TypeConversionException(
            "must be one of %s, got '%s'".formatted(String.join(", ", JobIdentity.names()), value));
      }
      return value;
    }
  }

  @Option(
      names = "--bootstrap-servers",
      paramLabel = "HOST:PORT,...",
      required = true,
      description = "Brokers to ask first.")
  private String bootstrapServers;

  @Option(
      names = "--accepted-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.accepted",
      converter = OptionValues.KafkaName.class,
      description =
          "The compacted changelog of live keys: first-seen keys with their payload, removed keys"
              + " with a null value (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.SOURCE)
  private String acceptedTopic;

  @Option(
      names = "--output",
      paramLabel = "WHAT",
      defaultValue = "changelog",
      converter = OutputName.class,
      description =
          "What a dedup writes of the events that change the live keys. changelog: keys and payloads,"
              + " to the accepted topic; record: the records themselves as they came, to"
              + " --records-topic, so that it has the input less the repeats; both: both"
              + " (default: ${DEFAULT-VALUE}).")
  private Output output;

  @Option(
      names = "--records-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.records",
      converter = OptionValues.KafkaName.class,
      description =
          "With --output record or both: where the records go, each to the partition with the number"
              + " of its input partition (default: ${DEFAULT-VALUE}).")
  private String recordsTopic;

  @Option(
      names = "--duplicates-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.duplicates",
      converter = OptionValues.KafkaName.class,
      description = "Repeats, and deletes of keys that were not there (default: ${DEFAULT-VALUE}).")
  private String duplicatesTopic;

  @Option(
      names = "--duplicates",
      paramLabel = "WHICH",
      defaultValue = "topic",
      converter = DuplicatesName.class,
      description =
          "Which repeats a dedup writes to --duplicates-topic. topic: all; sample: those of one key"
              + " in 100, chosen by its hash, and all deletes of keys that were not there; none:"
              + " nothing, and there need be no such topic. All are counted (default: ${DEFAULT-VALUE}).")
  private Duplicates duplicates;

  @Option(
      names = "--dead-letters-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.dead-letters",
      converter = OptionValues.KafkaName.class,
      description = "Records that cannot be used, with the reason (default: ${DEFAULT-VALUE}).")
  private String deadLettersTopic;

  @Option(
      names = "--snapshots-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.snapshots",
      converter = OptionValues.KafkaName.class,
      description =
          "The compacted topic, made with two partitions, of blobs and manifests"
              + " (default: ${DEFAULT-VALUE}).")
  private String snapshotsTopic;

  @Option(
      names = "--claims-topic",
      paramLabel = "TOPIC",
      converter = OptionValues.KafkaName.class,
      description =
          "The compacted topic, of one partition, where a dedup says that it writes the output and how"
              + " far it has (default: the name of the accepted topic, or with --output record of the"
              + " records topic, followed by .claims).")
  private @Nullable String claimsTopic;

  @Mixin private EventOptions events;

  @Option(
      names = "--transactional-id-prefix",
      paramLabel = "PREFIX",
      defaultValue = "firstseen",
      converter = OptionValues.KafkaName.class,
      description =
          "The prefix of transactional ids and consumer groups; the job's output topic (of a dedup the"
              + " accepted topic, with --output record the records topic) follows and, in"
              + " transactional ids, the job's id (default: ${DEFAULT-VALUE}).")
  private String transactionalIdPrefix;

  @Option(
      names = "--transaction-timeout",
      paramLabel = "DURATION",
      defaultValue = "15m",
      converter = OptionValues.PositiveDuration.class,
      description =
          "How long the broker keeps an uncommitted transaction; a job that is down for longer"
              + " loses its uncommitted output. Brokers with stock settings allow no more than"
              + " 15m (default: ${DEFAULT-VALUE}).")
  private Duration transactionTimeout;

  @Option(
      names = "--checkpoint-interval",
      paramLabel = "DURATION",
      defaultValue = "10s",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Time between checkpoints; results are visible to committed readers after the next one"
              + " (default: ${DEFAULT-VALUE}).")
  private Duration checkpointInterval;

  @Option(
      names = "--checkpoint-dir",
      paramLabel = "URI",
      converter = OptionValues.FlinkDirectory.class,
      description = "Where checkpoints are kept (default: what the cluster is configured for).")
  private String checkpointDirectory;

  @Option(
      names = "--max-downtime",
      paramLabel = "DURATION",
      defaultValue = "1d",
      converter = OptionValues.PositiveDuration.class,
      description =
          "How long a snapshot job may be down or behind and still continue from its state. The"
              + " accepted topic must keep the records of removals for this long"
              + " (delete.retention.ms). A topic that the job makes gets this value"
              + " (default: ${DEFAULT-VALUE}).")
  private Duration maxDowntime;

  @Option(
      names = "--take-over",
      description =
          "Publish a set, or write the output of a dedup, that another job has written until now, or"
              + " this job from a newer state. Sequences continue after those on the topic; outcomes"
              + " that are written already are not written again. A dedup ends the other job; before"
              + " you take over a set, stop the job that publishes it.")
  private boolean takeOver;

  @Option(
      names = "--accept-changes",
      paramLabel = "NAME,...",
      split = ",",
      converter = ChangedOption.class,
      description =
          "Options, without dashes, whose values may differ from the values that are recorded in"
              + " the state and on the claims topic."
              + " Remove this option after the start.")
  private Set<String> acceptedChanges = new LinkedHashSet<>();

  @Option(
      names = "--accept-new-topic",
      description =
          "Resume from state although a topic of the job was deleted, created again, or has another name."
              + " The job reads a new topic of events from its beginning. What was in the old topic and"
              + " not read is lost, as are the live keys in an accepted topic. Without it the job fails.")
  private boolean acceptNewTopic;

  @Option(
      names = "--accepted-partitions",
      paramLabel = "N",
      converter = OptionValues.Parallelism.class,
      description =
          "The number of partitions of the accepted topic that a dedup writes to: the first N. For a"
              + " topic that got more partitions since the first start of the job, as the removal of a"
              + " key must be in the partition of the key (default: all).")
  private @Nullable Integer acceptedPartitions;

  @Option(
      names = "--allow-skipped-offsets",
      description =
          "Resume from state although the topic no longer has the offsets, as it deleted records before"
              + " they were read: read from the oldest record on. The metric skippedOffsets counts them."
              + " Without it the job fails.")
  private boolean allowSkippedOffsets;

  @Option(
      names = "--public-key",
      paramLabel = "FILE",
      description =
          "With --signing-key: manifests on the snapshots topic that this public key signed count"
              + " too, such as those of the previous job; may be repeated. All others are"
              + " ignored.")
  private List<Path> publicKeys = new ArrayList<>();

  @Option(
      names = "--topic-replication-factor",
      paramLabel = "N",
      converter = OptionValues.ReplicaCount.class,
      description =
          "On how many brokers each topic of the job, except those of events, must be; a topic that"
              + " the job makes gets this value (default: that of the brokers, unchecked).")
  private @Nullable Short replicationFactor;

  @Option(
      names = "--topic-min-insync-replicas",
      paramLabel = "N",
      converter = OptionValues.ReplicaCount.class,
      description =
          "The least min.insync.replicas of the job's topics, except those of events: on how many"
              + " brokers a record must be before it counts as written; a topic that the job makes gets this value. Needs"
              + " --topic-replication-factor (default: that of the brokers, unchecked).")
  private @Nullable Short minInsyncReplicas;

  @Mixin private KafkaProperties clients;

  private @Nullable Map<TopicPartition, Long> stopOffsets;

  KafkaOptions() {}

  /**
   * Options from arguments as on a command line.
   *
   * @throws CommandLine.ParameterException with a sentence if an argument is wrong
   */
  public static KafkaOptions parse(String... words) {
    KafkaOptions options = new KafkaOptions();
    new CommandLine(options).parseArgs(words);
    return options;
  }

  /**
   * The options of a bounded job: it finishes when it has read every partition of its input up to
   * its offset, exclusive. The map must name every partition.
   */
  public KafkaOptions stopAt(Map<TopicPartition, Long> newStopOffsets) {
    try {
      KafkaOptions bounded = (KafkaOptions) clone();
      bounded.stopOffsets = Map.copyOf(newStopOffsets);
      return bounded;
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Brokers to ask first. */
  public String bootstrapServers() {
    return bootstrapServers;
  }

  /**
   * The topic of events.
   *
   * @throws IllegalStateException if there are several
   */
  public String eventsTopic() {
    if (eventsTopicPattern().isPresent() || eventsTopics().size() > 1) {
      throw new IllegalStateException("there are several topics of events");
    }
    return eventsTopics().get(0);
  }

  /** The topics of events, unless there is a pattern. */
  public List<String> eventsTopics() {
    return events.topics();
  }

  /** The pattern of the names of topics of events; empty if they are listed. */
  public Optional<Pattern> eventsTopicPattern() {
    return events.topicPattern();
  }

  /** Whether each topic of events is a scope of its own. */
  public boolean isScopeFromTopic() {
    return events.isScopeFromTopic();
  }

  /** The compacted topic of accepted keys and removals. */
  public String acceptedTopic() {
    return acceptedTopic;
  }

  /**
   * The topic that a dedup's consumer group and transactional ids are named after: the accepted
   * topic, or the records topic of a job without a changelog.
   */
  public String outputTopic() {
    return output.hasChangelog() ? acceptedTopic : recordsTopic;
  }

  /** What is written of the events that change the live keys. */
  public Output output() {
    return output;
  }

  /** The topic of records that are passed on. */
  public String recordsTopic() {
    return recordsTopic;
  }

  /** The topic of repeats and unknown deletes. */
  public String duplicatesTopic() {
    return duplicatesTopic;
  }

  /** Which repeats and unknown deletes are written to it. */
  public Duplicates duplicates() {
    return duplicates;
  }

  /** The topic of records that cannot be used. */
  public String deadLettersTopic() {
    return deadLettersTopic;
  }

  /** The topics of all other outcomes that the job writes, by option. */
  public Map<String, String> outcomeTopics() {
    Map<String, String> topics = new LinkedHashMap<>();
    if (output.hasChangelog()) {
      topics.put("--accepted-topic", acceptedTopic);
    }
    if (output.hasRecords()) {
      topics.put("--records-topic", recordsTopic);
    }
    if (duplicates != Duplicates.NONE) {
      topics.put("--duplicates-topic", duplicatesTopic);
    }
    return topics;
  }

  /** The topic of records that cannot be used, by option. */
  public Map<String, String> deadLetterTopics() {
    return Map.of("--dead-letters-topic", deadLettersTopic);
  }

  /** The compacted topic of snapshots. */
  public String snapshotsTopic() {
    return snapshotsTopic;
  }

  /** How an event is written in a record. */
  public EventFormat eventFormat() {
    return events.format();
  }

  /** The fields of the value that make it an event; empty for the format of the jobs. */
  public Optional<EventFields> fields() {
    return events.fields();
  }

  /**
   * Where the schema of values comes from.
   *
   * @throws UserErrorException if its file cannot be read
   */
  public ValueSchema schema() {
    return events.schema();
  }

  /** Where a job without a checkpoint begins to read. */
  public Start start() {
    return events.start();
  }

  /** The offset where each partition of the input ends, exclusive; empty for an unbounded job. */
  public Optional<Map<TopicPartition, Long>> stopOffsets() {
    return Optional.ofNullable(stopOffsets);
  }

  /** Where a dedup claims its output. */
  public String claimsTopic() {
    return claimsTopic == null ? outputTopic() + ".claims" : claimsTopic;
  }

  /** The prefix of transactional ids and consumer groups of a job that writes to {@code topic}. */
  public String transactionalIdPrefix(String topic) {
    return transactionalIdPrefix + "." + topic;
  }

  /** How long the broker keeps an uncommitted transaction. */
  public Duration transactionTimeout() {
    return transactionTimeout;
  }

  /** For how long the accepted topic must keep the records of removals. */
  public Duration maxDowntime() {
    return maxDowntime;
  }

  /** Whether to continue what another job has written. */
  public boolean takeOver() {
    return takeOver;
  }

  /** The options whose values may differ from those in {@link JobIdentity}. */
  public Set<String> acceptedChanges() {
    return Set.copyOf(acceptedChanges);
  }

  /** Whether topics may be others than those of the state. */
  public boolean acceptNewTopic() {
    return acceptNewTopic;
  }

  /** How many partitions of the accepted topic are written to; 0 for all. */
  public int acceptedPartitions() {
    return acceptedPartitions == null ? 0 : acceptedPartitions;
  }

  /** Whether records of the input may be gone before they were read. */
  public boolean allowSkippedOffsets() {
    return allowSkippedOffsets;
  }

  /** Files of public keys whose manifests count besides those of the signing key. */
  public List<Path> publicKeys() {
    return List.copyOf(publicKeys);
  }

  /** The replicas that topics of the job must have; empty for what the brokers give. */
  public Optional<Short> replicationFactor() {
    return Optional.ofNullable(replicationFactor);
  }

  /** The {@code min.insync.replicas} that topics of the job must have; empty for any. */
  public Optional<Short> minInsyncReplicas() {
    return Optional.ofNullable(minInsyncReplicas);
  }

  /** Time between checkpoints. */
  public Duration checkpointInterval() {
    return checkpointInterval;
  }

  /** The directory of checkpoints, if it was given. */
  public Optional<String> checkpointDirectory() {
    return Optional.ofNullable(checkpointDirectory);
  }

  /** The settings that every Kafka client of the job shares, the brokers among them. */
  public Properties clientProperties() {
    Properties shared = new Properties();
    shared.putAll(clients.read());
    shared.setProperty("bootstrap.servers", bootstrapServers);
    return shared;
  }

  /**
   * Refuses options that contradict each other, and settings that Kafka's clients would refuse.
   *
   * @throws UserErrorException with a sentence
   */
  public void check() {
    checkProperties();
    if (checkpointInterval.compareTo(LEAST_CHECKPOINT_INTERVAL) < 0) {
      throw new UserErrorException(
          "--checkpoint-interval must be at least %s, got %s"
              .formatted(
                  OptionValues.write(LEAST_CHECKPOINT_INTERVAL),
                  OptionValues.write(checkpointInterval)));
    }
    Map<String, String> uses = new LinkedHashMap<>();
    if (eventsTopicPattern().isEmpty()) {
      eventsTopics().forEach(topic -> refuseSecondUse(uses, topic, "--events-topic"));
    }
    outcomeTopics().forEach((option, topic) -> refuseSecondUse(uses, topic, option));
    deadLetterTopics().forEach((option, topic) -> refuseSecondUse(uses, topic, option));
    refuseSecondUse(uses, snapshotsTopic, "--snapshots-topic");
    refuseSecondUse(uses, claimsTopic(), "--claims-topic");
    events.refuseOutputsAsInput(uses);
    if (transactionTimeout.compareTo(MAX_TRANSACTION_TIMEOUT) > 0) {
      throw new UserErrorException(
          "--transaction-timeout must be at most %s, got %s"
              .formatted(
                  OptionValues.write(MAX_TRANSACTION_TIMEOUT),
                  OptionValues.write(transactionTimeout)));
    }
    if (transactionTimeout.compareTo(checkpointInterval) <= 0) {
      throw new UserErrorException(
          "--transaction-timeout must be longer than --checkpoint-interval, got %s and %s"
              .formatted(
                  OptionValues.write(transactionTimeout), OptionValues.write(checkpointInterval)));
    }
    checkReplicas();
    events.check();
  }

  /**
   * Refuses a canonicaliser that cannot take the keys of these events.
   *
   * @throws UserErrorException with a sentence
   */
  public void checkCanonicaliser(Canonicaliser canonicaliser) {
    events.checkCanonicaliser(canonicaliser);
  }

  /**
   * Refuses to do without the changelog.
   *
   * @throws UserErrorException with a sentence
   */
  public void requireChangelog() {
    if (!output.hasChangelog()) {
      throw new UserErrorException(
          "--output record needs a job without snapshots: they are made from the changelog, so take --output both");
    }
  }

  private void checkReplicas() {
    if (minInsyncReplicas == null) {
      return;
    }
    if (replicationFactor == null) {
      throw new UserErrorException(
          "--topic-min-insync-replicas needs --topic-replication-factor, of which it is a part");
    }
    if (minInsyncReplicas > replicationFactor) {
      throw new UserErrorException(
          "--topic-min-insync-replicas must be at most --topic-replication-factor, got %d and %d"
              .formatted(minInsyncReplicas, replicationFactor));
    }
  }

  private void checkProperties() {
    Map<String, Object> settings = new HashMap<>(clients.read());
    settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
    try {
      ConsumerConfig.configDef().parse(settings);
      ProducerConfig.configDef().parse(settings);
      AdminClientConfig.configDef().parse(settings);
      // Settings that each are good, but not for transactions.
      settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "checked");
      settings.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, 60_000);
      settings.putIfAbsent(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
      ProducerConfig producer = new ProducerConfig(settings);
      checkDeliveryTimeout(producer);
      checkRequestSize(producer);
    } catch (ConfigException e) {
      throw new UserErrorException("--kafka-property or --kafka-properties: " + e.getMessage());
    }
  }

  /** A job whose record is too large for its producer fails again and again. */
  private static void checkRequestSize(ProducerConfig producer) {
    int bytes = producer.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
    if (bytes < MAX_WRITTEN_BYTES) {
      throw new ConfigException(
          "%s must be at least %d, got %d"
              .formatted(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, MAX_WRITTEN_BYTES, bytes));
    }
  }

  /** A producer refuses this when it starts; that would be in the cluster, at each restart. */
  private static void checkDeliveryTimeout(ProducerConfig producer) {
    if (!producer.originals().containsKey(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)) {
      return;
    }
    int timeoutMillis = producer.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
    long leastMillis =
        producer.getLong(ProducerConfig.LINGER_MS_CONFIG)
            + producer.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
    if (timeoutMillis < leastMillis) {
      throw new ConfigException(
          "%s must be at least %s and %s together, %d, got %d"
              .formatted(
                  ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                  ProducerConfig.LINGER_MS_CONFIG,
                  ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
                  leastMillis,
                  timeoutMillis));
    }
  }

  private static void refuseSecondUse(Map<String, String> uses, String topic, String option) {
    String other = uses.putIfAbsent(topic, option);
    if (other != null) {
      throw new UserErrorException(
          other.equals(option)
              ? "%s must name each topic once, got %s twice".formatted(option, topic)
              : "%s and %s must be different topics, got %s for both"
                  .formatted(other, option, topic));
    }
  }
}
