package io.firstseen.benchmarks.kafka;

import com.sun.management.OperatingSystemMXBean;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;

/**
 * Runs a job in this JVM, first on some of the events as a warm-up, then on all of them. What
 * counts is the second half of the last run, from record to record that is handed to a producer.
 * Java's compilers take half of a single processor for up to half a minute, and longer for a job of
 * more code. So the warm-up is repeated until they rest, and so is the run if these continue in it.
 */
final class MeasuredRun {
  /** The false-positive rate of the dedup. */
  static final double RATE = 0.001;

  /** The compilers rest if they run for a smaller share of what counts of a run. */
  private static final double RESTING = 0.1;

  private MeasuredRun() {}

  /**
   * What to run.
   *
   * @param name of the run, which no other has
   * @param events of the topic
   * @param warmUp how many of them each warm-up reads
   * @param warmUps how many there are at most, repeated runs among them
   * @param checkpointMillis between two checkpoints
   * @param kafkaProperties settings of the job's Kafka clients, each {@code name=value}
   */
  record Spec(
      String name,
      Subject subject,
      Events events,
      int warmUp,
      int warmUps,
      int checkpointMillis,
      List<String> kafkaProperties,
      String bootstrapServers,
      String directory) {}

  /**
   * What was measured.
   *
   * @param processorSeconds of this JVM for a million events
   * @param compiling for which share of the time Java compiled
   * @param falselyDropped new keys that were not accepted
   */
  record Result(
      double eventsPerSecond, double processorSeconds, double compiling, long falselyDropped) {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
    System.exit(0);
  }

  static Result run(Spec spec) throws Exception {
    try (EmbeddedCluster cluster =
        EmbeddedCluster.start(
            Path.of(spec.directory()),
            EmbeddedCluster.Settings.defaults().slotsPerTaskManager(spec.events().partitions()))) {
      Events first = spec.events().first(spec.warmUp());
      int warmUps = 0;
      boolean warm = false;
      while (!warm && warmUps < spec.warmUps()) {
        warm = run(cluster, spec, spec.name() + "-" + warmUps++, first).compiling() < RESTING;
      }
      Result result = run(cluster, spec, spec.name() + "-" + warmUps, spec.events());
      while (result.compiling() >= RESTING && warmUps < spec.warmUps()) {
        result = run(cluster, spec, spec.name() + "-" + ++warmUps, spec.events());
      }
      return result;
    }
  }

