package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import io.firstseen.serializers.ChangeSerializer;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.runtime.kryo.JavaSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.OperatorTransformation;
import org.apache.flink.state.api.SavepointWriter;
import org.apache.flink.state.api.StateBootstrapTransformation;
import org.apache.flink.state.api.runtime.SavepointLoader;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Writes canonical savepoints with known keys for a dedup, using Flink's State Processor API. They
 * contain only the dedup operator; all other operators of a job start empty.
 *
 * <p>Every task handles a range of the hashes and reads its keys from files, sorted. Keys are
 * therefore not sent over the network, and a task changes one page after the other.
 */
public final class WarmStart {
  static final TypeInformation<Change<Integer>> RANGE = ChangeSerializer.info(Types.INT);

  private final StreamExecutionEnvironment env;
  private final DedupParameters parameters;
  private final String uidPrefix;
  private final KnownKeys keys;

  /**
   * Describes a savepoint.
   *
   * @param env a streaming environment used only for this job, on a cluster that can read the files
   *     of {@code keys}. Its state backend is used only while the savepoint is built. Its
   *     parallelism is an upper bound
   * @param parameters the {@link Firstseen#parameters} of the dedup that will start from the
   *     savepoint; must pass {@link #check}
   * @param uidPrefix the {@link Firstseen#uidPrefix} of that dedup
   * @param keys the known keys, created for the ttl of the parameters; consumed
   */
  public WarmStart(
      StreamExecutionEnvironment env,
      DedupParameters parameters,
      String uidPrefix,
      KnownKeys keys) {
    check(parameters);
    this.env = env;
    this.parameters = parameters;
    this.uidPrefix = uidPrefix;
    this.keys = keys;
  }

  /**
   * Checks that a savepoint can be written for parameters.
   *
   * @throws IllegalArgumentException if a parameter is not supported; the message names the
   *     parameter
   */
  public static void check(DedupParameters parameters) {
    if (parameters.shardCount() < 2) {
      // The State Processor API requires a maximum parallelism of at least 2.
      throw new IllegalArgumentException(
          "shards must be at least 2 for a warm start, got " + parameters.shardCount());
    }
    if (parameters.mode() == DedupMode.EXACT_KEYS) {
      throw new IllegalArgumentException(
          "mode exact-keys needs the keys themselves, but a warm start has only their hashes");
    }
    if (!parameters.near().isEmpty()) {
      throw new IllegalArgumentException(
          "near needs the texts themselves, but a warm start has only their hashes");
    }
  }

  /**
   * Writes the savepoint; returns when it is complete.
   *
   * @param target its directory, which should not exist yet; incomplete after a failure
   * @throws IOException if a file cannot be read or written
   */
  public void write(org.apache.flink.core.fs.Path target) throws Exception {
    keys.complete();
    int tasks =
        Integer.highestOneBit(
            Math.min(env.getParallelism(), Math.min(parameters.shardCount(), KnownKeysPart.COUNT)));
    env.setRuntimeMode(RuntimeExecutionMode.STREAMING);
    Configuration settings = new Configuration();
    // The types of the State Processor API have no serializers, so Kryo is used. Its default
    // serializer for state handles needs access to JDK internals.
    settings.set(PipelineOptions.GENERIC_TYPES, true);
    settings.set(
        PipelineOptions.SERIALIZATION_CONFIG,
        List.of(
            "%s: {type: kryo, kryo-type: default, class: %s}"
                .formatted(OperatorSubtaskState.class.getName(), JavaSerializer.class.getName())));
    settings.set(PipelineOptions.OBJECT_REUSE, true);
    settings.set(PipelineOptions.AUTO_GENERATE_UIDS, true);
    env.configure(settings);
    env.setParallelism(tasks);
    SavepointWriter.newSavepoint(env, parameters.shardCount())
        .withOperator(OperatorIdentifier.forUid(Firstseen.dedupUid(uidPrefix)), operator(tasks))
        .write(target.toString());
    try {
      env.execute("firstseen-warm-start");
    } catch (Exception e) {
      requireNoFailure(e);
      throw e;
    }
    requireStateOf(tasks, target);
  }

  private StateBootstrapTransformation<Change<Integer>> operator(int tasks) {
    int partsOfTask = KnownKeysPart.COUNT / tasks;
    List<Change<Integer>> ranges = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      long firstHash = KnownKeysPart.firstHash(task * partsOfTask);
      ranges.add(new Change<>(Operation.ADD, new byte[0], firstHash, partsOfTask));
    }
    return OperatorTransformation.bootstrapWith(env.fromData(ranges, RANGE))
        .keyBy(Firstseen.shardKeys(parameters.shardCount()), Types.INT)
        .transform(
            (timestampMillis, path) ->
                WarmStartOperator.factory(
                    parameters, Firstseen.DEFAULT_PAGE_CACHE_BYTES, keys, path, timestampMillis));
  }

  private void requireNoFailure(Exception jobFailure) throws IOException {
    Path failure = WarmStartOperator.failure(keys.directory());
    if (Files.exists(failure)) {
      throw new IOException(Files.readString(failure), jobFailure);
    }
  }

  /**
   * Checks that every task wrote state: a task that failed before its first record leaves no error
   * file.
   */
  private void requireStateOf(int tasks, org.apache.flink.core.fs.Path target) throws IOException {
    int written =
        SavepointLoader.loadSavepointMetadata(target.toString()).getOperatorStates().stream()
            .mapToInt(operator -> operator.getNumberCollectedStates())
            .sum();
    if (written != tasks || keys.partsLeft() > 0) {
      throw new IOException(
          "%d of %d tasks wrote their state, and %d files of keys are left over"
              .formatted(written, tasks, keys.partsLeft()));
    }
  }
}
