package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.faults.SoakSeries.Kind;
import io.firstseen.processes.LocalProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.TopicConfig;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command that runs the pipeline for long. */
@Command(
    name = "Soak",
    sortOptions = false,
    mixinStandardHelpOptions = true,
    exitCodeOnExecutionException = 3,
    description = {
      "Runs the pipeline as processes of this machine at full rate, with a ttl and deletes, and"
          + " measures again and again what might grow: live heap, threads, open files, topics."
          + " Then kills TaskManagers, and measures the time to full rate. Exit status 0: nothing"
          + " grew; 1: something did, or a part failed; 2: usage; 3: the run itself failed.",
      ""
    })
public final class Soak implements Callable<Integer> {
  private static final int PARTITIONS = 2;
  private static final int EVENTS_PER_MILLI = 100;
  private static final long MAX_AHEAD = 400_000;
  private static final int TASK_HEAP_MEBIBYTES = 768;
  private static final int MAX_SAMPLES = 60;
  private static final long HOURS_BEHIND = TimeUnit.HOURS.toMillis(24);
  private static final long DOWNTIME_MILLIS = 60_000;
  private static final long MAX_BEHIND = 5_000_000;
  private static final double RATE = 1e-4;
  private static final int RECOVERY_SECONDS = 60;
  private static final int FULL_SECONDS = 5;
  private static final double FULL = 0.9;

