package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.ExactDedup;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.LocalFlink;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.FlinkPath;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.operators.dedup.KnownKeys;
import io.firstseen.operators.dedup.WarmStart;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.PrimitiveIterator;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.OperatorTransformation;
import org.apache.flink.state.api.SavepointWriter;
import org.apache.flink.state.api.functions.KeyedStateBootstrapFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The process that makes a savepoint of known keys, and answers its URI. For the dedup it uses
 * hashes as a warm start does, which is several times as fast as a job that reads URLs, and gives
 * the same state.
 */
public final class KnownKeysRun {
  private KnownKeysRun() {}

  /**
   * What to make.
   *
   * @param keys number of known keys, which are the URLs with the first numbers
   * @param exact whether for exact dedup by hash instead of the dedup
   */
  public record Spec(long keys, String directory, boolean exact) {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
    System.exit(0);
  }

  public static String run(Spec spec) throws Exception {
    if (spec.exact()) {
      return runExact(spec);
    }
    LongStream hashes =
        LongStream.range(0, spec.keys()).map(i -> Pipelines.HASH.hash(Url.of(i).utf8()));
    return write(hashes, spec.keys(), Path.of(spec.directory()));
  }

  private static String runExact(Spec spec) throws Exception {
    FlinkSettings settings = new FlinkSettings(1, 2048, true);
    Path target = Path.of(spec.directory(), "known");
    try (LocalFlink flink = new LocalFlink(Path.of(spec.directory()), settings)) {
      StreamExecutionEnvironment env = flink.environment(Backend.ROCKSDB, settings, false, null);
      Configuration types = new Configuration();
      types.set(PipelineOptions.GENERIC_TYPES, true);
      types.set(PipelineOptions.AUTO_GENERATE_UIDS, true);
      env.configure(types);
      SavepointWriter.newSavepoint(env, Pipelines.SHARDS)
          .withOperator(
              OperatorIdentifier.forUid(Pipelines.EXACT_UID),
              OperatorTransformation.bootstrapWith(
                      env.fromSequence(0, spec.keys() - 1)
                          .map(i -> Pipelines.HASH.hash(Url.of(i).utf8())))
                  .keyBy(hash -> hash, Types.LONG)
                  .transform(new Known()))
          .write(FlinkPath.of(target));
      env.execute("known");
    }
    return FlinkPath.of(target);
  }

  /**
   * Writes a savepoint of the dedup of {@link Pipelines} with these hashes.
   *
   * @param capacity live keys that Firstseen is told to expect
   * @return its URI
   */
  static String write(LongStream hashes, long capacity, Path directory) throws Exception {
    KnownKeys known =
        new KnownKeys(Files.createDirectories(directory.resolve("hashes")), /* ttl= */ null);
    for (PrimitiveIterator.OfLong i = hashes.iterator(); i.hasNext(); ) {
      known.add(i.nextLong(), 0);
    }
    Firstseen<Url> dedup = Firstseen.withoutEvents();
    dedup.key(Url::utf8).capacity(capacity).falsePositiveRate(Pipelines.FALSE_POSITIVE_RATE);
    Path target = directory.resolve("known");
    int tasks = Runtime.getRuntime().availableProcessors();
    try (EmbeddedCluster cluster =
        EmbeddedCluster.start(
            directory.resolve("cluster"),
            EmbeddedCluster.Settings.defaults().slotsPerTaskManager(tasks))) {
      Configuration onRocksDb = new Configuration();
      onRocksDb.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
      new WarmStart(
              cluster.environment(onRocksDb).setParallelism(tasks),
              dedup.parameters(),
              "firstseen",
              known)
          .write(new org.apache.flink.core.fs.Path(target.toUri()));
    }
    return FlinkPath.of(target);
  }

  /** Writes the state of known hashes for a savepoint. */
  private static final class Known extends KeyedStateBootstrapFunction<Long, Long> {
    private static final long serialVersionUID = 1;

    private transient ValueState<Boolean> seen;

    @Override
    public void open(OpenContext context) {
      seen = getRuntimeContext().getState(ExactDedup.SEEN);
    }

    @Override
    public void processElement(Long hash, Context context) throws Exception {
      seen.update(true);
    }
  }
}
