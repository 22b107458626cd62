package io.firstseen.benchmarks.billions;

import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.LocalFlink;
import io.firstseen.benchmarks.shared.LocalFlink.Checkpoint;
import io.firstseen.benchmarks.shared.ProcessMemory;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.benchmarks.shared.UrlSerializer;
import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.state.rocksdb.RocksDBConfigurableOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;
import org.rocksdb.CompressionType;

/** The process that fills the filters, or starts again from a checkpoint. */
final class BillionsRun {
  static final double FALSE_POSITIVE_RATE = 0.001;

  /** Parts of the keys whose rates are compared. */
  static final int PARTS = 20;

  private static final int POLL_MILLIS = 20;

  /** When nothing has arrived for so long, nothing is on its way. */
  private static final int PAUSE_MILLIS = 2_000;

  private static final double PROGRESS_SECONDS = 5;
  private static final double SAMPLE_SECONDS = 1;

  private static final int MAX_CONTINUED_MILLIS = 30_000;

  private final Spec spec;
  private final LocalFlink flink;
  private final Arrivals arrivals = Arrivals.CURRENT;
  private final List<Part> parts = new ArrayList<>();
  private final List<Sample> samples = new ArrayList<>();
  private final List<CheckpointedKeys> checkpoints = new ArrayList<>();
  private long startNanos;
  private long startMillis;
  private double partsEndSeconds;
  private long longestGapNanos;

  /**
   * What to run.
   *
   * @param keys different keys; the stream has a quarter more records
   * @param capacity live keys that Firstseen is told to expect
   * @param pageCacheBytes of each task, on RocksDB
   * @param minutes after which it stops
   * @param checkpoint to start from; null for none
   * @param rates records per second, all of which a restart should reach; empty without a
   *     checkpoint to start from
   */
  record Spec(
      long keys,
      long capacity,
      Backend backend,
      FlinkSettings flink,
      long pageCacheBytes,
      long checkpointMillis,
      double minutes,
      String directory,
      @Nullable String checkpoint,
      List<Double> rates) {
    /** A restart with the records that follow. */
    Spec from(String newCheckpoint, List<Double> newRates, double newMinutes) {
      return new Spec(
          keys,
          capacity,
          backend,
          flink,
          pageCacheBytes,
          checkpointMillis,
          newMinutes,
          directory,
          newCheckpoint,
          newRates);
    }

    private long groups() {
      return keys / UrlStream.NEW_KEYS;
    }

    private long records() {
      return groups() * UrlStream.GROUP;
    }
  }

  /**
   * A part of the run.
   *
   * @param begin new keys before it
   * @param end new keys up to its end
   * @param seconds that it took
   */
  record Part(long begin, long end, double seconds) {
    /** New keys per second. */
    double rate() {
      return (end - begin) / seconds;
    }
  }

  /**
   * The state at a moment.
   *
   * @param seconds since the first record
   * @param heapBytes after the last collection
   */
  record Sample(double seconds, long records, long accepted, long residentBytes, long heapBytes) {
    long keys() {
      return UrlStream.keys(records);
    }

    /** How many new keys were dropped; exact if the records were decided on in their order. */
    long falseDrops() {
      return keys() - accepted;
    }
  }

  /** A checkpoint, and the keys when it was triggered. */
  record CheckpointedKeys(long keys, Checkpoint checkpoint) {}

  /**
   * What was measured.
   *
   * @param isComplete whether all keys were put in
   * @param longestGapNanos in which a task accepted no {@value Arrivals#RECORDS_PER_TICK} records
   * @param highestResidentBytes before the last checkpoint
   * @param liveHeapBytes of the filters and the job; at the end
   * @param continuedRate mean records per second for up to 30 s after the last checkpoint, in the
   *     same JVM
   */
  record Result(
      boolean isComplete,
      List<Part> parts,
      List<Sample> samples,
      List<CheckpointedKeys> checkpoints,
      long longestGapNanos,
      long highestResidentBytes,
      long liveHeapBytes,
      double continuedRate) {
    Sample last() {
      return samples.get(samples.size() - 1);
    }

    CheckpointedKeys lastCheckpoint() {
      return checkpoints.get(checkpoints.size() - 1);
    }
  }

  /**
   * How a restart went; seconds are since the JVM was started.
   *
   * @param firstRecordSeconds until the first record was decided on
   * @param rateSeconds until the end of the first second at each of the rates; infinite if there
   *     was none in time
   */
  record Restart(double firstRecordSeconds, List<Double> rateSeconds, long highestResidentBytes) {}