  @Spec private CommandSpec command;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "30",
      description = "How long it runs (${DEFAULT-VALUE}).")
  private int minutes;

  @Option(
      names = "--keys",
      paramLabel = "N",
      defaultValue = "5000000",
      description =
          "Approximate number of live keys when the first TTL has expired (default: "
              + "${DEFAULT-VALUE}); it should be"
              + " over in a third of the time.")
  private long keys;

  @Option(
      names = "--kills",
      paramLabel = "N",
      defaultValue = "3",
      description = "TaskManagers to kill at the end, one after the other (${DEFAULT-VALUE}).")
  private int kills;

  @Mixin private RunOptions options;

  private final Map<String, SoakSeries> series = new LinkedHashMap<>();
  private final List<String> differences = new ArrayList<>();

  private Soak() {}

  /**
   * What a run has shown.
   *
   * @param seed of the events
   * @param minutes how long it ran
   * @param events that were committed meanwhile
   * @param eventsPerSecond of these, behind the first third
   * @param consumer what the consumer was answered
   * @param recoverySeconds from each kill until the full rate was reached
   * @param series what was measured
   * @param differences the differences from the expected results
   */
  record Outcome(
      long seed,
      int minutes,
      long events,
      double eventsPerSecond,
      SoakConsumer.Answers consumer,
      List<Double> recoverySeconds,
      List<SoakSeries> series,
      List<String> differences) {}

  /** The command. */
  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT);
    System.exit(new CommandLine(new Soak()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    if (minutes < 1 || keys < 1000 || kills < 0) {
      throw new ParameterException(
          command.commandLine(),
          "--minutes must be at least 1, --keys at least 1000, --kills at least 0, got %d, %d, %d"
              .formatted(minutes, keys, kills));
    }
    return options.run("soak", this::run, Outcome::differences, Soak::text);
  }

  private Outcome run(Path work, Path jar) throws Exception {
    // Of ten events five have a new key, and one of these keys is deleted.
    long ttlMillis = keys * 10 / 4 / EVENTS_PER_MILLI;
    SoakStream stream =
        new SoakStream(
            options.seed(), System.currentTimeMillis() - HOURS_BEHIND, EVENTS_PER_MILLI, ttlMillis);
    RunOptions.progress("starting the processes, with data in %s", work);
    try (Pipeline pipeline = new Pipeline(work, settings(jar, stream))) {
      pipeline.start();
      try (SoakProgress commits = new SoakProgress(pipeline.brokersForWatchers());
          SoakProducer producer =
              new SoakProducer(pipeline.brokersForWatchers(), stream, commits)) {
        long start = System.nanoTime();
        int samples = Math.min(3 * minutes, MAX_SAMPLES);
        long interval = TimeUnit.MINUTES.toNanos(minutes) / samples;
        boolean whole = true;
        for (int sample = 1; sample <= samples; sample++) {
          TimeUnit.NANOSECONDS.sleep(start + sample * interval - System.nanoTime());
          whole = isWhole(pipeline, commits, producer);
          if (!whole) {
            break;
          }
          measure(pipeline);
          RunOptions.progress(
              "%5.0f s  %,d events, %,.0f a second; %s",
              (System.nanoTime() - start) / 1e9,
              commits.committed(),
              commits.rate(start + (sample - 1) * interval, start + sample * interval),
              sizes());
        }
        long end = start + samples * interval;
        long events = commits.committed();
        requireRunning(pipeline, false);
        double warm = commits.committedAt(start + samples / 3 * interval);
        if (warm < 1.25 * ttlMillis * EVENTS_PER_MILLI) {
          differences.add(
              "the first ttl and its quarter were not over in a third of the time: %,.0f of %,.0f events (take fewer --keys or more --minutes)"
                  .formatted(warm, 1.25 * ttlMillis * EVENTS_PER_MILLI));
        }
        series.values().forEach(each -> each.growth().ifPresent(differences::add));
        List<Double> recovery = new ArrayList<>();
        for (int kill = 0; kill < kills; kill++) {
          recovery.add(recover(pipeline, commits, 1 + kill % 2));
        }
        requireRunning(pipeline, kills > 0);
        SoakConsumer.Answers answers =
            new ObjectMapper().readValue(pipeline.answers().toFile(), SoakConsumer.Answers.class);
        if (answers.asked() == 0 || answers.absent() > 3 * RATE * answers.asked()) {
          differences.add(
              "the consumer answered absent for %d of %d live keys, where the dedup drops %.4f"
                  .formatted(answers.absent(), answers.asked(), RATE));
        }
        long behind = commits.committed() - answers.end();
        if (answers.refused() > 0 || behind > MAX_BEHIND) {
          differences.add(
              "the consumer refused %d records, and its snapshot is %,d events behind"
                  .formatted(answers.refused(), behind));
        }
        if (whole) {
          isWhole(pipeline, commits, producer);
        }
        return new Outcome(
            options.seed(),
            minutes,
            events,
            commits.rate(start + samples / 3 * interval, end),
            answers,
            recovery,
            List.copyOf(series.values()),
            differences);
      }
    }
  }

  /** Whether all parts are there. */
  private boolean isWhole(Pipeline pipeline, SoakProgress commits, SoakProducer producer) {
    int before = differences.size();
    for (LocalProcess part : pipeline.parts()) {
      if (!part.isAlive()) {
        differences.add("%s has ended: %s".formatted(part.name(), part.lastLine()));
      }
    }
    if (producer.failure() != null) {
      differences.add("the producer failed: " + producer.failure());
    }
    if (commits.failure() != null) {
      differences.add("the offsets cannot be read: " + commits.failure());
    }
    return differences.size() == before;
  }

  private void requireRunning(Pipeline pipeline, boolean mayBeRestored) throws Exception {
    for (Pipeline.Job job : Pipeline.Job.values()) {
      String id = pipeline.jobId(job);
      String state = pipeline.rest.jobs().get(id);
      int restored = pipeline.rest.checkpoints(id).path("counts").path("restored").asInt();
      if (!"RUNNING".equals(state) || (restored > 0 && !mayBeRestored)) {
        differences.add("%s is %s, and was restored %d times".formatted(job, state, restored));
      }
    }
  }

  private Pipeline.Settings settings(Path jar, SoakStream stream) {
    String ttl = "--ttl=%dms".formatted(stream.ttlMillis());
    String ahead = "--out-of-orderness=%dms".formatted(MAX_AHEAD / EVENTS_PER_MILLI);
    String downtime = "--max-downtime=%dms".formatted(DOWNTIME_MILLIS);
    return new Pipeline.Settings(
        jar,
        false,
        List.of(
            new NewTopic(Pipeline.EVENTS, PARTITIONS, (short) 1),
            // Else it would keep what the ttl has forgotten.
            new NewTopic(Pipeline.ACCEPTED, PARTITIONS, (short) 1)
                .configs(
                    Map.of(
                        TopicConfig.CLEANUP_POLICY_CONFIG,
                        "compact,delete",
                        TopicConfig.RETENTION_MS_CONFIG,
                        Long.toString(stream.ttlMillis() * 9 / 8 + DOWNTIME_MILLIS + 1),
                        TopicConfig.RETENTION_BYTES_CONFIG,
                        "-1"))),
        List.of(
            // The bounds of the other topics.
            "log.retention.bytes=" + (256 << 20),
            "log.segment.bytes=" + (32 << 20),
            "log.retention.check.interval.ms=5000",
            "log.cleaner.backoff.ms=5000",
            "log.segment.delete.delay.ms=1000",
            "log.cleaner.delete.retention.ms=60000"),
        TASK_HEAP_MEBIBYTES,
        List.of("-XX:+UseSerialGC"),
        "3s",
        List.of(ttl, ahead, downtime, "--capacity=" + keys, "--fpr=" + RATE),
        List.of(ttl, ahead, downtime, "--window=10s", "--blob-grace=2m"),
        SoakConsumer.class,
        stream);
  }

  /** Kills a TaskManager, and gives the seconds until the rate is what it was. */
  private double recover(Pipeline pipeline, SoakProgress commits, int number) throws Exception {
    TimeUnit.SECONDS.sleep(RECOVERY_SECONDS);
    long kill = System.nanoTime();
    double before = commits.rate(kill - TimeUnit.SECONDS.toNanos(RECOVERY_SECONDS), kill);
    LocalProcess part = pipeline.part("taskmanager-" + number);
    if (before <= 0) {
      differences.add("nothing was committed in the minute before a kill of " + part.name());
    }
    part.kill();
    part.startWithoutWaiting();
    TimeUnit.SECONDS.sleep(RECOVERY_SECONDS);
    double recovered = Double.NaN;
    for (int tenths = 0; tenths <= 10 * (RECOVERY_SECONDS - FULL_SECONDS); tenths++) {
      long from = kill + tenths * TimeUnit.MILLISECONDS.toNanos(100);
      if (commits.rate(from, from + TimeUnit.SECONDS.toNanos(FULL_SECONDS)) >= FULL * before) {
        recovered = tenths / 10.0;
        break;
      }
    }
    RunOptions.progress(
        "%s killed at %,.0f events per second: back at %.0f percent of that after %.1f s",
        part.name(), before, 100 * FULL, recovered);
    if (Double.isNaN(recovered)) {
      differences.add(
          "after a kill of %s the full rate was not reached within %d s"
              .formatted(part.name(), RECOVERY_SECONDS));
    }
    return recovered;
  }

  private void measure(Pipeline pipeline) throws Exception {
    for (LocalProcess part : pipeline.parts()) {
      Path proc = Path.of("/proc/" + part.pid());
      add(part.name(), Kind.HEAP, (double) liveBytes(part.pid()));
      List<String> status = Files.readAllLines(proc.resolve("status"), StandardCharsets.UTF_8);
      add(part.name(), Kind.THREADS, (double) number(status, "Threads:", 1));
      add(part.name(), Kind.RESIDENT, 1024.0 * number(status, "VmRSS:", 1));
      try (Stream<Path> files = Files.list(proc.resolve("fd"))) {
        add(part.name(), Kind.FILES, (double) files.count());
      }
    }
    topicBytes(pipeline.brokersForWatchers())
        .forEach((topic, bytes) -> add(topic, Kind.TOPIC, bytes));
  }

  private void add(String name, Kind kind, double value) {
    series
        .computeIfAbsent(name + ' ' + kind, unused -> new SoakSeries(name, kind, new ArrayList<>()))
        .values()
        .add(value);
  }

  /** The number that is this word of the line with a prefix. */
  private static long number(List<String> lines, String prefix, int word) {
    return lines.stream()
        .filter(line -> line.startsWith(prefix))
        .mapToLong(line -> Long.parseLong(line.split("\\s+", -1)[word]))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no %s in %s".formatted(prefix, lines)));
  }

  /** Collects all garbage of a JVM, and gives the bytes of what is left. */
  private static long liveBytes(long pid) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(pid),
                "GC.class_histogram")
            .redirectErrorStream(true)
            .start();
    List<String> lines = process.inputReader(StandardCharsets.UTF_8).lines().toList();
    process.waitFor();
    return number(lines, "Total", 2);
  }

  private static Map<String, Double> topicBytes(String brokers) throws Exception {
    Map<String, Double> bytes = new TreeMap<>();
    try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, brokers))) {
      List<Integer> ids =
          admin.describeCluster().nodes().get().stream().map(node -> node.id()).toList();
      admin.describeLogDirs(ids).allDescriptions().get().values().stream()
          .flatMap(directories -> directories.values().stream())
          .forEach(
              each ->
                  each.replicaInfos()
                      .forEach(
                          (partition, info) ->
                              bytes.merge(partition.topic(), (double) info.size(), Double::sum)));
    }
    return bytes;
  }

  private String sizes() {
    return series.values().stream()
        .filter(each -> each.kind() == Kind.HEAP || each.kind() == Kind.TOPIC)
        .map(
            each ->
                "%s %.0f "
                    .formatted(each.name(), each.values().get(each.values().size() - 1) / 1e6))
        .collect(Collectors.joining("", "", "MB"));
  }

  private static String text(Outcome outcome) {
    return """

        | of | what | first third, median | middle | last | most |
        |---|---|---:|---:|---:|---:|
        %s
        %,d events in %d minutes; behind the first third %,.0f a second; seed %d
        the consumer served %,d snapshots, rejected %d records, and was queried for %,d \
        live keys: %d were absent
        seconds from the kill of a TaskManager to the full rate: %s
        """
        .formatted(
            outcome.series.stream().map(SoakSeries::line).collect(Collectors.joining()),
            outcome.events,
            outcome.minutes,
            outcome.eventsPerSecond,
            outcome.seed,
            outcome.consumer.snapshots(),
            outcome.consumer.refused(),
            outcome.consumer.asked(),
            outcome.consumer.absent(),
            outcome.recoverySeconds);
  }

  /** Sends the events as fast as the dedup reads them. */
  private static final class SoakProducer extends EventSender {
    private final SoakStream stream;
    private final SoakProgress commits;
    private long number;

    SoakProducer(String brokers, SoakStream stream, SoakProgress commits) {
      super(
          brokers,
          Map.of(ProducerConfig.LINGER_MS_CONFIG, 20, ProducerConfig.BATCH_SIZE_CONFIG, 1 << 17));
      this.stream = stream;
      this.commits = commits;
      start();
    }

    @Override
    void step() throws InterruptedException {
      while (isRunning() && number >= commits.committed() + MAX_AHEAD) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
      long key = stream.key(number);
      send(
          (int) (key % PARTITIONS),
          stream.millis(number),
          SoakStream.isDelete(number),
          SoakStream.text(key));
      number++;
    }
  }
}
