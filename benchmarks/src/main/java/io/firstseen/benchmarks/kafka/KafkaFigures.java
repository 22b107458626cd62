package io.firstseen.benchmarks.kafka;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import io.firstseen.benchmarks.Figures;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Median;
import io.firstseen.benchmarks.shared.Processors;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Compares jobs from Kafka to Kafka, exactly-once: the dedup, the same source and sink with nothing
 * between, and exact dedup. The broker is a process of its own, every run a JVM of its own after
 * warm-ups there; rounds take turns over the jobs. With one task, job and broker have a processor
 * each if the system supports that. Exits with status 1 if a bound is missed.
 */
@Command(name = "KafkaFigures", mixinStandardHelpOptions = true, sortOptions = false)
public final class KafkaFigures implements Callable<Integer> {
  private static final int HEAP_MEBIBYTES = 3_072;

  /**
   * What is asked for of the dedup, as parts of passing events on.
   *
   * @param rate events a second
   * @param processor events for each second of processor time, in {@link Part#KEY_1}
   */
  record Bounds(double rate, double processor) {
    static final Bounds ASKED_FOR = new Bounds(0.9, 0.9);
  }

  /** The parts of the figures: how events are written, and the number of tasks. */
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

  @Option(names = "--json", paramLabel = "FILE", description = "write the figures there, too")
  private @Nullable Path json;

  private final Bounds bounds;
  private final Figures figures = new Figures();
  private int runs;

  KafkaFigures(Bounds bounds) {
    this.bounds = bounds;
  }

  public static void main(String[] arguments) {
    System.exit(commandLine(Bounds.ASKED_FOR).execute(arguments));
  }

  static CommandLine commandLine(Bounds bounds) {
    return new CommandLine(new KafkaFigures(bounds)).setCaseInsensitiveEnumValuesAllowed(true);
  }

  @Override
  public Integer call() throws Exception {
    Path directory = Files.createTempDirectory("firstseen-kafka-");
    try {
      for (Part part : only) {
        measure(part, directory.resolve(part.toString()));
      }
    } finally {
      MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
    }
    if (json != null) {
      figures.write(json);
    }
    return figures.missed() ? 1 : 0;
  }

  private void measure(Part part, Path directory) throws Exception {
    boolean apart = part.parallelism == 1 && Processors.canBeChosen();
    figures.title(
        String.format(
            Locale.ROOT,
            "%s: %,d events, %d task%s, a checkpoint every %,d ms%s",
            part.format == EventFormat.JSON ? "JSON, url" : "Record key, none",
            records,
            part.parallelism,
            part.parallelism == 1 ? "" : "s",
            checkpointMillis,
            apart ? ", job and broker on a processor each" : ""));
    Events events = new Events(part.format, part.parallelism, records);
    Map<Subject, List<MeasuredRun.Result>> results = new EnumMap<>(Subject.class);
    try (BrokerProcess broker =
        BrokerProcess.start(
            apart ? Processors.SECOND : Processors.ALL,
            new BrokerProcess.Spec(
                directory.resolve("broker").toString(), Events.TOPIC, part.parallelism))) {
      events.write(broker.bootstrapServers());
      for (int round = 0; round < rounds; round++) {
        for (Subject subject : subjects) {
          MeasuredRun.Spec spec =
              new MeasuredRun.Spec(
                  "run-" + runs++,
                  subject,
                  events,
                  Math.min(warmUp, records),
                  warmUps,
                  checkpointMillis,
                  kafkaProperties,
                  broker.bootstrapServers(),
                  directory.resolve("flink").toString());
          MeasuredRun.Result result =
              ChildJvm.withHeap(HEAP_MEBIBYTES)
                  .processors(apart ? Processors.FIRST : Processors.ALL)
                  .run(MeasuredRun.class, spec, MeasuredRun.Result.class);
          System.err.printf(
              Locale.ROOT,
              "%s, round %d, %s: %,.0f events/s, %.3f CPU seconds a million, compiling for %.0f %%%n",
              part,
              round + 1,
              subject,
              result.eventsPerSecond(),
              result.processorSeconds(),
              100 * result.compiling());
          results.computeIfAbsent(subject, unused -> new ArrayList<>()).add(result);
        }
      }
    }
    MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
    print(part, results);
  }

  private void print(Part part, Map<Subject, List<MeasuredRun.Result>> results) {
    results.forEach(
        (subject, runsOfSubject) -> {
          String name = part + ", " + subject;
          figures.plain(
              name,
              Median.of(each(runsOfSubject, MeasuredRun.Result::eventsPerSecond)) / 1000,
              "thousand events/s");
          figures.plain(
              name,
              Median.of(each(runsOfSubject, MeasuredRun.Result::processorSeconds)),
              "CPU seconds a million events");
          if (subject.isOurs()) {
            figures.plain(
                name,
                Median.of(each(runsOfSubject, MeasuredRun.Result::falselyDropped)),
                "keys falsely dropped");
          }
        });
    List<MeasuredRun.Result> ours = results.get(Subject.OURS);
    if (ours == null) {
      return;
    }
    results.forEach(
        (other, runsOfOther) -> {
          if (other != Subject.OURS) {
            compare(part, ours, other, runsOfOther);
          }
        });
  }

  private void compare(
      Part part, List<MeasuredRun.Result> ours, Subject other, List<MeasuredRun.Result> theirs) {
    String name = part + ", ours / " + other;
    double rate = ratio(ours, theirs, MeasuredRun.Result::eventsPerSecond);
    double processor = ratio(theirs, ours, MeasuredRun.Result::processorSeconds);
    if (other == Subject.PASS_THROUGH) {
      figures.atLeast(name + ", rate", rate, bounds.rate, "");
    } else {
      figures.plain(name + ", rate", rate, "");
    }
    if (other == Subject.PASS_THROUGH && part == Part.KEY_1) {
      figures.atLeast(name + ", events a CPU second", processor, bounds.processor, "");
    } else {
      figures.plain(name + ", events a CPU second", processor, "");
    }
  }

  /** The median of the rounds' ratios. */
  private static double ratio(
      List<MeasuredRun.Result> above,
      List<MeasuredRun.Result> below,
      ToDoubleFunction<MeasuredRun.Result> figure) {
    double[] numerators = each(above, figure);
    double[] denominators = each(below, figure);
    double[] ratios = new double[numerators.length];
    for (int round = 0; round < ratios.length; round++) {
      ratios[round] = numerators[round] / denominators[round];
    }
    return Median.of(ratios);
  }

  private static double[] each(
      List<MeasuredRun.Result> runs, ToDoubleFunction<MeasuredRun.Result> figure) {
    return runs.stream().mapToDouble(figure).toArray();
  }
}
