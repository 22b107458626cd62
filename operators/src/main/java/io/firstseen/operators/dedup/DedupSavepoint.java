package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.PageDirectory;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.ShardKeys;
import io.firstseen.serializers.AuditCountsSerializer;
import io.firstseen.serializers.DedupParametersSerializer;
import io.firstseen.serializers.SerializerTypeInformation;
import io.firstseen.serializers.ShardSummarySerializer;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.ShardSummary;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.filesystem.AbstractFsCheckpointStorageAccess;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.SavepointReader;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * A summary of a dedup's state in a savepoint or checkpoint.
 *
 * @param checkpointId the number of the checkpoint; 0 for a savepoint created by {@link WarmStart}
 * @param parallelism the number of tasks that wrote it
 * @param stateBytes the size of the dedup's state as it is stored
 * @param parameters the parameters with which the state was built
 * @param shards the summary of each shard's filter, in the order of the shards
 * @param audit the counts of the audit over all shards; null if there is no audit
 * @param precision with an audit of near-duplicates, the audited dropped texts, of which those
 *     without a similar live text are the false positives; null otherwise
 * @param recall with an audit of near-duplicates, the audited texts with a similar live text, of
 *     which accepted ones are the false positives; null otherwise
 * @param clockMillis with a ttl, the start of the latest epoch that a shard has reached; keys that
 *     are due by then are forgotten. Empty if no time is known
 */
