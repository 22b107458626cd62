package io.firstseen.faults;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.jobs.options.DeclaredOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
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
        RunOptions.OUT.printf("%-22s %s%n", fault, fault.meaning());
      }
      return 0;
    }
    atLeast("--kills", 1, kills);
    atLeast("--rate", 1, rate);
    atLeast("--ahead", 1000, ahead);
    return options.run("faults", this::run, Report::isGood, Report::text);
  }

  private void atLeast(String name, int least, int value) {
    if (value < least) {
      throw new ParameterException(
          command.commandLine(), "%s must be at least %d, got %d".formatted(name, least, value));
    }
  }

  private Report run(Path work, Path jar) throws Exception {
    long start = System.nanoTime();
    long base = (System.currentTimeMillis() - HOURS_BEHIND) / WINDOW_MILLIS * WINDOW_MILLIS;
    StreamSettings stream =
        new StreamSettings(options.seed(), base, 2, WINDOW_MILLIS, 500_000, falsePositiveRate);
    RunOptions.progress("starting the processes, with data in %s", work);
    try (Pipeline pipeline = new Pipeline(work, settings(stream, jar))) {
      List<Schedule.Step> steps =
          only.isEmpty()
              ? Schedule.of(options.seed(), kills, fault -> isPossible(fault, pipeline))
              : Schedule.of(
                  options.seed(), only.stream().filter(f -> isPossible(f, pipeline)).toList());
      pipeline.start();
      ExactModel model = new ExactModel(stream, KeyHash.fromFile(pipeline.hashKeyFile()));
      OutputCheck output = new OutputCheck(model);
      ManifestCheck manifests = new ManifestCheck(model);
      try (EventProducer producer =
              new EventProducer(pipeline.brokersForWatchers(), model, output, rate, ahead);
          Watcher watcher =
              new Watcher(
                  pipeline.brokersForWatchers(), base, output, manifests, producer::produced);
          ServiceCheck service =
              new ServiceCheck(pipeline.servicePort(), model, producer::produced)) {
        Run run = new Run(pipeline, producer, watcher, output, manifests, service, start);
        run.settle();
        RunOptions.progress(
            "all parts work after %.1f s; %d faults follow", run.seconds(), steps.size());
        run.inject(steps);
        if (breach != null) {
          RunOptions.progress("%.0f s  a breach on purpose: %s", run.seconds(), breach);
          breach.commit(pipeline.brokersForWatchers(), producer);
        }
        return run.finish(options.seed(), model, ahead + SPARE_MILLIS);
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
        Jvm.SMALL,
        "1s",
        List.of(
            outOfOrderness,
            "--capacity=" + stream.capacity(),
            "--fpr=" + stream.falsePositiveRate()),
        List.of(outOfOrderness, "--window=%dms".formatted(stream.windowMillis())),
        ConsumerMain.class,
        stream);
  }

  private static boolean isPossible(Fault fault, Pipeline pipeline) {
    return fault != Fault.STEP_CLOCK || pipeline.hasClock();
  }

  /** A run of all parts. */
  private static final class Run {
    private final Pipeline pipeline;
    private final Injection injection;
    private final EventProducer producer;
    private final Watcher watcher;
    private final OutputCheck output;
    private final ManifestCheck manifests;
    private final ServiceCheck service;
    private final long startNanos;
    private final List<Report.Happened> happened = new ArrayList<>();
    private final List<String> differences = new ArrayList<>();
    private double longestGapSeconds;
    private int kills;
    private int restarts;

    Run(
        Pipeline pipeline,
        EventProducer producer,
        Watcher watcher,
        OutputCheck output,
        ManifestCheck manifests,
        ServiceCheck service,
        long startNanos) {
      this.pipeline = pipeline;
      this.injection = new Injection(pipeline);
      this.producer = producer;
      this.watcher = watcher;
      this.output = output;
      this.manifests = manifests;
      this.service = service;
      this.startNanos = startNanos;
    }

    double seconds() {
      return (System.nanoTime() - startNanos) / 1e9;
    }

    /** Waits until everything works. */
    void settle() throws Exception {
      new Recovery(System.nanoTime(), producer.produced()).await();
      watcher.takeLongestGapSeconds();
    }

    void inject(List<Schedule.Step> steps) throws Exception {
      Recovery recovery = null;
      for (int i = 0; i < steps.size(); i++) {
        Schedule.Step step = steps.get(i);
        if (recovery != null && !step.overlaps() && !recovery.await()) {
          recovery.end();
          return;
        }
        TimeUnit.MILLISECONDS.sleep(step.pauseMillis());
        if (recovery != null) {
          recovery.end();
        }
        long begin = System.nanoTime();
        int before = producer.produced();
        kills += step.fault().isKill() ? 1 : 0;
        try {
          injection.run(step);
        } catch (IOException e) {
          differences.add("%s: %s".formatted(step.fault(), e.getMessage()));
          return;
        }
        recovery = new Recovery(i + 1, steps.size(), step, begin, before);
      }
      if (recovery != null) {
        recovery.await();
        recovery.end();
      }
    }

    /** Ends the stream, and makes the report. */
    Report finish(long seed, ExactModel model, int outOfOrdernessMillis) throws Exception {
      int events = producer.stop();
      StreamSettings stream = model.settings();
      int lastEnd = events / stream.windowMillis() * stream.windowMillis();
      boolean isComplete = await(() -> output.lowestUnseen() >= events);
      producer.closeWindows(outOfOrdernessMillis + 2 * stream.windowMillis());
      boolean isPublished = await(() -> newestEnd(stream) >= lastEnd);
      if (isComplete && isPublished) {
        long sequence = newestSequence();
        await(() -> consumer(events).newest() >= sequence && service.newest() >= 0);
      }
      // Additional outcomes would appear with the next checkpoints.
      TimeUnit.MILLISECONDS.sleep(STRAY_MILLIS);
      ConsumerCheck consumer = consumer(events);
      int missing = output.missing(events);
      collect("outcomes came twice", output.doubled());
      collect("events have no outcome", missing);
      collect("outcomes are wrong", output.wrong());
      collect("outcomes are out of order", output.disordered());
      double beyond = (model.drops() - model.expectedDrops()) / Math.sqrt(model.expectedDrops());
      if (beyond > MAX_SIGMAS) {
        differences.add(
            "%d new keys were dropped, %.1f expected by the formula of the filter"
                .formatted(model.drops(), model.expectedDrops()));
      }
      differences.addAll(output.examples());
      differences.addAll(manifests.differences());
      differences.addAll(consumer.differences());
      differences.addAll(service.differences());
      if (!isPublished) {
        differences.add("the last windows were not published");
      }
      if (manifests.checked() == 0 || consumer.snapshots() == 0 || service.asked() == 0) {
        differences.add("a part has shown nothing");
      }
      failure("the producer", producer.failure());
      failure("the watcher", watcher.failure());
      failure("the check of the service", service.failure());
      return new Report(
          seed,
          kills,
          restarts,
          seconds(),
          events,
          output.doubled(),
          missing,
          output.wrong(),
          output.disordered(),
          model.drops(),
          model.expectedDrops(),
          manifests.checked(),
          consumer.snapshots(),
          consumer.asked(),
          consumer.falsePositiveRate(),
          consumer.refused(),
          service.asked(),
          longestGapSeconds,
          happened,
          differences);
    }

    private void collect(String what, long count) {
      if (count > 0) {
        differences.add(count + " " + what);
      }
    }

    private void failure(String who, @Nullable Exception e) {
      if (e != null) {
        differences.add(who + " failed: " + e);
      }
    }

    private ConsumerCheck consumer(int events) throws IOException {
      return ConsumerCheck.of(pipeline.answers(), events);
    }

    private long newestSequence() {
      Manifest newest = manifests.newest();
      return newest == null ? -1 : newest.sequence();
    }

    private long newestEnd(StreamSettings stream) {
      Manifest newest = manifests.newest();
      return newest == null ? -1 : newest.windowEndMillis() - stream.baseMillis();
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
      private final int number;
      private final int of;
      private final Schedule.@Nullable Step step;
      private final long beginNanos;
      private final double heldSeconds;
      private final int eventsBefore;
      private final long sequence;
      private double outputSeconds = Double.NaN;
      private double snapshotsSeconds = Double.NaN;
      private double consumerSeconds = Double.NaN;
      private double serviceSeconds = Double.NaN;

      Recovery(long beginNanos, int eventsBefore) {
        this(0, 0, null, beginNanos, eventsBefore);
      }

      Recovery(
          int number, int of, Schedule.@Nullable Step step, long beginNanos, int eventsBefore) {
        this.number = number;
        this.of = of;
        this.step = step;
        this.beginNanos = beginNanos;
        this.heldSeconds = since();
        this.eventsBefore = eventsBefore;
        this.sequence = newestSequence();
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
            "after %s: not recovered within %s (output %.1f s, snapshots %.1f s, consumer %.1f s,"
                    .formatted(
                        step == null ? "the start" : step.fault(),
                        RECOVERY_TIMEOUT,
                        outputSeconds,
                        snapshotsSeconds,
                        consumerSeconds)
                + " service %.1f s; jobs %s)".formatted(serviceSeconds, jobs()));
        System.err.print(pipeline.lastErrors());
        return false;
      }

      private boolean isOver() throws IOException {
        if (Double.isNaN(outputSeconds) && output.lowestUnseen() > eventsBefore) {
          outputSeconds = since();
        }
        if (Double.isNaN(snapshotsSeconds) && newestSequence() > sequence) {
          snapshotsSeconds = since();
        }
        if (Double.isNaN(consumerSeconds) && consumer(producer.produced()).newest() > sequence) {
          consumerSeconds = since();
        }
        if (Double.isNaN(serviceSeconds) && service.newest() > sequence) {
          serviceSeconds = since();
        }
        return !Double.isNaN(outputSeconds + snapshotsSeconds + consumerSeconds + serviceSeconds);
      }

      /** The next fault may come before a part has recovered. */
      private static String tenths(double seconds) {
        return Double.isNaN(seconds) ? "-" : "%.1f".formatted(seconds);
      }

      private String jobs() {
        try {
          return pipeline.rest().jobs().toString();
        } catch (IOException e) {
          return "unknown, as the JobManager does not answer";
        }
      }

      /** Takes down what was seen. */
      void end() throws IOException {
        isOver();
        double gap = watcher.takeLongestGapSeconds();
        longestGapSeconds = Math.max(longestGapSeconds, gap);
        happened.add(
            new Report.Happened(
                step.fault().toString(),
                step.overlaps(),
                heldSeconds,
                outputSeconds,
                snapshotsSeconds,
                consumerSeconds,
                serviceSeconds,
                gap));
        RunOptions.progress(
            "%5.0f s  %d of %d %s%s: lasted %.1f s; output again after %s s, snapshots %s,"
                + " consumer %s, service %s; longest gap %.1f s; %,d events; differences: %d"
                + " doubled, %d wrong, %d out of order, %d in snapshots",
            seconds(),
            number,
            of,
            step.fault(),
            step.overlaps() ? " (overlapping)" : "",
            heldSeconds,
            tenths(outputSeconds),
            tenths(snapshotsSeconds),
            tenths(consumerSeconds),
            tenths(serviceSeconds),
            gap,
            output.lowestUnseen(),
            output.doubled(),
            output.wrong(),
            output.disordered(),
            manifests.differences().size() + service.differences().size());
      }
    }
  }
}
