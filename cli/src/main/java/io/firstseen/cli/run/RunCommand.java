package io.firstseen.cli.run;

import static io.firstseen.cli.shared.SnapshotSummary.number;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.cli.savepoint.SavepointDirectory;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.Progress;
import io.firstseen.cli.shared.Verb;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.events.EventParser;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.jobs.DedupJob;
import io.firstseen.jobs.OutcomeCounts;
import io.firstseen.jobs.PipelineJob;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.FileFormat;
import io.firstseen.jobs.files.LineReader;
import io.firstseen.jobs.files.OutcomeFiles;
import io.firstseen.jobs.files.SnapshotFiles;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.shared.JobSink;
import io.firstseen.jobs.shared.OutcomeSinks;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.Snapshots;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.serializers.SourceEvent;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs the jobs on files, without Kafka, in a cluster inside this JVM. */
@Command(
    name = "run",
    footer = {
      "  firstseen run --input keys.txt --accepted new-keys.txt",
      "  firstseen run --input events.tsv.gz --format tsv --ttl 7d \\",
      "      --accepted accepted.tsv --duplicates duplicates.tsv",
      "  firstseen run --input urls.txt --canonicaliser url --accepted - --snapshots DIR"
    },
    description = {
      "Separates new keys of a file from duplicates, and writes snapshots of the keys.",
      "The output files appear when the whole input is read; existing files are replaced."
    })
public final class RunCommand extends Verb {
  private static final int MAX_DEAD_LETTERS_TOLD = 5;

  /** The network buffers between this many tasks need 0.5 GiB, and grow with the square. */
  private static final int MAX_PARALLELISM = 128;

