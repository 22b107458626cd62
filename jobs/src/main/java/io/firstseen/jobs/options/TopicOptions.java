package io.firstseen.jobs.options;

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
  // State and claims topic name the topics that the job writes to.
  @Bound(Bound.By.NOTHING)
  private Output output;

  @Option(
      names = "--records-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.records",
      converter = OptionValues.KafkaName.class,
      description =
          "With --output record or both: where the records go, each to the partition with the number"
              + " of its input partition (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private String recordsTopic;

  @Option(
      names = "--duplicates-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.duplicates",
      converter = OptionValues.KafkaName.class,
      description = "Repeats, and deletes of keys that were not there (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
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
  @Bound(Bound.By.NOTHING)
  private Duplicates duplicates;

  @Option(
      names = "--dead-letters-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.dead-letters",
      converter = OptionValues.KafkaName.class,
      description = "Records that cannot be used, with the reason (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private String deadLettersTopic;

  @Option(
      names = "--snapshots-topic",
      paramLabel = "TOPIC",
      defaultValue = "firstseen.snapshots",
      converter = OptionValues.KafkaName.class,
      description =
          "The compacted topic, made with two partitions, of blobs and manifests"
              + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private String snapshotsTopic;

  @Option(
      names = "--claims-topic",
      paramLabel = "TOPIC",
      converter = OptionValues.KafkaName.class,
      description =
          "The compacted topic, of one partition, where a dedup says that it writes the output and how"
              + " far it has (default: the name of the accepted topic, or with --output record of the"
              + " records topic, followed by .claims).")
  @Bound(Bound.By.NOTHING)
  private @Nullable String claimsTopic;

  @Option(
      names = "--accepted-partitions",
      paramLabel = "N",
      converter = OptionValues.Parallelism.class,
      description =
          "The number of partitions of the accepted topic that a dedup writes to: the first N. For a"
              + " topic that got more partitions since the first start of the job, as the removal of a"
              + " key must be in the partition of the key (default: all).")
  @Bound(Bound.By.NOTHING)
  private @Nullable Integer acceptedPartitions;

  @Option(
      names = "--topic-replication-factor",
      paramLabel = "N",
      converter = OptionValues.ReplicaCount.class,
      description =
          "On how many brokers each topic of the job, except those of events, must be; a topic that"
              + " the job makes gets this value (default: that of the brokers, unchecked).")
  @Bound(Bound.By.NOTHING)
  private @Nullable Short replicationFactor;

  @Option(
      names = "--topic-min-insync-replicas",
      paramLabel = "N",
      converter = OptionValues.ReplicaCount.class,
      description =
          "The least min.insync.replicas of the job's topics, except those of events: on how many"
              + " brokers a record must be before it counts as written; a topic that the job makes gets this value. Needs"
              + " --topic-replication-factor (default: that of the brokers, unchecked).")
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

  /** Where a dedup claims its output. */
  public String claimsTopic() {
    return claimsTopic == null ? outputTopic() + ".claims" : claimsTopic;
  }

  /** How many partitions of the accepted topic are written to; 0 for all. */
  public int acceptedPartitions() {
    return acceptedPartitions == null ? 0 : acceptedPartitions;
  }

  /** The replicas that topics of the job must have; empty for what the brokers give. */
  public Optional<Short> replicationFactor() {
    return Optional.ofNullable(replicationFactor);
  }

  /** The {@code min.insync.replicas} that topics of the job must have; empty for any. */
  public Optional<Short> minInsyncReplicas() {
    return Optional.ofNullable(minInsyncReplicas);
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

  /**
   * Rejects options that contradict each other.
   *
   * @throws UserErrorException if there are such options
   */
  void check(EventOptions events) {
    Map<String, String> uses = new LinkedHashMap<>();
    if (events.topicPattern().isEmpty()) {
      events.topics().forEach(topic -> refuseSecondUse(uses, topic, "--events-topic"));
    }
    outcomeTopics().forEach((option, topic) -> refuseSecondUse(uses, topic, option));
    deadLetterTopics().forEach((option, topic) -> refuseSecondUse(uses, topic, option));
    refuseSecondUse(uses, snapshotsTopic, "--snapshots-topic");
    refuseSecondUse(uses, claimsTopic(), "--claims-topic");
    events.refuseOutputsAsInput(uses);
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