  private BillionsRun(Spec spec, LocalFlink flink) {
    this.spec = spec;
    this.flink = flink;
  }

  public static void main(String[] arguments) throws Exception {
    Spec spec = ChildJvm.specification(arguments, Spec.class);
    try (LocalFlink flink = new LocalFlink(Path.of(spec.directory()), spec.flink())) {
      BillionsRun run = new BillionsRun(spec, flink);
      ChildJvm.answer(spec.checkpoint() == null ? run.fill() : run.restart());
    }
  }

  private StreamGraph job() {
    StreamExecutionEnvironment env =
        flink.environment(
            spec.backend(), spec.flink(), /* outliveTheJob= */ true, spec.checkpoint());
    Configuration configuration = new Configuration();
    configuration.set(
        CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(spec.checkpointMillis()));
    // Pages cannot be compressed.
    configuration.set(
        RocksDBConfigurableOptions.COMPRESSION_PER_LEVEL, List.of(CompressionType.NO_COMPRESSION));
    configuration.set(RocksDBConfigurableOptions.USE_BLOOM_FILTER, true);
    env.configure(configuration);
    DedupStreams<Url> dedup =
        Firstseen.dedup(
                env.fromSource(
                        new UrlStream(),
                        WatermarkStrategy.noWatermarks(),
                        "urls",
                        UrlSerializer.TYPE)
                    .uid("urls"))
            .key(Url::utf8)
            .capacity(spec.capacity())
            .falsePositiveRate(FALSE_POSITIVE_RATE)
            .pageCacheBytes(spec.pageCacheBytes())
            .apply();
    dedup.accepted().sinkTo(Arrivals.sink(true)).uid("accepted");
    dedup.duplicates().sinkTo(Arrivals.sink(false)).uid("duplicates");
    return env.getStreamGraph();
  }

