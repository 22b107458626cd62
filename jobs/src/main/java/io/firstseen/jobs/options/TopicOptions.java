package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.jobs.shared.Output;
import io.firstseen.operators.UserErrorException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The topics that the jobs write to, and what they write there. */
public final class TopicOptions {

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

  @Option(
      names = "--accepted-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.accepted",
      converter = OptionValues.KafkaName.class,
      description =
          "Compacted changelog of live keys: new keys with their payload, and tombstones of "
              + "deleted keys (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.SOURCE)
  private String acceptedTopic;

  @Option(
      names = "--output",
      paramLabel = "WHAT",
      defaultValue = "changelog",
      converter = OutputName.class,
      description =
          "Output of a dedup job for events that change the live keys. changelog: keys and"
              + " payloads, to the accepted topic; record: the unchanged input records, to"
              + " --records-topic, which then contains the input without duplicates; both: both"
              + " topics (default: ${DEFAULT-VALUE}).")
  // State and claims topic name the topics that the job writes to.
  @Bound(Bound.By.NOTHING)
  private Output output;

  @Option(
      names = "--records-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.records",
      converter = OptionValues.KafkaName.class,
      description =
          "Topic of the records with --output record or both; a record keeps the number of its "
              + "input partition (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private String recordsTopic;

  @Option(
      names = "--duplicates-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.duplicates",
      converter = OptionValues.KafkaName.class,
      description =
          "Topic of duplicates and of deletes of unknown keys (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private String duplicatesTopic;

  @Option(
      names = "--duplicates",
      paramLabel = "WHICH",
      defaultValue = "topic",
      converter = DuplicatesName.class,
      description =
          "Duplicates that a dedup job writes to --duplicates-topic. topic: all; sample: the "
              + "duplicates of one key in 100, chosen by its hash, and all deletes of unknown "
              + "keys; none: none, and the topic does not have to exist. Metrics count all "
              + "duplicates (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duplicates duplicates;

  @Option(
      names = "--dead-letters-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.dead-letters",
      converter = OptionValues.KafkaName.class,
      description = "Topic of unusable records, with the reason (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private String deadLettersTopic;

  @Option(
      names = "--snapshots-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.snapshots",
      converter = OptionValues.KafkaName.class,
      description =
          "Compacted topic of blobs and manifests; the job creates it with two partitions "
              + "(default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private String snapshotsTopic;

  @Option(
      names = "--claims-topic",
      paramLabel = "TOPIC",
      converter = OptionValues.KafkaName.class,
      description =
          "Compacted, single-partition topic that records which job owns the output and its "
              + "progress (default: the name of the accepted topic, or with --output record of the "
              + "records topic, followed by .claims).")
  @Bound(Bound.By.NOTHING)
  private @Nullable String claimsTopic;

  @Option(
      names = "--accepted-partitions",
      paramLabel = "N",
      converter = OptionValues.Parallelism.class,
      description =
          "Number of partitions of the accepted topic that a dedup job writes to: the first N. "
              + "Set it if partitions were added after the first start of the job, because the "
              + "tombstone of a key must be in the partition of the key (default: all).")
  @Bound(Bound.By.NOTHING)
  private @Nullable Integer acceptedPartitions;

  @Option(
      names = "--topic-replication-factor",
      paramLabel = "N",
      converter = OptionValues.ReplicaCount.class,
      description =
          "Replication factor that each topic of the job, except topics of events, must have; "
              + "the job creates topics with this value (default: the brokers' default, "
              + "unchecked).")
  @Bound(Bound.By.NOTHING)
  private @Nullable Short replicationFactor;

  @Option(
      names = "--topic-min-insync-replicas",
      paramLabel = "N",
      converter = OptionValues.ReplicaCount.class,
      description =
          "Minimum value of min.insync.replicas that each topic of the job, except topics of"
              + " events, must have. The job creates topics with this value. Needs"
              + " --topic-replication-factor (default: the brokers' default, unchecked).")
  @Bound(Bound.By.NOTHING)
  private @Nullable Short minInsyncReplicas;

  TopicOptions() {}

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

  /** The output for events that change the live keys. */
  public Output output() {
    return output;
  }

  /** The topic of forwarded records. */
  public String recordsTopic() {
    return recordsTopic;
  }

  /** The topic of duplicates and unknown deletes. */
  public String duplicatesTopic() {
    return duplicatesTopic;
  }

  /** The duplicates and unknown deletes that are written to {@link #duplicatesTopic()}. */
  public Duplicates duplicates() {
    return duplicates;
  }

  /** The topic of records that cannot be used. */
  public String deadLettersTopic() {
    return deadLettersTopic;
  }

  /** The compacted topic of snapshots. */
  public String snapshotsTopic() {
    return snapshotsTopic;
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

  /** The topic on which a dedup job claims its output. */
  public String claimsTopic() {
    return claimsTopic == null ? outputTopic() + ".claims" : claimsTopic;
  }

  /** How many partitions of the accepted topic are written to; 0 for all. */
  public int acceptedPartitions() {
    return acceptedPartitions == null ? 0 : acceptedPartitions;
  }

  /** The replication factor that topics of the job must have; empty for the brokers' default. */
  public Optional<Short> replicationFactor() {
    return Optional.ofNullable(replicationFactor);
  }

  /** The {@code min.insync.replicas} that topics of the job must have; empty for any. */
  public Optional<Short> minInsyncReplicas() {
    return Optional.ofNullable(minInsyncReplicas);
  }

  /**
   * Requires the changelog.
   *
   * @throws UserErrorException if the options disable the changelog
   */
  public void requireChangelog() {
    reject(
        !output.hasChangelog(),
        "--output record needs a job without snapshots: snapshots are built from the changelog, "
            + "so set --output both");
  }

  void check(EventOptions events) {
    Map<String, String> uses = new LinkedHashMap<>();
    if (events.topicPattern().isEmpty()) {
      events.topics().forEach(topic -> rejectSecondUse(uses, topic, "--events-topic"));
    }
    outcomeTopics().forEach((option, topic) -> rejectSecondUse(uses, topic, option));
    deadLetterTopics().forEach((option, topic) -> rejectSecondUse(uses, topic, option));
    rejectSecondUse(uses, snapshotsTopic, "--snapshots-topic");
    rejectSecondUse(uses, claimsTopic(), "--claims-topic");
    events.rejectOutputsAsInput(uses);
    if (minInsyncReplicas == null) {
      return;
    }
    if (replicationFactor == null) {
      throw new UserErrorException("--topic-min-insync-replicas needs --topic-replication-factor");
    }
    reject(
        minInsyncReplicas > replicationFactor,
        "--topic-min-insync-replicas must be at most --topic-replication-factor, got %d and %d"
            .formatted(minInsyncReplicas, replicationFactor));
  }

  private static void rejectSecondUse(Map<String, String> uses, String topic, String option) {
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