  private static Result run(EmbeddedCluster cluster, Spec spec, String name, Events events)
      throws Exception {
    KafkaOptions kafka = kafkaOptions(spec, name).stopAt(events.ends());
    StreamExecutionEnvironment env = cluster.environment();
    Pipelines.build(spec.subject(), env, kafka, jobOptions(events));
    env.configure(new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "disable"));
    try (ProcessorTime processor = new ProcessorTime()) {
      env.execute(name);
      CommittedOutput output =
          CommittedOutput.read(
              spec.bootstrapServers(),
              kafka.topics().acceptedTopic(),
              spec.subject() == Subject.OURS_WITHOUT_DUPLICATES
                  ? null
                  : kafka.topics().duplicatesTopic());
      check(spec.subject(), events, output);
      delete(spec.bootstrapServers(), name);
      CommittedOutput.Steady steady = output.steady();
      double measured = steady.share() * events.count();
      return new Result(
          1e3 * measured / Math.max(1, steady.toMillis() - steady.fromMillis()),
          1e6 * processor.seconds(steady.fromMillis(), steady.toMillis()) / measured,
          processor.compiling(steady.fromMillis(), steady.toMillis()),
          spec.subject().dedups() ? events.keys() - output.accepted() : 0);
    }
  }

  private static KafkaOptions kafkaOptions(Spec spec, String name) {
    List<String> options = new ArrayList<>();
    spec.kafkaProperties().forEach(property -> options.add("--kafka-property=" + property));
    Collections.addAll(
        options,
        "--bootstrap-servers=" + spec.bootstrapServers(),
        "--events-topic=" + Events.TOPIC,
        "--accepted-topic=" + name + "-accepted",
        "--duplicates-topic=" + name + "-duplicates",
        "--dead-letters-topic=" + name + "-dead-letters",
        "--transactional-id-prefix=" + name,
        "--duplicates=" + (spec.subject() == Subject.OURS_WITHOUT_DUPLICATES ? "none" : "topic"),
        "--event-format=" + spec.events().format().name().toLowerCase(Locale.ROOT),
        "--checkpoint-interval=" + spec.checkpointMillis() + "ms");
    return KafkaOptions.parse(options.toArray(String[]::new));
  }

  private static JobOptions jobOptions(Events events) {
    return JobOptions.parse(
        "--parallelism=" + events.partitions(),
        "--canonicaliser=" + (events.format() == EventFormat.JSON ? "url" : "none"),
        "--capacity=" + events.keys(),
        "--fpr=" + RATE);
  }

  /** Checks what a job has written before its figures count. */
  static void check(Subject subject, Events events, CommittedOutput output) {
    long expected = subject.dedups() ? events.keys() : events.count();
    // At most at the rate of a full filter, with six standard deviations.
    double mean = RATE * events.keys();
    long fewer = subject.isOurs() ? (long) (mean + 6 * Math.sqrt(mean)) : 0;
    long duplicates =
        subject == Subject.OURS_WITHOUT_DUPLICATES ? 0 : events.count() - output.accepted();
    if (output.accepted() > expected
        || output.accepted() < expected - fewer
        || output.duplicates() != duplicates) {
      throw new IllegalStateException(
          String.format(
              Locale.ROOT,
              "%s must accept %,d to %,d of %,d events, and write %,d duplicates, it wrote %,d "
                  + "and %,d",
              subject,
              expected - fewer,
              expected,
              events.count(),
              duplicates,
              output.accepted(),
              output.duplicates()));
    }
  }

  private static void delete(String bootstrapServers, String name) throws Exception {
    try (Admin admin =
        Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers))) {
      List<String> written =
          admin.listTopics().names().get().stream()
              .filter(topic -> topic.startsWith(name + "-"))
              .toList();
      admin.deleteTopics(written).all().get();
    }
  }

  /**
   * The processor time of this JVM and the time for which it compiled, observed every few
   * milliseconds until it is closed.
   */
  private static final class ProcessorTime implements AutoCloseable {
    private static final OperatingSystemMXBean SYSTEM =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private static final CompilationMXBean COMPILERS = ManagementFactory.getCompilationMXBean();
    private static final int EVERY_MILLIS = 20;

    private final NavigableMap<Long, Long> nanosAtMillis = new ConcurrentSkipListMap<>();
    private final NavigableMap<Long, Long> compiledMillisAtMillis = new ConcurrentSkipListMap<>();
    private final Thread observer = new Thread(this::observe, "processor-time");
    private volatile boolean closed;

    ProcessorTime() {
      observer.setDaemon(true);
      observer.start();
    }

    private void observe() {
      try {
        while (!closed) {
          long now = System.currentTimeMillis();
          nanosAtMillis.put(now, SYSTEM.getProcessCpuTime());
          compiledMillisAtMillis.put(now, COMPILERS.getTotalCompilationTime());
          TimeUnit.MILLISECONDS.sleep(EVERY_MILLIS);
        }
      } catch (InterruptedException e) {
        // Closed.
      }
    }

    /** The seconds between two instants, in milliseconds of the clock, that were observed. */
    double seconds(long fromMillis, long toMillis) {
      return (at(nanosAtMillis, toMillis) - at(nanosAtMillis, fromMillis)) / 1e9;
    }

    /** The share of the time between two instants for which Java compiled. */
    double compiling(long fromMillis, long toMillis) {
      double millis = at(compiledMillisAtMillis, toMillis) - at(compiledMillisAtMillis, fromMillis);
      return millis / Math.max(1, toMillis - fromMillis);
    }

    private static double at(NavigableMap<Long, Long> observed, long millis) {
      var before = observed.floorEntry(millis);
      var after = observed.ceilingEntry(millis);
      if (before == null || after == null) {
        throw new IllegalArgumentException("the processor time at " + millis + " was not observed");
      }
      long length = after.getKey() - before.getKey();
      double part = length == 0 ? 0 : (double) (millis - before.getKey()) / length;
      return before.getValue() + part * (after.getValue() - before.getValue());
    }

    @Override
    public void close() {
      closed = true;
      observer.interrupt();
    }
  }
}
