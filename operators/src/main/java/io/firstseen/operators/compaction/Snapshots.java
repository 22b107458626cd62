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
 * <p>For one sequence of operations and watermarks the records are the same, byte for byte, at any
 * parallelism and after any recovery; only blobs between two manifests may come in another order.
 */
public final class Snapshots {

  /** The highest parallelism of the compaction; fixed, since the state's keys depend on it. */
  public static final int MAX_PARALLELISM = 128;

  /** The accumulator of windows that were held, see {@link ChangeBounds}. */
  public static final String HELD_WINDOWS = "firstseen-snapshots-held-windows";

  private Snapshots() {}

  /** Like the other one, but publishes every window and removes nothing. */
  public static SingleOutputStreamOperator<SnapshotRecord> of(
      DataStream<HashedOperation> operations, SnapshotSpec spec) {
    return of(operations, spec, Publication.OF_ALL);
  }

  /**
   * Adds the snapshot operators to a job. Their uids are the set's name followed by {@code
   * -compaction} and {@code -manifest}, so that a job can make several sets.
   *
   * @param operations accepted adds and removals with their event time, at least 0, as the records'
   *     timestamps; those on one key must arrive in their order. Duplicate adds and deletes of
   *     unknown keys are ignored
   * @param spec the set to make
   * @param publication which windows are held, and when blobs are removed
   * @return blobs, manifests and removals, in one ordered stream of parallelism 1, to be written in
   *     that order
   */
  public static SingleOutputStreamOperator<SnapshotRecord> of(
      DataStream<HashedOperation> operations, SnapshotSpec spec, Publication publication) {
    String setName = spec.setName();
    return operations
        .keyBy(new ByShard(spec.snapshotShards()), Types.INT)
        .transform(
            setName + "-compaction",
            TypeInformation.of(ShardSnapshot.class),
            new CompactionOperator(spec))
        .uid(setName + "-compaction")
        .setMaxParallelism(MAX_PARALLELISM)
        .keyBy(snapshot -> setName, Types.STRING)
        .process(new ManifestFunction(spec, publication), TypeInformation.of(SnapshotRecord.class))
        .name(setName + "-manifest")
        .uid(setName + "-manifest")
        .setParallelism(1)
        .setMaxParallelism(1);
  }

  /** Sends a hash to the Flink key that stands for its shard. */
  static final class ByShard implements KeySelector<HashedOperation, Integer> {
    private static final long serialVersionUID = 1L;

    private final int shardCount;
    private transient Shards shards;
    private transient ShardKeys keys;

    ByShard(int shardCount) {
      this.shardCount = shardCount;
    }

    @Override
    public Integer getKey(HashedOperation operation) {
      if (keys == null) {
        shards = new Shards(shardCount);
        keys = ShardKeys.of(shardCount, MAX_PARALLELISM);
      }
      return keys.keyOf(shards.shardOf(operation.hash()));
    }
  }
}
