package io.firstseen.faults;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.jobs.options.DeclaredOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.NewTopic;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command. */
@Command(
    name = "FaultSuite",
    modelTransformer = DeclaredOptions.class,
    sortOptions = false,
    mixinStandardHelpOptions = true,
    exitCodeOnExecutionException = 3,
    description = {
      "Runs the pipeline as processes of this machine, breaks them by a seeded schedule, and holds"
          + " all that comes out against an exact model. Exit status 0: no difference; 1: a"
          + " difference; 2: usage; 3: the suite itself failed.",
      ""
    })
public final class FaultSuite implements Callable<Integer> {
  private static final Duration RECOVERY_TIMEOUT = Duration.ofMinutes(5);
  private static final long HOURS_BEHIND = TimeUnit.HOURS.toMillis(12);
  private static final int WINDOW_MILLIS = 5000;
  private static final int STRAY_MILLIS = 3000;
  private static final int SPARE_MILLIS = 1000;
  private static final int TASK_HEAP_MEBIBYTES = 320;
  private static final int MAX_SIGMAS = 5;

  @Spec private CommandSpec command;

  @Option(
      names = "--kills",
      paramLabel = "N",
      defaultValue = "50",
      description =
          "Kills, with a fault of another kind after every second one (${DEFAULT-VALUE}).")
  private int kills;

  @Option(
      names = "--only",
      paramLabel = "FAULT",
      split = ",",
      description = "Instead of --kills: these faults, in this order; see --list.")
  private List<Fault> only = List.of();

