package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;
import static io.firstseen.jobs.options.OptionValues.write;

import io.firstseen.operators.UserErrorException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The brokers and topics of the jobs, and how they commit. */
public final class KafkaOptions implements Cloneable {

  /** The format of an event in a record. */
  public enum EventFormat {
    JSON,
    KEY,
    AVRO,
    PROTOBUF;

    static final class Converter extends OptionValues.LowerCaseName<EventFormat> {
      Converter() {
        super(EventFormat.class);
      }
    }
  }

  /** The start position of a job without a checkpoint. */
  public enum Start {
    EARLIEST,
    LATEST,
    COMMITTED;

    static final class Converter extends OptionValues.LowerCaseName<Start> {
      Converter() {
        super(Start.class);
      }
    }
  }

  /** Flink disables checkpoints if the interval is shorter. */
  private static final Duration MIN_CHECKPOINT_INTERVAL = Duration.ofMillis(10);

  // Milliseconds are an int.
  private static final Duration MAX_TRANSACTION_TIMEOUT = Duration.ofDays(24);

  /** The bytes of the largest record that the jobs write, rounded up. */
  public static final int MAX_WRITTEN_BYTES = 1_000_000;

  static final class ChangedOption extends OptionValues.Value<String> {
    ChangedOption() {
      super(value -> OptionValues.requireOneOf(JobIdentity.names(), value));
    }
  }

  @Option(
      names = "--bootstrap-servers",
      paramLabel = "HOST:PORT,...",
      required = true,
      description = "Kafka bootstrap servers.")
  @Bound(Bound.By.NOTHING)
  private String bootstrapServers;

  @Mixin private TopicOptions topics;

  @Mixin private EventOptions events;

