package io.firstseen.cli.doctor;

import io.firstseen.cli.shared.TrustedKeyOptions;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.CheckedOptions;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.PipelineJob;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.kafka.KafkaChecks;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KafkaProperties;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.shared.Finding;
import io.firstseen.jobs.shared.KeyFiles;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.server.common.MetadataVersion;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The brokers to check, with the options that a job there has: those of the same name. */
final class BrokerOptions {

  @Option(
      names = "--bootstrap-servers",
      required = true,
      paramLabel = "HOST:PORT,...",
      description = "Check these brokers, too. The following options need this one.")
  private String bootstrapServers;

  @Option(
      names = "--job",
      paramLabel = "JOB",
      converter = JobName.class,
      completionCandidates = JobNames.class,
      description =
          "Whose needs are checked. dedup, snapshots, pipeline: those of DedupJob, SnapshotJob,"
              + " PipelineJob; none: those of a reader of snapshots (default: pipeline).")
  private KafkaChecks.Job job = KafkaChecks.Job.PIPELINE;

  @Option(
      names = "--set",
      paramLabel = "NAME",
      converter = OptionValues.SetName.class,
      description = "The set whose newest manifest is looked at (default: firstseen).")
  private String setName = "firstseen";

  @Option(
      names = "--events-topic",
      paramLabel = "TOPIC,...",
      description = "The topics of events (default: firstseen.events).")
  private List<String> eventsTopics = List.of();

  @Option(
      names = "--events-topic-pattern",
      paramLabel = "REGEX",
      description = "Instead of --events-topic: the topics of events, as the job has them.")
  private String eventsTopicPattern;

  @Option(
      names = "--accepted-topic",
      paramLabel = "TOPIC",
      description = "The topic of accepted keys (default: firstseen.accepted).")
  private String acceptedTopic;

  @Option(
      names = "--records-topic",
      paramLabel = "TOPIC",
      description = "The topic of records that are passed on (default: firstseen.records).")
  private String recordsTopic;

  @Option(
      names = "--duplicates-topic",
      paramLabel = "TOPIC",
      description = "The topic of repeats (default: firstseen.duplicates).")
  private String duplicatesTopic;

  @Option(
      names = "--dead-letters-topic",
      paramLabel = "TOPIC",
      description = "The topic of records that cannot be used (default: firstseen.dead-letters).")
  private String deadLettersTopic;

  @Option(
      names = "--snapshots-topic",
      paramLabel = "TOPIC",
      description = "The topic of snapshots (default: firstseen.snapshots).")
  private String snapshotsTopic;

  @Option(
      names = "--claims-topic",
      paramLabel = "TOPIC",
      description = "The topic of claims (default: the output topic followed by .claims).")
  private String claimsTopic;

  @Option(
      names = "--output",
      paramLabel = "WHAT",
      description = "What the job writes: changelog, record or both (default: changelog).")
  private String output;

  @Option(
      names = "--duplicates",
      paramLabel = "WHICH",
      description = "Which repeats the job writes: topic, sample or none (default: topic).")
  private String duplicates;

  @Option(
      names = "--transactional-id-prefix",
      paramLabel = "PREFIX",
      description = "The prefix of transactional ids (default: firstseen).")
  private String transactionalIdPrefix;

  @Option(
      names = "--transaction-timeout",
      paramLabel = "DURATION",
      description = "The job's, which the brokers must allow (default: 15m).")
  private String transactionTimeout;

  @Option(
      names = "--max-downtime",
      paramLabel = "DURATION",
      description = "The job's, for which the accepted topic must keep removals (default: 1d).")
  private String maxDowntime;

  @Option(
      names = "--topic-replication-factor",
      paramLabel = "N",
      description = "On how many brokers each topic of the job must be (default: unchecked).")
  private String replicationFactor;

  @Option(
      names = "--topic-min-insync-replicas",
      paramLabel = "N",
      description = "The least min.insync.replicas of these topics (default: unchecked).")
  private String minInsyncReplicas;

  @ArgGroup(exclusive = false)
  private KafkaProperties kafka = new KafkaProperties();

  @ArgGroup(exclusive = false)
  private TrustedKeyOptions trusted = new TrustedKeyOptions();

  static final class JobName extends OptionValues.LowerCaseName<KafkaChecks.Job> {
    JobName() {
      super(KafkaChecks.Job.class);
    }
  }

  /** For completion, which does not ask the converter. */
  static final class JobNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return List.of("dedup", "snapshots", "pipeline", "none").iterator();
    }
  }

  /**
   * The checks of the brokers, which give each finding to who asks for it.
   *
   * @param others the other options of the job, as its command line has them
   * @throws picocli.CommandLine.ParameterException if an option is wrong
   * @throws io.firstseen.operators.UserErrorException if options are wrong together, or a file
   *     cannot be read
   */
  Consumer<Consumer<Finding>> checks(List<String> others) {
    CheckedOptions options = check(words(others));
    List<TrustedKey> keys = new ArrayList<>(trusted.keys());
    options.signingKey().ifPresent(file -> keys.add(KeyFiles.signingKey(file).publicKey()));
    return found ->
        KafkaChecks.check(
            options.kafka(),
            job,
            options.ttl(),
            options.identity(),
            setName,
            keys,
            BrokerOptions::release,
            found);
  }

  private CheckedOptions check(String[] words) {
    return switch (job) {
      case DEDUP -> DedupJob.check(words);
      case SNAPSHOTS -> SnapshotJob.check(words);
      case PIPELINE -> PipelineJob.check(words);
      case NONE -> {
        KafkaOptions options = KafkaOptions.parse(words);
        options.check();
        yield new CheckedOptions(options, Optional.empty(), Optional.empty(), Optional.empty());
      }
    };
  }

  private String[] words(List<String> others) {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("--bootstrap-servers", bootstrapServers);
    values.put("--events-topic-pattern", eventsTopicPattern);
    values.put("--accepted-topic", acceptedTopic);
    values.put("--records-topic", recordsTopic);
    values.put("--duplicates-topic", duplicatesTopic);
    values.put("--dead-letters-topic", deadLettersTopic);
    values.put("--snapshots-topic", snapshotsTopic);
    values.put("--claims-topic", claimsTopic);
    values.put("--output", output);
    values.put("--duplicates", duplicates);
    values.put("--transactional-id-prefix", transactionalIdPrefix);
    values.put("--transaction-timeout", transactionTimeout);
    values.put("--max-downtime", maxDowntime);
    values.put("--topic-replication-factor", replicationFactor);
    values.put("--topic-min-insync-replicas", minInsyncReplicas);
    if (job == KafkaChecks.Job.SNAPSHOTS || job == KafkaChecks.Job.PIPELINE) {
      values.put("--set", setName);
    }
    List<String> words = new ArrayList<>();
    eventsTopics.forEach(topics -> words.add("--events-topic=" + topics));
    values.forEach(
        (option, value) -> {
          if (value != null) {
            words.add(option + "=" + value);
          }
        });
    words.addAll(kafka.words());
    words.addAll(others);
    return words.toArray(String[]::new);
  }

  private static String release(int metadataLevel) {
    try {
      return MetadataVersion.fromFeatureLevel((short) metadataLevel).shortVersion();
    } catch (IllegalArgumentException e) {
      return "of metadata.version " + metadataLevel;
    }
  }
}
