package io.firstseen.benchmarks.kafka;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.dedup.KnownKeysRun;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.OptionChecks;
import io.firstseen.benchmarks.shared.Processors;
import io.firstseen.benchmarks.shared.Stage;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures the time from an event to its committed outcome. */
@Command(
    description = {
      "Prints the seconds from the time at which an event is sent to Kafka until a consumer of"
          + " committed records receives its outcome: median and 99th percentile, of the dedup and"
          + " of exact dedup by hash, on heap and on RocksDB with incremental checkpoints.",
      "",
      "Each job starts from a savepoint of known keys. It first processes a backlog, whose second"
          + " half gives its maximum rate. Then events arrive at half of this rate. Half of them"
          + " have new keys, the others repeat a random key. Broker and job are separate processes.",
      ""
    })
public final class LatencyFigures extends FiguresProgram {

  /** The bound for the dedup with a checkpoint per second. */
  private static final double SECONDS_99 = 2.5;

  /** Heap of each job, in addition to its state. */
  private static final int HEAP_MEBIBYTES = 2048;

  enum Job {
    HEAP(Subject.OURS, StateBackend.HEAP, 8),
    ROCKSDB(Subject.OURS, StateBackend.ROCKSDB, 8),
    EXACT_HEAP(Subject.EXACT, StateBackend.HEAP, 110),
    EXACT_ROCKSDB(Subject.EXACT, StateBackend.ROCKSDB, 0);

    private final Subject subject;
    private final StateBackend backend;
    private final int heapBytesPerKey;

    Job(Subject subject, StateBackend backend, int heapBytesPerKey) {
      this.subject = subject;
      this.backend = backend;
      this.heapBytesPerKey = heapBytesPerKey;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  @Option(
      names = "--keys",
      paramLabel = "N",
      defaultValue = "100000000",
      description = "Known keys, at least 1000 (${DEFAULT-VALUE}).")
  private long keys;

  @Option(
      names = "--intervals",
      paramLabel = "S",
      split = ",",
      defaultValue = "1,10",
      description = "Seconds between two checkpoints (${DEFAULT-VALUE}).")
  private List<Integer> intervals;

  @Option(
      names = "--only",
      paramLabel = "JOB",
      split = ",",
      description = "Only these jobs: ${COMPLETION-CANDIDATES}.")
  private Set<Job> only = EnumSet.allOf(Job.class);

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "60",
      description = "How long each job is measured, after two intervals (${DEFAULT-VALUE}).")
  private int seconds;

  @Option(
      names = "--backlog",
      paramLabel = "N",
      defaultValue = "4000000",
      description = "Events of the backlog (${DEFAULT-VALUE}).")
  private long backlog;

  LatencyFigures() {}

  public static void main(String[] arguments) {
    exit(new LatencyFigures(), arguments);
  }

  @Override
  protected void check(OptionChecks checks) {
    checks.atLeast("--keys", 1000, keys);
    checks.atLeast("--seconds", 1, seconds);
    checks.atLeast("--backlog", 1000, backlog);
    intervals.forEach(interval -> checks.atLeast("--intervals", 1, interval));
  }

  @Override
  protected void measure(Path work) throws Exception {
    figures.title("%,d known keys, %d s".formatted(keys, seconds));
    for (Subject subject : List.of(Subject.OURS, Subject.EXACT)) {
      List<Job> jobs = only.stream().filter(job -> job.subject == subject).toList();
      if (!jobs.isEmpty()) {
        System.err.printf("%s: a savepoint of %,d keys%n", subject, keys);
        String savepoint =
            ChildJvm.withHeap(heapMebibytes(8))
                .run(
                    KnownKeysRun.class,
                    new KnownKeysRun.Spec(
                        keys,
                        work.resolve(subject.toString()).toString(),
                        subject == Subject.EXACT),
                    String.class);
        for (int interval : intervals) {
          for (Job job : jobs) {
            Path directory = work.resolve("job");
            measure(job, interval, savepoint, directory);
            MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
          }
        }
      }
    }
  }

  private long heapMebibytes(int bytesPerKey) {
    return HEAP_MEBIBYTES + ((bytesPerKey * keys) >> 20);
  }

  private void measure(Job job, int interval, String savepoint, Path directory) throws Exception {
    String name = "%s, a checkpoint every %d s".formatted(job, interval);
    try (ChildJvm.Service broker =
            BrokerProcess.start(
                Processors.ALL, new BrokerProcess.Spec(directory.resolve("broker").toString(), 1));
        KafkaProducer<byte[], byte[]> producer = Events.producer(broker.line(), 5, 1 << 16)) {
      send(producer, 0, backlog, Double.POSITIVE_INFINITY);
      LatencyJob.Spec spec =
          new LatencyJob.Spec(
              job.subject,
              job.backend,
              keys,
              interval,
              broker.line(),
              savepoint,
              directory.resolve("flink").toString());
      try (ChildJvm.Service running =
              ChildJvm.withHeap(heapMebibytes(job.heapBytesPerKey)).serve(LatencyJob.class, spec);
          TimedOutcomes outcomes = new TimedOutcomes(spec.kafka())) {
        System.err.printf("%s: %s%n", name, running.line());
        outcomes.readUntil(backlog);
        double most = outcomes.steadyRate();
        double sent = most / 2;
        System.err.printf("%s: at most %,.0f events/s, now %,.0f%n", name, most, sent);
        long first = outcomes.outcomes() + (long) (2 * interval * sent);
        long end = first + (long) (seconds * sent);
        CompletableFuture<Void> sender =
            CompletableFuture.runAsync(() -> send(producer, backlog, end, sent));
        outcomes.readUntil(first);
        outcomes.forgetTimes();
        outcomes.readUntil(end);
        sender.join();
        check(outcomes.accepted(), end);
        figures.plain(name + ", maximum", most / 1e3, "thousand events/s");
        figures.plain(name + ", median", outcomes.quantile(0.5), "s");
        double bound =
            job.subject.isOurs() && interval == 1 ? SECONDS_99 : Double.POSITIVE_INFINITY;
        figures.atMost(name + ", 99 %", outcomes.quantile(0.99), bound, "s");
      }
    }
  }

  /** Checks that the job knew its keys: a full filter drops few new keys. */
  private void check(long accepted, long events) {
    if (accepted > (events + 1) / 2 || accepted < 0.9 * events / 2) {
      throw new IllegalStateException(
          "half of %,d events have new keys, but %,d were accepted".formatted(events, accepted));
    }
  }

  /** Sends events at a rate; their times are those at which they are sent. */
  private void send(KafkaProducer<byte[], byte[]> producer, long from, long to, double rate) {
    Stage stage = Stage.halfNew(keys, to);
    long begin = System.nanoTime();
    for (long i = from; i < to; i++) {
      while ((i - from) / rate > (System.nanoTime() - begin) / 1e9) {
        LockSupport.parkNanos(1_000_000);
      }
      var unused =
          producer.send(
              new ProducerRecord<>(Events.TOPIC, Url.of(stage.keyAt(i)).utf8(), Events.PAYLOAD));
    }
    producer.flush();
  }
}
