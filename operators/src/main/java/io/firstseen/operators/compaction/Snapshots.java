package io.firstseen.operators.compaction;

import io.firstseen.filters.key.Shards;
import io.firstseen.operators.ShardKeys;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * Windowed snapshots of a stream of accepted operations.
 *
 * <pre>{@code
 * DataStream<HashedOperation> operations = …; // with event time and watermarks
 * SnapshotSpec spec =
 *     SnapshotSpec.of("spam", 3_600_000, 16, 0.001, KeyHash.fromFile(path), Canonicaliser.TEXT);
 * SingleOutputStreamOperator<SnapshotRecord> records = Snapshots.of(operations, spec);
 * }</pre>
 *
 * <p>While event time advances, the same sequence of operations and watermarks gives the same
 * blobs, byte for byte, and the same manifests except for their times, at any parallelism and after
 * any recovery. Only the order of the blobs between two manifests may differ.
 */
public final class Snapshots {

  /** The maximum parallelism of the compaction; fixed, because the state's keys depend on it. */
  public static final int MAX_PARALLELISM = 128;

  /** The name of the accumulator that counts held windows, see {@link ChangeBounds}. */
  public static final String HELD_WINDOWS = "firstseen-snapshots-held-windows";

  private Snapshots() {}

  /**
   * Like {@link #of(DataStream, SnapshotSpec, Publication)}, but publishes every window and does
   * not remove blobs.
   */
  public static SingleOutputStreamOperator<SnapshotRecord> of(
      DataStream<HashedOperation> operations, SnapshotSpec spec) {
    return of(operations, spec, Publication.OF_ALL);
  }

  /**
   * Adds the snapshot operators to a job. Their uids are the set's name followed by {@code
   * -compaction} and {@code -manifest}, so that a job can publish several sets.
   *
   * @param operations accepted adds and deletes. Their event time, at least 0, is the timestamp of
   *     the record. Operations on one key must arrive in order. Duplicate adds and unknown deletes
   *     are ignored
   * @param spec the set to publish
   * @param publication which windows are held, and when blobs are removed
   * @return blobs, manifests and removals of blobs, in one stream of parallelism 1. Write them in
   *     the order of the stream
   */
  public static SingleOutputStreamOperator<SnapshotRecord> of(
      DataStream<HashedOperation> operations, SnapshotSpec spec, Publication publication) {
    String setName = spec.setName();
    return operations
        .keyBy(shardKeys(spec.snapshotShards()), Types.INT)
        .transform(
            setName + "-compaction",
            TypeInformation.of(ShardSnapshot.class),
            new CompactionOperator(spec, publication))
        .uid(setName + "-compaction")
        .setMaxParallelism(MAX_PARALLELISM)
        .keyBy(snapshot -> setName, Types.STRING)
        .process(new ManifestFunction(spec, publication), TypeInformation.of(SnapshotRecord.class))
        .name(setName + "-manifest")
        .uid(setName + "-manifest")
        .setParallelism(1)
        .setMaxParallelism(1);
  }

  /** Selects the Flink key of a hash's shard. */
  static KeySelector<HashedOperation, Integer> shardKeys(int shardCount) {
    Shards shards = new Shards(shardCount);
    ShardKeys keys = ShardKeys.of(shardCount, MAX_PARALLELISM);
    return operation -> keys.keyOf(shards.shardOf(operation.hash()));
  }
}
