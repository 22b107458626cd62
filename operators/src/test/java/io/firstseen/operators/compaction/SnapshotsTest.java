package io.firstseen.operators.compaction;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.types.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whole jobs on a mini cluster, with generic types disabled. */
class SnapshotsTest {

  private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .setConfiguration(METRICS.addToConfiguration(new Configuration()))
              .build());

  private static final int KEYS = 20_000;
  private static final int OUT_OF_ORDER_MILLIS = 500;
  private static final SnapshotSpec SPEC =
      SnapshotSpec.of("spam", 1000, 16, 0.001, KeyHash.fixed(), Canonicaliser.NONE);

  /** A watermark behind each operation, so that a run does not depend on the clock. */
  private static final class WatermarkBehindEach
      implements WatermarkGenerator<Tuple2<HashedOperation, Long>> {
    private long newest = Long.MIN_VALUE;

    @Override
    public void onEvent(
        Tuple2<HashedOperation, Long> operation, long eventTimeMillis, WatermarkOutput output) {
      if (eventTimeMillis > newest) {
        newest = eventTimeMillis;
        output.emitWatermark(new Watermark(newest - OUT_OF_ORDER_MILLIS));
      }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
      // Watermarks come with operations alone.
    }
  }

  /** Waits for a checkpoint in the middle of the stream, and then fails the job once. */
  private static final class FailOnce extends RichMapFunction<HashedOperation, HashedOperation>
      implements CheckpointListener {
    private static final int QUIET_OPERATIONS = 10_000;
    private static final AtomicBoolean FAILED = new AtomicBoolean();

    private int operations;
    private boolean checkpointed;

    @Override
    public HashedOperation map(HashedOperation operation) throws InterruptedException {
      if (++operations > QUIET_OPERATIONS && !FAILED.get()) {
        if (checkpointed) {
          FAILED.set(true);
          throw new IllegalStateException("failure on purpose");
        }
        Thread.sleep(1);
      }
      return operation;
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      checkpointed = operations > QUIET_OPERATIONS;
    }
  }

  private record Run(List<SnapshotRecord> records, JobID job) {
    List<SnapshotRecord> manifestsWithoutTimes() throws SnapshotException {
      return PublishedSets.withoutTimes(
          records.stream().filter(r -> r.kind() == SnapshotRecord.Kind.MANIFEST).toList());
    }

    List<SnapshotRecord> sortedBlobs() {
      return records.stream()
          .filter(r -> r.kind() == SnapshotRecord.Kind.BLOB)
          .sorted(Comparator.comparing(SnapshotRecord::key))
          .toList();
    }

    Stream<SnapshotRecord> bases() {
      return sortedBlobs().stream()
          .filter(blob -> PublishedSets.kindOf(blob.value()) == BlobFrame.Kind.BASE);
    }

    long sumOf(String metric) {
      Collection<Metric> found =
          METRICS.findMetrics(job, "spam-compaction\\.[0-9]+\\." + metric + "$").values();
      long sum = 0;
      for (Metric each : found) {
        sum +=
            each instanceof Counter counter
                ? counter.getCount()
                : ((Number) ((Gauge<?>) each).getValue()).longValue();
      }
      return sum;
    }
  }

  private static StreamExecutionEnvironment environment(String backend) {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
    configuration.set(StateBackendOptions.STATE_BACKEND, backend);
    return StreamExecutionEnvironment.getExecutionEnvironment(configuration);
  }

  /** Adds, deletes, repeats; half a second out of order, one in a hundred very late; with gaps. */
  private static List<Tuple2<HashedOperation, Long>> operations() {
    SplittableRandom random = new SplittableRandom(20261120);
    List<Tuple2<HashedOperation, Long>> operations = new ArrayList<>();
    long time = 1_000_000;
    for (int i = 0; i < 30_000; i++) {
      time += random.nextInt(1000) == 0 ? 15_000 : random.nextInt(2);
      long late = random.nextInt(100) == 0 ? 5000 : random.nextInt(OUT_OF_ORDER_MILLIS);
      Operation operation = random.nextInt(4) == 0 ? Operation.DELETE : Operation.ADD;
      operations.add(
          Tuple2.of(new HashedOperation(hash(random.nextInt(KEYS)), operation), time - late));
    }
    return operations;
  }

  private static long hash(int key) {
    return KeyHash.fixed().hash(("key-" + key).getBytes(UTF_8));
  }

  private static Run run(String backend, int parallelism, boolean fails) throws Exception {
    StreamExecutionEnvironment env = environment(backend);
    env.setParallelism(parallelism);
    DataStream<HashedOperation> operations =
        env.fromData(
                operations(), Types.TUPLE(TypeInformation.of(HashedOperation.class), Types.LONG))
            .setParallelism(1)
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Tuple2<HashedOperation, Long>>forGenerator(
                        unused -> new WatermarkBehindEach())
                    .withTimestampAssigner((operation, unused) -> operation.f1))
            .setParallelism(1)
            .map(operation -> operation.f0, TypeInformation.of(HashedOperation.class))
            .setParallelism(1);
    if (fails) {
      env.enableCheckpointing(100);
      operations = operations.map(new FailOnce()).setParallelism(1);
    }
    List<SnapshotRecord> records = new ArrayList<>();
    CloseableIterator<SnapshotRecord> published = Snapshots.of(operations, SPEC).collectAsync();
    JobClient job = env.executeAsync();
    published.forEachRemaining(records::add);
    job.getJobExecutionResult().get();
    return new Run(records, job.getJobID());
  }

  @Test
  void theSameInputGivesTheSameBytesAtAnyParallelismOnAnyBackendAndAfterAFailure()
      throws Exception {
    Run run = run("hashmap", 1, false);
    Run onRocksDb = run("rocksdb", 2, false);
    Run interrupted = run("hashmap", 2, true);
    assertThat(FailOnce.FAILED).isTrue();

    assertThat(run.manifestsWithoutTimes()).hasSizeGreaterThan(50);
    for (Run other : List.of(onRocksDb, interrupted)) {
      assertThat(other.manifestsWithoutTimes()).isEqualTo(run.manifestsWithoutTimes());
      assertThat(other.sortedBlobs()).isEqualTo(run.sortedBlobs());
    }

    SnapshotModel model = new SnapshotModel(SPEC.snapshotShards(), SPEC.windowMillis());
    long newest = Long.MIN_VALUE;
    for (Tuple2<HashedOperation, Long> operation : operations()) {
      model.operation(operation.f0.hash(), operation.f0.operation() == Operation.ADD, operation.f1);
      if (operation.f1 > newest) {
        newest = operation.f1;
        model.watermark(newest - OUT_OF_ORDER_MILLIS);
      }
    }
    model.endOfInput();
    PublishedSets published = new PublishedSets().add(run.records());
    published.mustBeThoseOf(model, SPEC);

    for (Run each : List.of(run, onRocksDb)) {
      assertThat(each.sumOf("liveKeys")).isEqualTo(model.live().size());
      assertThat(each.sumOf("sections")).isEqualTo(model.changes());
      assertThat(each.sumOf("sectionBytes"))
          .isEqualTo(published.sections().stream().mapToLong(Section::length).sum());
      assertThat(each.sumOf("bases")).isEqualTo(run.bases().count());
      assertThat(each.sumOf("baseBytes"))
          .isEqualTo(run.bases().mapToLong(base -> base.value().length).sum());
    }
  }

  @Test
  void aGenericTypeWouldFailTheSameJob() {
    StreamExecutionEnvironment env = environment("hashmap");
    DataStream<HashedOperation> operations =
        env.fromData(0L)
            .map(
                key -> new HashedOperation(key, Operation.ADD),
                new GenericTypeInfo<>(HashedOperation.class));
    assertThatThrownBy(() -> Snapshots.of(operations, SPEC).executeAndCollect())
        .hasStackTraceContaining("Generic types have been disabled")
        .hasStackTraceContaining("HashedOperation is treated as a generic type");
  }
}
