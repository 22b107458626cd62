package io.firstseen.cli.doctor;

import io.firstseen.cli.shared.GivenOptions;
import io.firstseen.cli.shared.TrustedKeyOptions;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.PipelineJob;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.kafka.Preflight;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.shared.Finding;
import io.firstseen.jobs.shared.KeyFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.server.common.MetadataVersion;
import picocli.CommandLine;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** The brokers to check, with the options that a job there has. */
final class BrokerOptions implements IModelTransformer {
  private static final String SERVERS = "--bootstrap-servers";
  private static final String JOB = "--job";
  private static final String SET = "--set";

  private static final List<OptionSpec> OF_JOBS =
      List.of(
          ofJob("--events-topic", "The topics of events (default: firstseen.events)."),
          ofJob(
              "--events-topic-pattern",
              "Instead of --events-topic: the topics of events, as the job has them."),
          ofJob("--accepted-topic", "The topic of accepted keys (default: ${DEFAULT-VALUE})."),
          ofJob(
              "--records-topic",
              "The topic of records that are passed on (default: ${DEFAULT-VALUE})."),
          ofJob("--duplicates-topic", "The topic of repeats (default: ${DEFAULT-VALUE})."),
          ofJob(
              "--dead-letters-topic",
              "The topic of records that cannot be used (default: ${DEFAULT-VALUE})."),
          ofJob("--snapshots-topic", "The topic of snapshots (default: ${DEFAULT-VALUE})."),
          ofJob(
              "--claims-topic",
              "The topic of claims (default: the output topic followed by .claims)."),
          ofJob(
              "--output",
              "What the job writes: changelog, record or both (default: ${DEFAULT-VALUE})."),
          ofJob(
              "--duplicates",
              "Which repeats the job writes: topic, sample or none (default: ${DEFAULT-VALUE})."),
          ofJob(
              "--transactional-id-prefix",
              "The prefix of transactional ids (default: ${DEFAULT-VALUE})."),
          ofJob(
              "--transaction-timeout",
              "The job's, which the brokers must allow (default: ${DEFAULT-VALUE})."),
          ofJob(
              "--max-downtime",
              "The job's, for which the accepted topic must keep removals (default:"
                  + " ${DEFAULT-VALUE})."),
          ofJob(
              "--topic-replication-factor",
              "On how many brokers each topic of the job must be (default: unchecked)."),
          ofJob(
              "--topic-min-insync-replicas",
              "The least min.insync.replicas of these topics (default: unchecked)."),
          ofJob("--kafka-properties", DeclaredOptions.of("--kafka-properties").description()),
          ofJob("--kafka-property", DeclaredOptions.of("--kafka-property").description()));

  /** An option that goes to the job as it is given. */
  private static OptionSpec ofJob(String name, String... description) {
    OptionSpec declared = DeclaredOptions.of(name);
    return OptionSpec.builder(name)
        .paramLabel(declared.paramLabel())
        .type(
            declared.isMultiValue()
                ? List.class
                // Which the shell completes.
                : declared.type() == Path.class ? Path.class : String.class)
        .required(declared.required())
        .defaultValue(declared.defaultValue())
        .description(description)
        .build();
  }

  static final class JobName extends OptionValues.LowerCaseName<JobNeeds.Job> {
    JobName() {
      super(JobNeeds.Job.class);
    }
  }

  @Override
  public CommandSpec transform(CommandSpec doctor) {
    ArgGroupSpec.Builder group =
        ArgGroupSpec.builder()
            .exclusive(false)
            .addArg(
                ofJob(SERVERS, "Check these brokers, too. The following options need this one."))
            .addArg(
                OptionSpec.builder(JOB)
                    .paramLabel("JOB")
                    .type(JobNeeds.Job.class)
                    .converters(new JobName())
                    // For completion, which does not ask the converter.
                    .completionCandidates(List.of("dedup", "snapshots", "pipeline", "none"))
                    .defaultValue("pipeline")
                    .description(
                        "Whose needs are checked. dedup, snapshots, pipeline: those of DedupJob,"
                            + " SnapshotJob, PipelineJob; none: those of a reader of snapshots"
                            + " (default: ${DEFAULT-VALUE}).")
                    .build())
            .addArg(
                OptionSpec.builder(
                        ofJob(
                            SET,
                            "The set whose newest manifest is looked at (default:"
                                + " ${DEFAULT-VALUE})."))
                    .converters(DeclaredOptions.of(SET).converters())
                    .build());
    OF_JOBS.forEach(group::addArg);
    CommandSpec.forAnnotatedObject(new TrustedKeyOptions()).options().forEach(group::addArg);
    // The group first.
    List<OptionSpec> others = List.copyOf(doctor.options());
    others.forEach(doctor::remove);
    doctor.addArgGroup(group.build());
    others.forEach(doctor::addOption);
    return doctor;
  }

  /** Whether brokers are to be checked. */
  static boolean areGiven(ParseResult given) {
    return given.hasMatchedOption(SERVERS);
  }

  /**
   * The checks of the brokers, which give each finding to who asks for it.
   *
   * @param others the other options of the job, as its command line has them
   * @throws picocli.CommandLine.ParameterException if an option is wrong
   * @throws io.firstseen.operators.UserErrorException if options are wrong together, or a file
   *     cannot be read
   */
  static Consumer<Consumer<Finding>> checks(ParseResult given, List<String> others) {
    JobNeeds.Job job = given.matchedOptionValue(JOB, JobNeeds.Job.PIPELINE);
    JobNeeds needs = check(job, words(given, job, others));
    TrustedKeyOptions trusted = new TrustedKeyOptions();
    new CommandLine(trusted)
        .parseArgs(GivenOptions.words(given, Set.of("--public-key")).toArray(String[]::new));
    List<TrustedKey> keys = new ArrayList<>(trusted.keys());
    needs.signingKey().ifPresent(file -> keys.add(KeyFiles.signingKey(file).publicKey()));
    return found ->
        Preflight.report(
            needs,
            given.matchedOptionValue(SET, DeclaredOptions.of(SET).defaultValue()),
            keys,
            BrokerOptions::release,
            found);
  }

  private static JobNeeds check(JobNeeds.Job job, String[] words) {
    return switch (job) {
      case DEDUP -> DedupJob.check(words);
      case SNAPSHOTS -> SnapshotJob.check(words);
      case PIPELINE -> PipelineJob.check(words);
      case NONE -> {
        KafkaOptions options = KafkaOptions.parse(words);
        options.check();
        yield new JobNeeds(job, options, null);
      }
    };
  }

  private static String[] words(ParseResult given, JobNeeds.Job job, List<String> others) {
    Set<String> names =
        OF_JOBS.stream()
            .map(OptionSpec::longestName)
            .collect(Collectors.toCollection(HashSet::new));
    names.add(SERVERS);
    if (job.publishes()) {
      names.add(SET);
    }
    List<String> words = GivenOptions.words(given, names);
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