public record DedupSavepoint(
    long checkpointId,
    int parallelism,
    long stateBytes,
    DedupParameters parameters,
    List<ShardSummary> shards,
    @Nullable AuditCounts audit,
    @Nullable AuditCounts precision,
    @Nullable AuditCounts recall,
    OptionalLong clockMillis) {

  private static final ShardSummary EMPTY = new ShardSummary(0, 0, 0, new byte[1]);
  private static final long NO_TIME = Long.MIN_VALUE;

  /**
   * Reads the summary with Flink's State Processor API.
   *
   * @param env a streaming environment used only for this, with RocksDB on its cluster's class
   *     path; restores the state of one task at a time
   * @param uidPrefix the dedup's {@link Firstseen#uidPrefix}
   * @param path the directory of the savepoint, as a Flink path
   * @return empty if it has no state of a dedup with this prefix
   * @throws IOException if the savepoint does not exist or cannot be read
   */
  public static Optional<DedupSavepoint> read(
      StreamExecutionEnvironment env, String uidPrefix, String path) throws Exception {
    CheckpointMetadata metadata = readMetadata(path);
    OperatorIdentifier dedup = OperatorIdentifier.forUid(Firstseen.dedupUid(uidPrefix));
    Optional<OperatorState> state =
        metadata.getOperatorStates().stream()
            .filter(operator -> operator.getOperatorID().equals(dedup.getOperatorId()))
            .findFirst();
    if (state.isEmpty()) {
      return Optional.empty();
    }
    Configuration settings = new Configuration();
    settings.set(PipelineOptions.AUTO_GENERATE_UIDS, true);
    settings.set(PipelineOptions.GENERIC_TYPES, true);
    env.configure(settings);
    env.setParallelism(1);
    Optional<DedupParameters> parameters = parameters(env, dedup, path);
    if (parameters.isEmpty()) {
      return Optional.empty();
    }
    Map<Integer, OfShard> byKey = ofShards(env, dedup, path, state.get(), parameters.get());
    int count = parameters.get().shardCount();
    ShardKeys keys = ShardKeys.of(count, count);
    List<ShardSummary> shards = new ArrayList<>();
    AuditCounts[] audits = OfShard.NO_AUDITS.clone();
    long clockMillis = NO_TIME;
    for (int number = 0; number < count; number++) {
      OfShard shard = byKey.getOrDefault(keys.keyOf(number), OfShard.NOTHING);
      shards.add(shard.summary());
      Arrays.setAll(audits, i -> audits[i].plus(shard.audits()[i]));
      clockMillis = Math.max(clockMillis, shard.clockMillis());
    }
    return Optional.of(
        new DedupSavepoint(
            metadata.getCheckpointId(),
            state.get().getParallelism(),
            state.get().getStateSize(),
            parameters.get(),
            Collections.unmodifiableList(shards),
            isAudited(parameters.get(), false) ? audits[0] : null,
            isAudited(parameters.get(), true) ? audits[1] : null,
            isAudited(parameters.get(), true) ? audits[2] : null,
            clockMillis == NO_TIME ? OptionalLong.empty() : OptionalLong.of(clockMillis)));
  }

  /**
   * Returns the names of the operator state in a savepoint or checkpoint, of all operators.
   *
   * @throws IOException if the savepoint does not exist or cannot be read
   */
  public static Set<String> operatorStates(String path) throws IOException {
    return readMetadata(path).getOperatorStates().stream()
        .flatMap(operator -> operator.getStates().stream())
        .flatMap(subtask -> subtask.getManagedOperatorState().stream())
        .flatMap(handle -> handle.getStateNameToPartitionOffsets().keySet().stream())
        .collect(Collectors.toSet());
  }

  private static CheckpointMetadata readMetadata(String path) throws IOException {
    try (DataInputStream in =
        new DataInputStream(
            AbstractFsCheckpointStorageAccess.resolveCheckpointPointer(path)
                .getMetadataHandle()
                .openInputStream())) {
      return readMetadata(in, path);
    }
  }

  /**
   * Reads the metadata. Flink's reader trusts every length, so malformed metadata may cause any
   * failure. It also creates every named object, so {@link MetadataBytes} checks objects first.
   */
  static CheckpointMetadata readMetadata(DataInputStream in, String path) throws IOException {
    try {
      return Checkpoints.loadCheckpointMetadata(
          new DataInputStream(new MetadataBytes(in.readAllBytes())),
          Thread.currentThread().getContextClassLoader(),
          path);
    } catch (RuntimeException | OutOfMemoryError | StackOverflowError e) {
      throw new IOException("its metadata is malformed (" + e + ")", e);
    }
  }

  private static Optional<DedupParameters> parameters(
      StreamExecutionEnvironment env, OperatorIdentifier dedup, String path) throws Exception {
    DataStream<DedupParameters> stream =
        SavepointReader.read(env, path)
            .readUnionState(
                dedup,
                DedupState.PARAMETERS.getName(),
                new SerializerTypeInformation<>(
                    DedupParameters.class, DedupParametersSerializer.INSTANCE),
                DedupParametersSerializer.INSTANCE);
    return stream.executeAndCollect(1).stream().findFirst();
  }

  private static boolean isAudited(DedupParameters parameters, boolean withNear) {
    return parameters.auditSlices() > 0 && (!withNear || !parameters.near().isEmpty());
  }

  /**
   * The state of a shard.
   *
   * @param audits the counts of the audit, precision and recall
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record OfShard(ShardSummary summary, AuditCounts[] audits, long clockMillis) {
    static final AuditCounts[] NO_AUDITS = {AuditCounts.NONE, AuditCounts.NONE, AuditCounts.NONE};
    static final OfShard NOTHING = new OfShard(EMPTY, NO_AUDITS, NO_TIME);
  }

  private static Map<Integer, OfShard> ofShards(
      StreamExecutionEnvironment env,
      OperatorIdentifier dedup,
      String path,
      OperatorState state,
      DedupParameters parameters)
      throws Exception {
    Exception failure = null;
    for (String backend : backends(state)) {
      try {
        return ofShards(env, dedup, path, backend, parameters);
      } catch (Exception e) {
        failure = e;
      }
    }
    throw failure;
  }

  /**
   * Returns the state backends to try. Only RocksDB can read its own files, and it reads canonical
   * savepoints with little memory. Checkpoints of the heap backend and of RocksDB cannot always be
   * distinguished.
   */
  private static List<String> backends(OperatorState state) {
    for (OperatorSubtaskState task : state.getStates()) {
      for (KeyedStateHandle handle : task.getManagedKeyedState()) {
        if (handle instanceof KeyGroupsStateHandle
            && !(handle instanceof KeyGroupsSavepointStateHandle)) {
          return List.of("hashmap", "rocksdb");
        }
      }
    }
    return List.of("rocksdb");
  }

  private static Map<Integer, OfShard> ofShards(
      StreamExecutionEnvironment env,
      OperatorIdentifier dedup,
      String path,
      String backend,
      DedupParameters parameters)
      throws Exception {
    env.configure(new Configuration().set(StateBackendOptions.STATE_BACKEND, backend));
    TypeInformation<Tuple4<Integer, ShardSummary, AuditCounts[], Long>> type =
        Types.TUPLE(
            Types.INT,
            new SerializerTypeInformation<>(ShardSummary.class, ShardSummarySerializer.INSTANCE),
            Types.OBJECT_ARRAY(
                new SerializerTypeInformation<>(AuditCounts.class, AuditCountsSerializer.INSTANCE)),
            Types.LONG);
    Map<Integer, OfShard> byKey = new HashMap<>();
    SavepointReader.read(env, path)
        .readKeyedState(dedup, new ShardReader(parameters), Types.INT, type)
        .executeAndCollect(Firstseen.MAX_SHARDS)
        .forEach(shard -> byKey.put(shard.f0, new OfShard(shard.f1, shard.f2, shard.f3)));
    return byKey;
  }

  private static final class ShardReader
      extends KeyedStateReaderFunction<
          Integer, Tuple4<Integer, ShardSummary, AuditCounts[], Long>> {
    private static final long serialVersionUID = 1;

    private final boolean withAudit;
    private final boolean withNearAudit;
    private final boolean withClock;
    private transient ValueState<ShardSummary> summary;
    private transient ValueState<AuditCounts> audit;
    private transient ValueState<AuditCounts> precision;
    private transient ValueState<AuditCounts> recall;
    private transient ValueState<Long> clock;

    ShardReader(DedupParameters parameters) {
      this.withAudit = isAudited(parameters, false);
      this.withNearAudit = isAudited(parameters, true);
      this.withClock = parameters.ttl() != null;
    }

    @Override
    public void open(OpenContext context) {
      summary = getRuntimeContext().getState(DedupState.SUMMARY);
      audit = withAudit ? getRuntimeContext().getState(DedupState.AUDIT_COUNTS) : null;
      precision = withNearAudit ? getRuntimeContext().getState(DedupState.AUDIT_PRECISION) : null;
      recall = withNearAudit ? getRuntimeContext().getState(DedupState.AUDIT_RECALL) : null;
      clock = withClock ? getRuntimeContext().getState(DedupState.CLOCK) : null;
    }

    @Override
    public void readKey(
        Integer key,
        Context context,
        Collector<Tuple4<Integer, ShardSummary, AuditCounts[], Long>> out)
        throws Exception {
      out.collect(
          Tuple4.of(
              key,
              orElse(summary, OfShard.NOTHING.summary()),
              new AuditCounts[] {
                orElse(audit, AuditCounts.NONE),
                orElse(precision, AuditCounts.NONE),
                orElse(recall, AuditCounts.NONE)
              },
              orElse(clock, OfShard.NOTHING.clockMillis())));
    }

    private static <V> V orElse(ValueState<V> state, V nothing) throws IOException {
      V value = state == null ? null : state.value();
      return value == null ? nothing : value;
    }
  }

  /** Returns the number of live keys: identities, or texts with a rule for near-duplicates. */
  public long keys() {
    return IntStream.range(0, shards.size()).mapToLong(this::keys).sum();
  }

  /** Returns the number of live keys of a shard. */
  public long keys(int shard) {
    NearRule near = near();
    long identities = shards.get(shard).keys();
    return near == null ? identities : identities / near.hashes();
  }

  private @Nullable NearRule near() {
    return parameters.near().isEmpty()
        ? null
        : NearRule.of(parameters.near()).ofFilter(parameters.mode().isExact());
  }

  /** Returns the number of slots in all pages. */
  public long slots() {
    return shards.stream().mapToLong(ShardSummary::slots).sum();
  }

  /** Returns the length of all pages' bodies. */
  public long pageBytes() {
    return shards.stream().mapToLong(ShardSummary::bytes).sum();
  }

  /** Returns the number of pages of a shard. */
  public int pages(int shard) {
    return PageDirectory.of(shards.get(shard).directory()).pageCount();
  }

  /** Returns the probability that the filter reports a new key of a shard as a duplicate. */
  public double predictedFalsePositiveRate(int shard) {
    long keys = shards.get(shard).keys();
    double identityRate = shape().predictedFalsePositiveRate(keys);
    NearRule near = near();
    return near == null ? identityRate : near.filterRate(identityRate, keys / near.hashes());
  }

  /**
   * Returns the mean of the shards' rates, since a key falls into each shard with equal
   * probability. With a rule for near-duplicates, all texts may have one scope, and so one shard:
   * returns the highest rate.
   */
  public double predictedFalsePositiveRate() {
    DoubleStream rates =
        IntStream.range(0, shards.size()).mapToDouble(this::predictedFalsePositiveRate);
    return (parameters.near().isEmpty() ? rates.average() : rates.max()).orElse(0);
  }

  private CuckooShape shape() {
    return new CuckooShape(parameters.identityBits());
  }
}