  @Option(
      names = "--transactional-id-prefix",
      paramLabel = "PREFIX",
      defaultValue = "firstseen",
      converter = OptionValues.KafkaName.class,
      description =
          "Prefix of transactional ids and consumer groups, followed by the output topic (in a "
              + "dedup job the accepted topic, with --output record the records topic) and, in "
              + "transactional ids, by the job's id (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private String transactionalIdPrefix;

  @Option(
      names = "--transaction-timeout",
      paramLabel = "DURATION",
      defaultValue = "15m",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Time after which the broker aborts an open transaction; a job that is down for longer "
              + "loses its uncommitted output. Brokers allow at most 15m by default (default: "
              + "${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration transactionTimeout;

  @Option(
      names = "--checkpoint-interval",
      paramLabel = "DURATION",
      defaultValue = "10s",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Time between checkpoints, at least 10ms. Read-committed consumers see results after "
              + "the next checkpoint (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration checkpointInterval;

  @Option(
      names = "--checkpoint-dir",
      paramLabel = "URI",
      converter = OptionValues.FlinkDirectory.class,
      description = "Directory of checkpoints (default: the cluster's configuration).")
  @Bound(Bound.By.NOTHING)
  private String checkpointDirectory;

  @Option(
      names = "--max-downtime",
      paramLabel = "DURATION",
      defaultValue = "1d",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Maximum time that a snapshot job may be down or behind and still resume from its state."
              + " The accepted topic must keep tombstones for this long (delete.retention.ms); the"
              + " job creates the topic with this value (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.NOTHING)
  private Duration maxDowntime;

  @Option(
      names = "--take-over",
      description =
          "Take over a set or the output of a dedup job that another job has written, or this job "
              + "from a newer state. Outcomes that are already written are not written again. A "
              + "dedup job stops the other job; before you take over a set, stop the job that "
              + "publishes it.")
  @Bound(Bound.By.NOTHING)
  private boolean takeOver;

  @Option(
      names = "--accept-changes",
      paramLabel = "NAME,...",
      split = ",",
      converter = ChangedOption.class,
      description =
          "Options, without dashes, whose values may differ from the values recorded in the "
              + "state and on the claims topic. Remove this option after the start.")
  @Bound(Bound.By.NOTHING)
  private Set<String> acceptedChanges = new LinkedHashSet<>();

  @Option(
      names = "--accept-new-topic",
      description =
          "Resume from state although a topic of the job was deleted, recreated or renamed. The "
              + "job reads a new topic of events from its beginning. Unread records of the old "
              + "topic are lost, as are the live keys of an accepted topic.")
  @Bound(Bound.By.NOTHING)
  private boolean acceptNewTopic;

  @Option(
      names = "--allow-skipped-offsets",
      description =
          "Resume from state although the topic deleted records before the job read them; the job "
              + "continues at the oldest record. The metric skippedOffsets counts the lost "
              + "records.")
  @Bound(Bound.By.NOTHING)
  private boolean allowSkippedOffsets;

  @Option(
      names = "--public-key",
      paramLabel = "FILE",
      description =
          "Additional public key; manifests on the snapshots topic that it signed, such as "
              + "manifests of the previous job, are also valid. May be repeated. Manifests of all "
              + "other keys are ignored. Needs --signing-key.")
  @Bound(Bound.By.NOTHING)
  private List<Path> publicKeys = new ArrayList<>();

  @Mixin private KafkaProperties clients;

  private @Nullable Map<TopicPartition, Long> stopOffsets;

  KafkaOptions() {}

  /**
   * Options from arguments as on a command line.
   *
   * @throws CommandLine.ParameterException if an argument is invalid
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

  /** The bootstrap servers. */
  public String bootstrapServers() {
    return bootstrapServers;
  }

  /** The offset where each partition of the input ends, exclusive; empty for an unbounded job. */
  public Optional<Map<TopicPartition, Long>> stopOffsets() {
    return Optional.ofNullable(stopOffsets);
  }

  /** The topics that the job writes to. */
  public TopicOptions topics() {
    return topics;
  }

  /** The topics and the format of events. */
  public EventOptions events() {
    return events;
  }

  /** The prefix of transactional ids and consumer groups of a job that writes to {@code topic}. */
  public String transactionalIdPrefix(String topic) {
    return transactionalIdPrefix + "." + topic;
  }

  /** How long the broker keeps an uncommitted transaction. */
  public Duration transactionTimeout() {
    return transactionTimeout;
  }

  /** The time for which the accepted topic must keep tombstones. */
  public Duration maxDowntime() {
    return maxDowntime;
  }

  /** Whether to continue what another job has written. */
  public boolean takeOver() {
    return takeOver;
  }

  /** The options whose values may differ from the recorded {@link JobIdentity}. */
  public Set<String> acceptedChanges() {
    return Set.copyOf(acceptedChanges);
  }

  /** Whether topics may differ from the topics in the state. */
  public boolean acceptNewTopic() {
    return acceptNewTopic;
  }

  /** Whether records of the input may have been deleted before the job read them. */
  public boolean allowSkippedOffsets() {
    return allowSkippedOffsets;
  }

  /** Files of public keys whose manifests are valid in addition to manifests of the signing key. */
  public List<Path> publicKeys() {
    return List.copyOf(publicKeys);
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
   * Rejects options that contradict each other, and settings that Kafka's clients would reject.
   *
   * @throws UserErrorException if there are such options or settings
   */
  public void check() {
    clients.check(bootstrapServers);
    reject(
        checkpointInterval.compareTo(MIN_CHECKPOINT_INTERVAL) < 0,
        "--checkpoint-interval must be at least %s, got %s"
            .formatted(write(MIN_CHECKPOINT_INTERVAL), write(checkpointInterval)));
    topics.check(events);
    reject(
        transactionTimeout.compareTo(MAX_TRANSACTION_TIMEOUT) > 0,
        "--transaction-timeout must be at most %s, got %s"
            .formatted(write(MAX_TRANSACTION_TIMEOUT), write(transactionTimeout)));
    reject(
        transactionTimeout.compareTo(checkpointInterval) <= 0,
        "--transaction-timeout must be longer than --checkpoint-interval, got %s and %s"
            .formatted(write(transactionTimeout), write(checkpointInterval)));
    events.check();
  }
}