  @Option(
      names = "--input",
      required = true,
      paramLabel = "FILE",
      description =
          "File with the events; decompressed if it is in gzip format; - reads standard input.")
  private String input;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "lines",
      description = {
        "lines: one key per line, added at the current time;",
        "tsv: epochSeconds TAB add|del TAB key;",
        "jsonl: an object with ts (milliseconds), op (add, delete), key, optional scope, and any "
            + "other fields (default: ${DEFAULT-VALUE})."
      })
  private FileFormat format;

  @Option(
      names = "--accepted",
      required = true,
      paramLabel = "OUT",
      description =
          "Output file of the changelog in the input's format: an add per new key and a delete per"
              + " deleted key, with the input line unchanged. Any OUT may be - for standard"
              + " output; the summary is then printed to standard error.")
  private Path accepted;

  @Option(
      names = "--duplicates",
      paramLabel = "OUT",
      description =
          "Output file of duplicates and of deletes of unknown keys, in the input's format.")
  private Path duplicates;

  @Option(
      names = "--matches",
      paramLabel = "OUT",
      description =
          "With --near, output file of the added texts, in the format: match TAB bands TAB line. The"
              + " match is the id of the text that the text of the line matches, or the last digits"
              + " of the id, or -; bands is the number of equal bands, 0 for an accepted text.")
  private Path matches;

  @Option(
      names = "--dead-letters",
      paramLabel = "OUT",
      description =
          "Output file of unusable events, in the format: place TAB reason TAB line. Without it, "
              + "the first unusable events are reported on standard error.")
  private Path deadLetters;

  @Option(
      names = "--snapshots",
      paramLabel = "DIR",
      description =
          "Output directory of a manifest per window and its snapshots. It must not contain "
              + "snapshots yet.")
  private Path snapshots;

  @Option(
      names = "--from-savepoint",
      paramLabel = "DIR",
      description =
          "Savepoint of 'firstseen bootstrap' with the keys that the dedup already knows, created"
              + " with the same hash key, canonicaliser, shards and mode. The savepoint is not"
              + " changed.")
  private Path fromSavepoint;

  @Option(names = "--json", description = "Print the summary as one JSON object.")
  private boolean json;

  @Mixin private JobOptions options;

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::run);
  }

  private int run(Cleanup cleanup) throws Exception {
    accepted = output(accepted);
    duplicates = output(duplicates);
    deadLetters = output(deadLetters);
    matches = output(matches);
    Path scratch = cleanup.temporaryDirectory();
    Path deadLettersOrScratch = deadLetters == null ? scratch.resolve("dead-letters") : deadLetters;
    Summary summary = run(cleanup, scratch, deadLettersOrScratch);
    summary.fields().print(reportOut(), json);
    options.publicKeyWarning().ifPresent(text -> err().println("warning: " + text));
    if (deadLetters == null && summary.count(Outcome.Kind.DEAD_LETTER) > 0) {
      reportDeadLetters(summary.count(Outcome.Kind.DEAD_LETTER), deadLettersOrScratch);
    }
    if (summary.events() == summary.count(Outcome.Kind.DEAD_LETTER)) {
      throw new UserErrorException(
          "none of the %s lines of %s is a usable event"
              .formatted(number(summary.events()), InputFile.nameOf(input)));
    }
    return ExitCode.GOOD;
  }

  private Summary run(Cleanup cleanup, Path scratch, Path deadLettersOrScratch) throws Exception {
    if (options.stream().parallelism() > MAX_PARALLELISM) {
      throw new UserErrorException(
          "--parallelism must be at most %d when everything runs in one process, got %d"
              .formatted(MAX_PARALLELISM, options.stream().parallelism()));
    }
    if (matches != null && options.dedup().near().isEmpty()) {
      throw new UserErrorException("--matches needs --near");
    }
    for (Path output : Arrays.asList(accepted, duplicates, deadLetters, matches)) {
      InputFile.requireOther(input, output);
    }
    OutcomeSinks outcomes =
        OutcomeFiles.sinks(
            format,
            accepted,
            Optional.ofNullable(duplicates),
            Optional.of(deadLettersOrScratch),
            Optional.ofNullable(matches));
    Configuration start = new Configuration();
    if (fromSavepoint != null) {
      start.set(StateRecoveryOptions.SAVEPOINT_PATH, SavepointDirectory.require(fromSavepoint));
    }
    // Check everything before waiting for standard input.
    Source<SourceEvent, ?, ?> source = mustBeCopied() ? null : events(InputFile.path(input));
    JobSink<SnapshotRecord> snapshotFiles = snapshots == null ? null : new SnapshotFiles(snapshots);
    if (source == null) {
      source = events(copyOfInput(scratch));
    }
    EmbeddedCluster cluster = cleanup.open(() -> startCluster(scratch));
    StreamExecutionEnvironment env = cluster.environment(start);
    try {
      if (snapshotFiles == null) {
        DedupJob.build(env, source, outcomes, options);
      } else {
        PipelineJob.build(env, source, outcomes, snapshotFiles, options);
      }
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("these options contradict each other: " + e.getMessage());
    }
    long startNanos = System.nanoTime();
    JobClient job;
    try {
      job = env.executeAsync("firstseen run");
    } catch (Exception e) {
      throw fromSavepoint == null ? e : SavepointDirectory.cannot("start from", fromSavepoint, e);
    }
    Map<String, Object> results = await(job);
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    if (results.get(Snapshots.HELD_WINDOWS) instanceof Long held && held > 0) {
      err()
          .printf(
              "warning: %s windows have no manifest, because the set fell or grew too far"
                  + " (--max-fall, --max-growth)%n",
              number(held));
    }
    return new Summary(
        OutcomeCounts.of(results),
        snapshots == null ? null : new SnapshotDirectory(snapshots).sequences().size(),
        seconds);
  }

  /** Whether the input is standard input, a named pipe, or data in gzip format without the name. */
  private boolean mustBeCopied() {
    if (input.equals(InputFile.STANDARD_INPUT)) {
      return true;
    }
    Path file = InputFile.path(input);
    return Files.isRegularFile(file)
        ? Files.isReadable(file) && !InputFile.isReadByName(file)
        : Files.exists(file) && !Files.isDirectory(file);
  }

  /** Copies the text of a pipe to a file, since the job needs its length, which is 0 for a pipe. */
  private Path copyOfInput(Path scratch) throws IOException {
    boolean isStandardInput = input.equals(InputFile.STANDARD_INPUT);
    Path file = Path.of(isStandardInput ? "standard-input" : input);
    String name = String.valueOf(file.getFileName()).replaceFirst("\\.gz$", "");
    Path copy = Files.createDirectory(scratch.resolve("input")).resolve(name);
    try (InputStream stream = InputFile.openText(input)) {
      Files.copy(stream, copy);
    }
    return copy;
  }

  private Source<SourceEvent, ?, ?> events(Path file) {
    return EventFiles.source(
        file,
        format,
        new EventParser(
            options.dedup().maxAhead(), Clock.systemUTC(), options.keys().canonicaliser()));
  }

  private EmbeddedCluster startCluster(Path scratch) throws IOException {
    int parallelism = options.stream().parallelism();
    // Two exchanges connect every task with every task. Smaller buffers keep the memory low.
    MemorySize buffer = MemorySize.parse(parallelism <= 16 ? "32kb" : "4kb");
    MemorySize network = buffer.multiply(2048 + 8.0 * parallelism * parallelism);
    return EmbeddedCluster.start(
        scratch.resolve("flink"),
        EmbeddedCluster.Settings.defaults()
            .slotsPerTaskManager(parallelism)
            .with(TaskManagerOptions.MEMORY_SEGMENT_SIZE, buffer)
            .with(TaskManagerOptions.NETWORK_MEMORY_MIN, network)
            .with(TaskManagerOptions.NETWORK_MEMORY_MAX, network)
            // The interval at which the counts of a running job are updated.
            .with(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, Duration.ofSeconds(1)));
  }

  private Map<String, Object> await(JobClient job) throws Exception {
    try (Progress progress = new Progress(err())) {
      return progress
          .await(
              job.getJobExecutionResult(),
              // Flink deletes the accumulators when the job ends.
              () ->
                  Summary.progress(
                      OutcomeCounts.of(job.getAccumulators().exceptionally(e -> Map.of()).join())))
          .getAllAccumulatorResults();
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw failed(e);
    }
  }

  private Exception failed(Exception e) {
    if (fromSavepoint != null && SavepointDirectory.isRefusal(e)) {
      return SavepointDirectory.cannot("start from", fromSavepoint, e);
    }
    String reason = "the job failed: " + UserErrorException.lastCause(e);
    return UserErrorException.sentence(e)
        .<Exception>map(UserErrorException::new)
        .orElseGet(() -> new IllegalStateException(reason, e));
  }

  private void reportDeadLetters(long count, Path file) throws IOException {
    err()
        .printf(
            "warning: %s events are unusable (--dead-letters writes them to a file)%s%n",
            number(count), count > MAX_DEAD_LETTERS_TOLD ? ", the first ones:" : ":");
    try (InputStream stream = Files.newInputStream(file)) {
      LineReader lines = new LineReader(stream, EventFiles.MAX_LINE_BYTES);
      for (int told = 0; told < Math.min(count, MAX_DEAD_LETTERS_TOLD); told++) {
        // Place and reason precede the raw bytes, which may be anything.
        String[] fields = new String(lines.next(), UTF_8).split("\t", 3);
        err().println(fields[0] + ": " + fields[1]);
      }
    }
  }

  /**
   * The results of a run.
   *
   * @param counts the number of events by outcome
   * @param snapshots the number of manifests; null without snapshots
   * @param seconds the duration of the job
   */
  private record Summary(
      Map<Outcome.Kind, Long> counts, @Nullable Integer snapshots, double seconds) {

    long count(Outcome.Kind kind) {
      return counts.get(kind);
    }

    long events() {
      return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    Fields fields() {
      Fields fields = new Fields().put("events", "events", events());
      fields.put("accepted", "accepted", count(Outcome.Kind.ACCEPTED));
      fields.put("duplicates", "duplicates", count(Outcome.Kind.DUPLICATE));
      if (count(Outcome.Kind.FALSE_DUPLICATE) > 0) {
        fields.put("false duplicates", "falseDuplicates", count(Outcome.Kind.FALSE_DUPLICATE));
      } else {
        fields.json("falseDuplicates", 0);
      }
      fields.put("removed", "removed", count(Outcome.Kind.REMOVED));
      fields.put("unknown deletes", "unknownDeletes", count(Outcome.Kind.UNKNOWN_DELETE));
      fields.put("dead letters", "deadLetters", count(Outcome.Kind.DEAD_LETTER));
      if (snapshots != null) {
        fields.put("snapshots", "snapshots", snapshots);
      }
      return fields
          .putSeconds("seconds", "seconds", seconds)
          .put("events per second", "eventsPerSecond", Math.round(events() / seconds));
    }

    /** One line with the counts of a running job. */
    static String progress(Map<Outcome.Kind, Long> counts) {
      Summary soFar = new Summary(counts, null, 1);
      String accepted = number(soFar.count(Outcome.Kind.ACCEPTED));
      return accepted + " accepted of " + number(soFar.events()) + " events";
    }
  }
}
