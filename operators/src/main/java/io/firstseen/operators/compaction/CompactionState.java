package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.snapshot.ChainRule;
import io.firstseen.filters.snapshot.ShardChain;
import io.firstseen.serializers.GolombCodedSetSerializer;
import io.firstseen.serializers.KeyEpochsSerializer;
import io.firstseen.serializers.PendingOperationSerializer;
import io.firstseen.serializers.ShardChainSerializer;
import io.firstseen.serializers.ShardWindowsSerializer;
import io.firstseen.types.KeyEpochs;
import io.firstseen.types.ShardWindows;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.java.tuple.Tuple3;

/**
 * The managed state of {@link CompactionOperator}. Savepoints depend on the names and serializers.
 */
final class CompactionState {

  /** For each shard, which windows are open and closed. */
  static final ValueStateDescriptor<ShardWindows> WINDOWS =
      new ValueStateDescriptor<>("windows", ShardWindowsSerializer.INSTANCE);

  /**
   * For each shard, the full suffixes of its live keys' hashes after the last closed window. Read
   * and written only when a window closes.
   */
  static final ValueStateDescriptor<GolombCodedSet> LIVE =
      new ValueStateDescriptor<>("live", GolombCodedSetSerializer.INSTANCE);

  /**
   * For each shard that has published a base, the data from which {@link ChainRule} decides when to
   * publish the next base.
   */
  static final ValueStateDescriptor<ShardChain> CHAIN =
      new ValueStateDescriptor<>("chain", ShardChainSerializer.INSTANCE);

  /** With a ttl, for each shard the expiry windows of the keys in {@link #LIVE}. */
  static final ValueStateDescriptor<KeyEpochs> EXPIRY_WINDOWS =
      new ValueStateDescriptor<>("epochs", KeyEpochsSerializer.INSTANCE);

  /**
   * For each shard and, as the namespace, each open window's end: hash to its pending operation, as
   * {@link PendingOperationSerializer} stores it. Without a ttl the time of an add is 0.
   */
  static final MapStateDescriptor<Long, Long> PENDING =
      new MapStateDescriptor<>(
          "operations", LongSerializer.INSTANCE, PendingOperationSerializer.INSTANCE);

  /**
   * For each run of key groups with the same closed windows: {@link SnapshotSpec#identity}, the
   * first group of the run, and the instant until which windows are closed.
   */
  static final ListStateDescriptor<Tuple3<String, Integer, Long>> CLOSED =
      new ListStateDescriptor<>("closed", Types.TUPLE(Types.STRING, Types.INT, Types.LONG));

  private CompactionState() {}
}
