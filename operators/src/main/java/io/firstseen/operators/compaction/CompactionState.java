package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.serializers.GolombCodedSetSerializer;
import io.firstseen.serializers.KeyEpochsSerializer;
import io.firstseen.serializers.PendingOperationSerializer;
import io.firstseen.serializers.ShardChainSerializer;
import io.firstseen.serializers.ShardWindowsSerializer;
import io.firstseen.types.KeyEpochs;
import io.firstseen.types.ShardChain;
import io.firstseen.types.ShardWindows;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.java.tuple.Tuple3;

/**
 * The managed state of {@link CompactionOperator}; names and serializers are part of what a
 * savepoint promises.
 */
final class CompactionState {

  /** For each shard, how far it is. */
  static final ValueStateDescriptor<ShardWindows> WINDOWS =
      new ValueStateDescriptor<>("windows", ShardWindowsSerializer.INSTANCE);

  /**
   * For each shard, the rests of its live keys' hashes after the last closed window, without loss.
   * Read and written only when a window closes.
   */
  static final ValueStateDescriptor<GolombCodedSet> LIVE =
      new ValueStateDescriptor<>("live", GolombCodedSetSerializer.INSTANCE);

  /** For each shard that published something, what decides whether a delta or a base is next. */
  static final ValueStateDescriptor<ShardChain> CHAIN =
      new ValueStateDescriptor<>("chain", ShardChainSerializer.INSTANCE);

  /** With a ttl, for each shard the epochs of the keys in {@link #LIVE}. */
  static final ValueStateDescriptor<KeyEpochs> EPOCHS =
      new ValueStateDescriptor<>("epochs", KeyEpochsSerializer.INSTANCE);

  /**
   * For each shard and, as namespace, each open window's end: hash to what became of it, as {@link
   * PendingOperationSerializer} has it; without a ttl the time of an add is 0.
   */
  static final MapStateDescriptor<Long, Long> PENDING =
      new MapStateDescriptor<>(
          "operations", LongSerializer.INSTANCE, PendingOperationSerializer.INSTANCE);

  /**
   * For each run of key groups that are equally far: the identity of the set, the first group, and
   * the instant until which windows are closed.
   */
  static final ListStateDescriptor<Tuple3<String, Integer, Long>> CLOSED =
      new ListStateDescriptor<>("closed", Types.TUPLE(Types.STRING, Types.INT, Types.LONG));

  private CompactionState() {}
}
