package io.firstseen.benchmarks.kafka;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Processors;
import io.firstseen.benchmarks.shared.Turns;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Option;

/**
 * Compares jobs from Kafka to Kafka, exactly-once: the dedup, the same source and sink with nothing
 * between, and exact dedup. The broker is a separate process, every run a separate JVM after
 * warm-ups there; rounds take turns over the jobs. With one task, job and broker have a processor
 * each if the system supports that. Exits with status 1 if a bound is missed.
 */
public final class KafkaFigures extends FiguresProgram {
  private static final int HEAP_MEBIBYTES = 3_072;

  /**
   * What is required of the dedup, as parts of passing events on.
   *
   * @param rate events per second
   * @param processor events for each second of processor time, in {@link Part#KEY_1}
   */
  record Bounds(double rate, double processor) {
    static final Bounds ASKED_FOR = new Bounds(0.9, 0.9);
  }

  enum Part {
    /** The record's key is the key, canonicaliser {@code none}. */
    KEY_1(EventFormat.KEY, 1),
    KEY_2(EventFormat.KEY, 2),
    /** JSON, canonicaliser {@code url}. */
    JSON_1(EventFormat.JSON, 1),
    JSON_2(EventFormat.JSON, 2);

    private final EventFormat format;
    private final int parallelism;

    Part(EventFormat format, int parallelism) {
      this.format = format;
      this.parallelism = parallelism;
    }

    /** Whether job and broker have a processor each. */
    boolean isApart() {
      return parallelism == 1 && Processors.canBeChosen();
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  @Option(
      names = "--only",
      paramLabel = "PART",
      split = ",",
      description = "measure only these parts: ${COMPLETION-CANDIDATES}")
  private Set<Part> only = EnumSet.allOf(Part.class);

  @Option(
      names = "--subjects",
      paramLabel = "JOB",
      split = ",",
      description = "measure only these jobs: ${COMPLETION-CANDIDATES}")
  private Set<Subject> subjects = EnumSet.allOf(Subject.class);

  @Option(
      names = "--records",
      defaultValue = "8000000",
      description =
          "events of a run, an even number, of which the second half is measured (default: ${DEFAULT-VALUE})")
  private int records;

  @Option(
      names = "--warm-up",
      defaultValue = "2000000",
      description = "events of each warm-up before, an even number (default: ${DEFAULT-VALUE})")
  private int warmUp;

  @Option(
      names = "--warm-ups",
      defaultValue = "20",
      description =
          "most warm-ups and repeated runs until Java compiles no longer (default: ${DEFAULT-VALUE})")
  private int warmUps;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description = "runs of each job, of which medians are taken (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--checkpoint-millis",
      defaultValue = "1000",
      description = "milliseconds between checkpoints (default: ${DEFAULT-VALUE})")
  private int checkpointMillis;

  @Option(
      names = "--kafka-property",
      paramLabel = "NAME=VALUE",
      description = "a setting of the jobs' Kafka clients, to try it; may be repeated")
  private List<String> kafkaProperties = new ArrayList<>();

  private final Bounds bounds;
  private int runs;

  KafkaFigures(Bounds bounds) {
    this.bounds = bounds;
  }

  public static void main(String[] arguments) {
    exit(new KafkaFigures(Bounds.ASKED_FOR), arguments);
  }

  @Override
  protected void measure(Path work) throws Exception {
    for (Part part : only) {
      measure(part, work.resolve(part.toString()));
    }
  }

  private void measure(Part part, Path directory) throws Exception {
    figures.title(
        "%s: %,d events, %d task%s, a checkpoint every %,d ms%s"
            .formatted(
                part.format == EventFormat.JSON ? "JSON, url" : "Record key, none",
                records,
                part.parallelism,
                part.parallelism == 1 ? "" : "s",
                checkpointMillis,
                part.isApart() ? ", job and broker on a processor each" : ""));
    Events events = new Events(part.format, part.parallelism, records);
    Map<Subject, List<MeasuredRun.Result>> results;
    try (ChildJvm.Service broker =
        BrokerProcess.start(
            part.isApart() ? Processors.SECOND : Processors.ALL,
            new BrokerProcess.Spec(directory.resolve("broker").toString(), part.parallelism))) {
      events.write(broker.line());
      results =
          Turns.measure(
              subjects,
              0,
              rounds,
              (subject, round) -> run(part, subject, round, events, broker.line(), directory));
    }
    MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
    print(part, results);
  }

  private MeasuredRun.Result run(
      Part part, Subject subject, int round, Events events, String bootstrapServers, Path directory)
      throws Exception {
    MeasuredRun.Spec spec =
        new MeasuredRun.Spec(
            "run-" + runs++,
            subject,
            events,
            Math.min(warmUp, records),
            warmUps,
            checkpointMillis,
            kafkaProperties,
            bootstrapServers,
            directory.resolve("flink").toString());
    MeasuredRun.Result result =
        ChildJvm.withHeap(HEAP_MEBIBYTES)
            .processors(part.isApart() ? Processors.FIRST : Processors.ALL)
            .run(MeasuredRun.class, spec, MeasuredRun.Result.class);
    System.err.printf(
        "%s, round %d, %s: %,.0f events/s, %.3f CPU seconds per million, compiling for %.0f %%%n",
        part,
        round,
        subject,
        result.eventsPerSecond(),
        result.processorSeconds(),
        100 * result.compiling());
    return result;
  }

  private void print(Part part, Map<Subject, List<MeasuredRun.Result>> results) {
    results.forEach(
        (subject, runsOfSubject) -> {
          String name = part + ", " + subject;
          figures.plain(
              name,
              Turns.median(runsOfSubject, MeasuredRun.Result::eventsPerSecond) / 1000,
              "thousand events/s");
          figures.plain(
              name,
              Turns.median(runsOfSubject, MeasuredRun.Result::processorSeconds),
              "CPU seconds per million events");
          if (subject.isOurs()) {
            figures.plain(
                name,
                Turns.median(runsOfSubject, MeasuredRun.Result::falselyDropped),
                "keys falsely dropped");
          }
        });
    List<MeasuredRun.Result> ours = results.get(Subject.OURS);
    results.forEach(
        (other, runsOfOther) -> {
          if (ours != null && other != Subject.OURS) {
            compare(part, ours, other, runsOfOther);
          }
        });
  }

  private void compare(
      Part part, List<MeasuredRun.Result> ours, Subject other, List<MeasuredRun.Result> theirs) {
    String name = part + ", ours / " + other;
    double rate = Turns.ratio(ours, theirs, MeasuredRun.Result::eventsPerSecond);
    double processor = Turns.ratio(theirs, ours, MeasuredRun.Result::processorSeconds);
    boolean bounded = other == Subject.PASS_THROUGH;
    figures.atLeast(name + ", rate", rate, bounded ? bounds.rate : Double.NEGATIVE_INFINITY, "");
    figures.atLeast(
        name + ", events a CPU second",
        processor,
        bounded && part == Part.KEY_1 ? bounds.processor : Double.NEGATIVE_INFINITY,
        "");
  }
}