  @Mixin private RunOptions options;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "2000",
      description = "Events a second (${DEFAULT-VALUE}).")
  private int rate;

  @Option(
      names = "--ahead",
      paramLabel = "N",
      defaultValue = "12000",
      description =
          "How many events the producer may be ahead of the committed output (${DEFAULT-VALUE}).")
  private int ahead;

  @Option(
      names = "--fpr",
      defaultValue = "0.01",
      description = "The rate of the filter at 500000 keys (${DEFAULT-VALUE}).")
  private double falsePositiveRate;

  @Option(
      names = "--breach",
      paramLabel = "WHAT",
      description =
          "After the faults, do what no pipeline may do: one of ${COMPLETION-CANDIDATES}. The suite"
              + " must find it, and end with status 1.")
  private @Nullable Breach breach;

  @Option(names = "--list", description = "Print the faults and what they are.")
  private boolean list;

  private FaultSuite() {}

  /** The command. */
  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT);
    System.exit(new CommandLine(new FaultSuite()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    if (list) {
      for (Fault fault : Fault.values()) {
        RunOptions.OUT.printf("%-22s %s%n", fault, fault.meaning);
      }
      return 0;
    }
    atLeast("--kills", 1, kills);
    atLeast("--rate", 1, rate);
    atLeast("--ahead", 1000, ahead);
    return options.run("faults", this::run, Report::differences, Report::text);
  }

  private void atLeast(String name, int least, int value) {
    if (value < least) {
      throw new ParameterException(
          command.commandLine(), "%s must be at least %d, got %d".formatted(name, least, value));
    }
  }

  private Report run(Path work, Path jar) throws Exception {
    long base = (System.currentTimeMillis() - HOURS_BEHIND) / WINDOW_MILLIS * WINDOW_MILLIS;
    StreamSettings stream =
        new StreamSettings(options.seed(), base, 2, WINDOW_MILLIS, 500_000, falsePositiveRate);
    RunOptions.progress("starting the processes, with data in %s", work);
    long start = System.nanoTime();
    try (Pipeline pipeline = new Pipeline(work, settings(stream, jar))) {
      Predicate<Fault> possible = fault -> fault != Fault.STEP_CLOCK || pipeline.hasClock();
      List<Schedule.Step> steps =
          only.isEmpty()
              ? Schedule.of(options.seed(), kills, possible)
              : Schedule.of(options.seed(), only.stream().filter(possible).toList());
      pipeline.start();
      try (Run run = new Run(pipeline, stream, start)) {
        run.inject(steps);
        if (breach != null) {
          RunOptions.progress("%.0f s  a breach on purpose: %s", run.seconds(), breach);
          breach.commit(pipeline.brokersForWatchers(), run.producer);
        }
        return run.finish();
      }
    }
  }

  private Pipeline.Settings settings(StreamSettings stream, Path jar) {
    String outOfOrderness = "--out-of-orderness=%dms".formatted(ahead + SPARE_MILLIS);
    return new Pipeline.Settings(
        jar,
        true,
        List.of(new NewTopic(Pipeline.EVENTS, stream.partitions(), (short) 1)),
        List.of(
            // The events have times of their own.
            "log.retention.ms=-1",
            // Every record is to be seen.
            "log.cleaner.min.compaction.lag.ms=86400000"),
        TASK_HEAP_MEBIBYTES,
        Pipeline.SMALL_JVM,
        "1s",
        List.of(
            outOfOrderness,
            "--capacity=" + stream.capacity(),
            "--fpr=" + stream.falsePositiveRate()),
        List.of(outOfOrderness, "--window=%dms".formatted(stream.windowMillis())),
        ConsumerMain.class,
        stream);
  }

  /** A run of all parts. */
  private final class Run implements AutoCloseable {
    private final Pipeline pipeline;
    private final long startNanos;
    private final ExactModel model;
    private final OutputCheck output;
    private final ManifestCheck manifests;
    private final EventProducer producer;
    private final Watcher watcher;
    private final ServiceCheck service;
    private final List<Report.Happened> happened = new ArrayList<>();
    private final List<String> differences = new ArrayList<>();
    private int killed;
    private int restarts;

    Run(Pipeline pipeline, StreamSettings stream, long startNanos) throws IOException {
      this.pipeline = pipeline;
      this.startNanos = startNanos;
      model = new ExactModel(stream, KeyHash.fromFile(pipeline.hashKeyFile()));
      output = new OutputCheck(model);
      manifests = new ManifestCheck(model);
      String brokers = pipeline.brokersForWatchers();
      producer = new EventProducer(brokers, model, output, rate, ahead);
      watcher = new Watcher(brokers, stream.baseMillis(), output, manifests, producer::produced);
      service = new ServiceCheck(pipeline.servicePort, model, producer::produced);
    }

    @Override
    public void close() {
      service.close();
      watcher.close();
      producer.close();
    }

    double seconds() {
      return (System.nanoTime() - startNanos) / 1e9;
    }

    void inject(List<Schedule.Step> steps) throws Exception {
      new Recovery("the start", System.nanoTime(), producer.produced()).await();
      watcher.takeLongestGapSeconds();
      RunOptions.progress("all parts work after %.1f s; %d faults follow", seconds(), steps.size());
      Recovery recovery = null;
      for (Schedule.Step step : steps) {
        if (recovery != null && !step.overlaps() && !recovery.await()) {
          recovery.end(steps);
          return;
        }
        TimeUnit.MILLISECONDS.sleep(step.pauseMillis());
        if (recovery != null) {
          recovery.end(steps);
        }
        long begin = System.nanoTime();
        int before = producer.produced();
        killed += step.fault().isKill ? 1 : 0;
        try {
          step.fault().inject(pipeline, step);
        } catch (IOException e) {
          differences.add("%s: %s".formatted(step.fault(), e.getMessage()));
          return;
        }
        recovery = new Recovery(step.fault().toString(), begin, before);
      }
      if (recovery != null) {
        recovery.await();
        recovery.end(steps);
      }
    }

    /** Ends the stream, and makes the report. */
    Report finish() throws Exception {
      int events = producer.finish();
      int window = model.settings().windowMillis();
      int lastEnd = events / window * window;
      boolean isComplete = await(() -> output.lowestUnseen() >= events);
      producer.closeWindows(ahead + SPARE_MILLIS + 2 * window);
      boolean isPublished = await(() -> manifests.newestEnd() >= lastEnd);
      if (isComplete && isPublished) {
        long sequence = manifests.newestSequence();
        await(() -> consumer(events).newest >= sequence && service.newest() >= 0);
      }
      // Additional outcomes would appear with the next checkpoints.
      TimeUnit.MILLISECONDS.sleep(STRAY_MILLIS);
      ConsumerCheck consumer = consumer(events);
      long missing = output.missing(events);
      collect("outcomes came twice", output.doubled.get());
      collect("events have no outcome", missing);
      collect("outcomes are wrong", output.wrong.get());
      collect("outcomes are out of order", output.disordered.get());
      double beyond = (model.drops() - model.expectedDrops()) / Math.sqrt(model.expectedDrops());
      if (beyond > MAX_SIGMAS) {
        differences.add(
            "%d new keys were dropped, %.1f expected by the formula of the filter"
                .formatted(model.drops(), model.expectedDrops()));
      }
      differences.addAll(output.examples);
      differences.addAll(manifests.differences);
      differences.addAll(consumer.differences);
      differences.addAll(service.differences);
      if (!isPublished) {
        differences.add("the last windows were not published");
      }
      if (manifests.checked() == 0 || consumer.snapshots == 0 || service.asked.get() == 0) {
        differences.add("a part has shown nothing");
      }
      failure("the producer", producer);
      failure("the watcher", watcher);
      failure("the check of the service", service);
      return new Report(
          options.seed(),
          killed,
          restarts,
          seconds(),
          events,
          output.doubled.get(),
          missing,
          output.wrong.get(),
          output.disordered.get(),
          model.drops(),
          model.expectedDrops(),
          manifests.checked(),
          consumer.snapshots,
          consumer.asked,
          consumer.falsePositiveRate(),
          consumer.refused,
          service.asked.get(),
          happened.stream().mapToDouble(Report.Happened::gapSeconds).max().orElse(0),
          happened,
          differences);
    }

    private void collect(String what, long count) {
      if (count > 0) {
        differences.add(count + " " + what);
      }
    }

    private void failure(String who, Worker worker) {
      if (worker.failure() != null) {
        differences.add(who + " failed: " + worker.failure());
      }
    }

    private ConsumerCheck consumer(int events) throws IOException {
      return ConsumerCheck.of(pipeline.answers(), events);
    }

    private boolean await(Callable<Boolean> condition) throws Exception {
      long deadlineNanos = System.nanoTime() + RECOVERY_TIMEOUT.toNanos();
      while (!condition.call()) {
        for (String part : pipeline.superviseAll()) {
          restarts++;
          RunOptions.progress(
              "%5.0f s  %s has ended by itself, and is started again", seconds(), part);
        }
        if (System.nanoTime() - deadlineNanos > 0) {
          return false;
        }
        TimeUnit.MILLISECONDS.sleep(100);
      }
      return true;
    }

    /** What is awaited after a fault. */
    private final class Recovery {
      private final String fault;
      private final long beginNanos;
      private final double heldSeconds;
      private final int eventsBefore;
      private final long sequence = manifests.newestSequence();

      /** Of the output, snapshots, consumer and service; not a number until it was seen. */
      private final double[] seconds = {Double.NaN, Double.NaN, Double.NaN, Double.NaN};

      Recovery(String fault, long beginNanos, int eventsBefore) {
        this.fault = fault;
        this.beginNanos = beginNanos;
        this.heldSeconds = since();
        this.eventsBefore = eventsBefore;
      }

      private double since() {
        return (System.nanoTime() - beginNanos) / 1e9;
      }

      /** Waits until all parts have shown something new; false if they do not. */
      boolean await() throws Exception {
        if (Run.this.await(this::isOver)) {
          return true;
        }
        differences.add(
            "after %s: not recovered within %s (output %.1f s, snapshots %.1f s, consumer %.1f s, service %.1f s; jobs %s)"
                .formatted(
                    fault,
                    RECOVERY_TIMEOUT,
                    seconds[0],
                    seconds[1],
                    seconds[2],
                    seconds[3],
                    jobs()));
        System.err.print(pipeline.lastErrors());
        return false;
      }

      private boolean isOver() throws IOException {
        boolean[] isNew = {
          output.lowestUnseen() > eventsBefore,
          manifests.newestSequence() > sequence,
          consumer(producer.produced()).newest > sequence,
          service.newest() > sequence
        };
        boolean isOver = true;
        for (int part = 0; part < isNew.length; part++) {
          if (isNew[part] && Double.isNaN(seconds[part])) {
            seconds[part] = since();
          }
          isOver &= !Double.isNaN(seconds[part]);
        }
        return isOver;
      }

      private String jobs() {
        try {
          return pipeline.rest.jobs().toString();
        } catch (IOException e) {
          return "unknown, as the JobManager does not answer";
        }
      }

      /** Takes down what was seen. */
      void end(List<Schedule.Step> steps) throws IOException {
        isOver();
        // Faults end in their order.
        Schedule.Step step = steps.get(happened.size());
        double gap = watcher.takeLongestGapSeconds();
        happened.add(
            new Report.Happened(
                fault,
                step.overlaps(),
                heldSeconds,
                seconds[0],
                seconds[1],
                seconds[2],
                seconds[3],
                gap));
        RunOptions.progress(
            "%5.0f s  %d of %d %s%s: duration %.1f s; output after %s s, snapshots %s,"
                + " consumer %s, service %s; longest gap %.1f s; %,d events; differences: %d"
                + " duplicated, %d wrong, %d out of order, %d in snapshots",
            Run.this.seconds(),
            happened.size(),
            steps.size(),
            fault,
            step.overlaps() ? " (overlapping)" : "",
            heldSeconds,
            tenths(0),
            tenths(1),
            tenths(2),
            tenths(3),
            gap,
            output.lowestUnseen(),
            output.doubled.get(),
            output.wrong.get(),
            output.disordered.get(),
            manifests.differences.size() + service.differences.size());
      }

      /** The next fault may come before a part has recovered. */
      private String tenths(int part) {
        return Double.isNaN(seconds[part]) ? "-" : "%.1f".formatted(seconds[part]);
      }
    }
  }
}
