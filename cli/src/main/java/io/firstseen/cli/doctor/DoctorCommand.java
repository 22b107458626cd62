package io.firstseen.cli.doctor;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.TrustedKeyOptions;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.PipelineJob;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.kafka.Preflight;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.options.Suggestions;
import io.firstseen.jobs.shared.Finding;
import io.firstseen.jobs.shared.KeyFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.server.common.MetadataVersion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Unmatched;
import picocli.CommandLine.UnmatchedArgumentException;

/** Checks this machine and brokers. */
@Command(
    name = "doctor",
    footer = {
      "  firstseen doctor",
      "  firstseen doctor --bootstrap-servers kafka:9092 --job dedup --ttl 7d",
      "  firstseen doctor --bootstrap-servers kafka:9092 --job none --set firstseen"
    },
    modelTransformer = DeclaredOptions.class,
    description = {
      "Checks whether this machine, and with --bootstrap-servers the brokers, are ready for a job."
          + " Prints one line per check: ok, warning or failed, and the fix. Does not create"
          + " topics.",
      "Append all options of the job: doctor checks them as the job would.",
      "Exit status 0 if nothing failed, 1 if something did."
    })
public final class DoctorCommand extends Verb {
  private static final String SERVERS = "--bootstrap-servers";
  private static final String SET = "--set";

  static final class JobName extends OptionValues.LowerCaseName<Job> {
    JobName() {
      super(Job.class);
    }
  }

  @Option(
      names = SERVERS,
      description = "The brokers to check. All other options except --json need this option.")
  private String servers;

  @Option(
      names = "--job",
      paramLabel = "JOB",
      defaultValue = "pipeline",
      converter = JobName.class,
      description =
          "The job to check for: dedup (DedupJob), snapshots (SnapshotJob), pipeline (PipelineJob),"
              + " or none for a client of snapshots (default: ${DEFAULT-VALUE}).")
  private Job job;

  @Option(
      names = SET,
      defaultValue = DeclaredOptions.DEFAULT,
      description = "The set whose newest manifest is checked (default: ${DEFAULT-VALUE}).")
  private String setName;

  @Mixin private TrustedKeyOptions trusted;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Unmatched private List<String> optionsOfJob = new ArrayList<>();

  @Override
  public Integer call() {
    // Reject invalid options before anything is printed.
    Consumer<Consumer<Finding>> ofBrokers = ofBrokers();
    Map<Finding.Status, Integer> counts = new EnumMap<>(Finding.Status.class);
    ObjectNode answer = Json.object();
    ArrayNode checks = answer.putArray("checks");
    Consumer<Finding> found =
        finding -> {
          counts.merge(finding.status(), 1, Integer::sum);
          String status = finding.status().name().toLowerCase(Locale.ROOT);
          String text = finding.text().replaceAll("\\s*\\R\\s*", " ").strip();
          if (json) {
            checks
                .addObject()
                .put("check", finding.check())
                .put("status", status)
                .put("text", text);
          } else {
            out().printf("%-8s %s: %s%n", status, finding.check(), text);
            // The next check may take a while.
            out().flush();
          }
        };
    ofMachine(found);
    ofBrokers.accept(found);
    int failed = counts.getOrDefault(Finding.Status.FAILED, 0);
    if (json) {
      answer.put("ok", failed == 0);
      out().println(Json.line(answer));
    }
    return failed == 0 ? ExitCode.GOOD : ExitCode.NEGATIVE;
  }

  private static void ofMachine(Consumer<Finding> found) {
    found.accept(MachineChecks.java(Runtime.version()));
    found.accept(MachineChecks.memory());
    found.accept(MachineChecks.openFiles());
    found.accept(MachineChecks.temporaryFiles(Path.of(System.getProperty("java.io.tmpdir"))));
    found.accept(MachineChecks.jars(System.getProperty("java.class.path")));
  }

  private Consumer<Consumer<Finding>> ofBrokers() {
    if (servers == null) {
      for (String option : List.of("--job", SET, "--public-key")) {
        if (commandLine().getParseResult().hasMatchedOption(option)) {
          throw new ParameterException(commandLine(), "%s needs %s".formatted(option, SERVERS));
        }
      }
      if (!optionsOfJob.isEmpty()) {
        throw new UnmatchedArgumentException(commandLine(), optionsOfJob);
      }
      return found -> {};
    }
    JobNeeds needs;
    try {
      needs = needs();
    } catch (ParameterException e) {
      throw new ParameterException(commandLine(), Suggestions.sentence(e), e);
    }
    List<TrustedKey> keys = new ArrayList<>(trusted.keys());
    needs.signingKey().ifPresent(file -> keys.add(KeyFiles.signingKey(file).publicKey()));
    return found -> Preflight.report(needs, setName, keys, DoctorCommand::release, found);
  }

  private JobNeeds needs() {
    List<String> words = new ArrayList<>(List.of(SERVERS + "=" + servers));
    if (job.publishes()) {
      words.add(SET + "=" + setName);
    }
    words.addAll(optionsOfJob);
    String[] all = words.toArray(String[]::new);
    return switch (job) {
      case DEDUP -> DedupJob.check(all);
      case SNAPSHOTS -> SnapshotJob.check(all);
      case PIPELINE -> PipelineJob.check(all);
      case NONE -> {
        KafkaOptions options = KafkaOptions.parse(all);
        options.check();
        yield new JobNeeds(job, options, null);
      }
    };
  }

  private static String release(int metadataLevel) {
    try {
      return MetadataVersion.fromFeatureLevel((short) metadataLevel).shortVersion();
    } catch (IllegalArgumentException e) {
      return "of metadata.version " + metadataLevel;
    }
  }
}
