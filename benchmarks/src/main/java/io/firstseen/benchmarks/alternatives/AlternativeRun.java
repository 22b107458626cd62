package io.firstseen.benchmarks.alternatives;

import com.sun.management.OperatingSystemMXBean;
import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.LocalFlink;
import io.firstseen.benchmarks.shared.ProcessMemory;
import io.firstseen.benchmarks.shared.Stage;
import io.firstseen.benchmarks.shared.Stages;
import io.firstseen.benchmarks.shared.Url;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/** The process that runs one alternative once, after a warm-up. */
final class AlternativeRun {
  /** The set in Redis, where all keys are. */
  static final byte[] SEEN = "seen".getBytes(StandardCharsets.US_ASCII);

  private static final byte[] WARM_UP = "warm-up".getBytes(StandardCharsets.US_ASCII);
  private static final long REPEATS_AFTER_RESTORE = 100_000;

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final Spec spec;
  private final LocalFlink flink;

  /**
   * What to run.
   *
   * @param keys different keys, each of which comes twice on average
   * @param warmUpKeys the same of the job that runs before
   * @param redisPort where Redis listens; 0 without Redis
   */
  record Spec(
      Alternative alternative,
      long keys,
      long warmUpKeys,
      FlinkSettings flink,
      String directory,
      int redisPort) {}

  private AlternativeRun(Spec spec, LocalFlink flink) {
    this.spec = spec;
    this.flink = flink;
  }

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
  }

  static Progress run(Spec spec) throws Exception {
    try (LocalFlink flink = new LocalFlink(Path.of(spec.directory()), spec.flink())) {
      AlternativeRun run = new AlternativeRun(spec, flink);
      run.warmUp();
      return spec.alternative() == Alternative.REDIS ? run.measureRedis() : run.measure();
    }
  }

  private void warmUp() throws Exception {
    Stages stages = Stages.prepare(1, spec.flink().parallelism());
    JobClient job = start(List.of(Stage.halfNew(0, spec.warmUpKeys())), WARM_UP, null);
    flink.await(job, stages.begin(0));
    flink.cancel(job);
  }

  private Progress measure() throws Exception {
    Stages stages = Stages.prepare(1, spec.flink().parallelism());
    JobClient job = start(List.of(input()), SEEN, null);
    long heapBefore = ProcessMemory.liveHeapBytes();
    try (Progress.Writer progress = new Progress.Writer(Path.of(spec.directory()), stages)) {
      double cpuSeconds = takeAllKeys(job, stages, progress);
      progress.add(Figure.CPU_SECONDS, cpuSeconds / input().records() * 1e6);
      progress.add(Figure.MEMORY_BYTES, aKey(ProcessMemory.liveHeapBytes() - heapBefore));
      long start = System.nanoTime();
      String checkpoint = flink.checkpoint(job);
      progress.add(Figure.CHECKPOINT_SECONDS, secondsSince(start));
      Path allFiles = Path.of(URI.create(checkpoint)).getParent();
      progress.add(Figure.CHECKPOINT_BYTES, aKey(LocalFlink.bytes(allFiles)));
      flink.cancel(job);
      restore(checkpoint, progress);
      return progress.progress();
    }
  }

  /** Restarts the job, and queries its keys. */
  private void restore(String checkpoint, Progress.Writer progress) throws Exception {
    Stages stages = Stages.prepare(2, spec.flink().parallelism());
    CompletableFuture<Long> firstDecided = stages.begin(0).thenApply(done -> System.nanoTime());
    long start = System.nanoTime();
    JobClient job =
        start(
            List.of(
                Stage.noneNew(spec.keys(), 1),
                Stage.noneNew(spec.keys(), Math.min(spec.keys(), REPEATS_AFTER_RESTORE))),
            SEEN,
            checkpoint);
    flink.await(job, firstDecided);
    progress.add(Figure.RESTORE_SECONDS, (firstDecided.get() - start) / 1e9);
    flink.await(job, stages.begin(1));
    progress.add(Figure.FALSE_PASSES, (double) stages.recordsAtSinks());
    flink.cancel(job);
  }

  private Progress measureRedis() throws Exception {
    Stages stages = Stages.prepare(1, spec.flink().parallelism());
    JobClient job = start(List.of(input()), SEEN, null);
    try (RedisConnection redis = RedisConnection.open(spec.redisPort());
        Progress.Writer progress = new Progress.Writer(Path.of(spec.directory()), stages)) {
      redis.remove(WARM_UP);
      long memoryBefore = redis.memoryBytes();
      double cpuBefore = redis.cpuSeconds();
      double cpuSeconds = takeAllKeys(job, stages, progress) + redis.cpuSeconds() - cpuBefore;
      progress.add(Figure.CPU_SECONDS, cpuSeconds / input().records() * 1e6);
      progress.add(Figure.MEMORY_BYTES, aKey(redis.memoryBytes() - memoryBefore));
      long start = System.nanoTime();
      redis.dump();
      progress.add(Figure.CHECKPOINT_SECONDS, secondsSince(start));
      flink.cancel(job);
      return progress.progress();
    }
  }

  /** Returns the processor seconds of this JVM. */
  private double takeAllKeys(JobClient job, Stages stages, Progress.Writer progress)
      throws Exception {
    long cpuBefore = SYSTEM.getProcessCpuTime();
    long start = System.nanoTime();
    flink.await(job, stages.begin(0));
    double seconds = secondsSince(start);
    double cpuSeconds = (SYSTEM.getProcessCpuTime() - cpuBefore) / 1e9;
    progress.add(Figure.EVENTS_PER_SECOND, input().records() / seconds);
    progress.add(Figure.FALSE_DROPS, (double) (spec.keys() - stages.recordsAtSinks()));
    return cpuSeconds;
  }

  private Stage input() {
    return Stage.halfNew(0, spec.keys());
  }

  private double aKey(long bytes) {
    return (double) bytes / spec.keys();
  }

  private static double secondsSince(long start) {
    return (System.nanoTime() - start) / 1e9;
  }

  private JobClient start(List<Stage> stages, byte[] redisSet, @Nullable String checkpoint)
      throws Exception {
    return flink.start(
        graph(
            stages,
            redisSet,
            flink.environment(spec.alternative().backend(), spec.flink(), true, checkpoint)));
  }

  private StreamGraph graph(
      List<Stage> stages, byte[] redisSet, StreamExecutionEnvironment environment) {
    if (spec.alternative().subject() != null) {
      return Pipelines.build(spec.alternative().subject(), spec.keys(), stages, environment);
    }
    Alternative.Kind kind = spec.alternative().kind();
    WatermarkStrategy<Url> stamps = WatermarkStrategy.noWatermarks();
    if (kind == Alternative.Kind.SQL) {
      stamps = stamps.withTimestampAssigner((url, time) -> 0);
    }
    DataStream<Url> urls = Pipelines.urls(stages, stamps, environment);
    return switch (kind) {
      case REDIS -> Pipelines.graph(RedisDedup.firstOfEach(urls, spec.redisPort(), redisSet));
      case OURS_SQL -> Pipelines.graph(ConnectorDedup.firstOfEach(urls, spec.keys()));
      default -> Pipelines.graph(SqlDedup.firstOfEach(urls));
    };
  }
}