  private Result fill() throws Exception {
    long heapBefore = ProcessMemory.liveHeapBytes();
    UrlStream.makeUpTo(spec.groups());
    JobClient job = flink.start(job());
    awaitFirstRecord(job);
    startNanos = System.nanoTime();
    startMillis = System.currentTimeMillis();
    samples.add(sample());
    Sample before = samples.get(0);
    double nextReport = PROGRESS_SECONDS;
    while (before.records() < spec.records() && before.seconds() < spec.minutes() * 60) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      Sample now = sample();
      endParts(before, now);
      if (now.seconds() >= samples.get(samples.size() - 1).seconds() + SAMPLE_SECONDS) {
        samples.add(now);
      }
      if (now.seconds() >= nextReport) {
        nextReport += PROGRESS_SECONDS;
        flink.failIfEnded(job);
        note(flink.lastCheckpoint(job));
        report(now);
      }
      before = now;
    }
    if (before.records() < spec.records()) {
      UrlStream.pause();
      before = awaitPause();
    }
    samples.add(before);
    longestGapNanos = Math.max(longestGapNanos, arrivals.takeLongestGapNanos());
    long highestResidentBytes = ProcessMemory.highestResidentBytes();
    note(flink.lastCheckpoint(job));
    long liveHeapBytes = ProcessMemory.liveHeapBytes() - heapBefore;
    flink.checkpoint(job);
    note(flink.lastCheckpoint(job));
    double continuedRate = continuedRate(job);
    flink.cancel(job);
    return new Result(
        before.records() == spec.records(),
        parts,
        samples,
        checkpoints,
        longestGapNanos,
        highestResidentBytes,
        liveHeapBytes,
        continuedRate);
  }

  private double continuedRate(JobClient job) throws Exception {
    UrlStream.makeUpTo(Long.MAX_VALUE);
    Sample begin = sample();
    // Meanwhile at most two checkpoints become complete, and the last three are kept.
    TimeUnit.MILLISECONDS.sleep(Math.min(MAX_CONTINUED_MILLIS, spec.checkpointMillis()));
    Sample end = sample();
    UrlStream.pause();
    flink.failIfEnded(job);
    if (end.records() == begin.records()) {
      throw new IllegalStateException("no record came after the last checkpoint");
    }
    return (end.records() - begin.records()) / (end.seconds() - begin.seconds());
  }

  /** The moment of the last record on its way. */
  private Sample awaitPause() throws Exception {
    Sample last = sample();
    for (int unchanged = 0; unchanged < PAUSE_MILLIS; unchanged += POLL_MILLIS) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      if (arrivals.records() > last.records()) {
        last = sample();
        unchanged = 0;
      }
    }
    return last;
  }

  private void awaitFirstRecord(JobClient job) throws Exception {
    while (arrivals.records() == 0) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      flink.failIfEnded(job);
    }
  }

  private Sample sample() throws IOException {
    return new Sample(
        (System.nanoTime() - startNanos) / 1e9,
        arrivals.records(),
        arrivals.accepted(),
        ProcessMemory.residentBytes(),
        ProcessMemory.heapBytesAfterCollection());
  }

  /** Notes the parts that ended between two moments. */
  private void endParts(Sample before, Sample now) {
    while (parts.size() < PARTS) {
      long end = spec.records() * (parts.size() + 1) / PARTS;
      if (now.records() < end) {
        return;
      }
      double share = (double) (end - before.records()) / (now.records() - before.records());
      double seconds = before.seconds() + share * (now.seconds() - before.seconds());
      long begin = spec.records() * parts.size() / PARTS;
      parts.add(new Part(UrlStream.keys(begin), UrlStream.keys(end), seconds - partsEndSeconds));
      partsEndSeconds = seconds;
    }
  }

  private void note(@Nullable Checkpoint checkpoint) {
    if (checkpoint == null
        || (!checkpoints.isEmpty() && lastCheckpoint().checkpoint().id() == checkpoint.id())) {
      return;
    }
    double seconds = (checkpoint.triggeredMillis() - startMillis) / 1e3;
    long keys =
        samples.stream()
            .filter(sample -> sample.seconds() <= seconds)
            .mapToLong(Sample::keys)
            .max()
            .orElse(0);
    checkpoints.add(new CheckpointedKeys(keys, checkpoint));
  }

  private CheckpointedKeys lastCheckpoint() {
    return checkpoints.get(checkpoints.size() - 1);
  }

  private void report(Sample now) {
    Sample earlier =
        samples.stream()
            .filter(sample -> sample.seconds() >= now.seconds() - PROGRESS_SECONDS)
            .findFirst()
            .orElse(samples.get(0));
    double rate = (now.keys() - earlier.keys()) / (now.seconds() - earlier.seconds());
    double perSecond = now.keys() / now.seconds();
    long gapNanos = arrivals.takeLongestGapNanos();
    longestGapNanos = Math.max(longestGapNanos, gapNanos);
    System.err.printf(
        Locale.ROOT,
        "%,7.0f s  %,15d keys  %5.2f M keys/s  resident %6.2f GB, highest %6.2f  heap %6.2f GB"
            + "  longest gap %,5d ms  %s  %,.0f s left%n",
        now.seconds(),
        now.keys(),
        rate / 1e6,
        now.residentBytes() / 1e9,
        highest() / 1e9,
        now.heapBytes() / 1e9,
        TimeUnit.NANOSECONDS.toMillis(gapNanos),
        checkpoints.isEmpty()
            ? "no checkpoint yet"
            : String.format(
                Locale.ROOT,
                "checkpoint %,d ms, %.2f GB",
                lastCheckpoint().checkpoint().millis(),
                lastCheckpoint().checkpoint().bytes() / 1e9),
        (spec.keys() - now.keys()) / perSecond);
  }

  private static long highest() {
    try {
      return ProcessMemory.highestResidentBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Restart restart() throws Exception {
    UrlStream.makeUpTo(Long.MAX_VALUE);
    JobClient job = flink.start(job());
    awaitFirstRecord(job);
    double first = secondsOfProcess();
    startNanos = System.nanoTime();
    samples.add(sample());
    double[] reached = new double[spec.rates().size()];
    Arrays.fill(reached, Double.POSITIVE_INFINITY);
    int from = 0;
    while (secondsOfProcess() < spec.minutes() * 60
        && Arrays.stream(reached).anyMatch(Double::isInfinite)) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      flink.failIfEnded(job);
      Sample now = sample();
      samples.add(now);
      while (samples.get(from + 1).seconds() <= now.seconds() - 1) {
        from++;
      }
      Sample before = samples.get(from);
      double seconds = now.seconds() - before.seconds();
      double rate = (now.records() - before.records()) / seconds;
      for (int i = 0; i < reached.length; i++) {
        if (seconds >= 1 && rate >= spec.rates().get(i)) {
          reached[i] = Math.min(reached[i], secondsOfProcess());
        }
      }
    }
    return new Restart(
        first, Arrays.stream(reached).boxed().toList(), ProcessMemory.highestResidentBytes());
  }

  private static double secondsOfProcess() {
    return (System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime()) / 1e3;
  }
}
