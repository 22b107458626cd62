package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.ChainRule;
import io.firstseen.filters.snapshot.PackChain;
import io.firstseen.filters.snapshot.PackWriter;
import io.firstseen.filters.snapshot.PublishedShard;
import io.firstseen.serializers.PackChainSerializer;
import io.firstseen.serializers.PublishedShardSerializer;
import io.firstseen.serializers.ShardSnapshot;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.java.tuple.Tuple2;

/** The published state of a set in Flink's state, from which {@link PackWriter} creates packs. */
final class PackPublisher implements PackWriter.State<Exception> {
  private final MapState<Integer, PublishedShard> shards;
  // (Shard, number) to the sections since the shard's newest base, numbered from 0.
  private final MapState<Tuple2<Integer, Integer>, byte[]> sections;
  private final ValueState<PackChain> chain;

  private PackPublisher(RuntimeContext context) {
    shards =
        context.getMapState(
            new MapStateDescriptor<>(
                "shards", IntSerializer.INSTANCE, PublishedShardSerializer.INSTANCE));
    sections =
        context.getMapState(
            new MapStateDescriptor<>(
                "sections",
                Types.TUPLE(Types.INT, Types.INT),
                PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    chain = context.getState(new ValueStateDescriptor<>("packs", PackChainSerializer.INSTANCE));
  }

  /** Creates the writer of a set whose state is in the context of an operator. */
  static PackWriter<Exception> writer(SnapshotSpec spec, RuntimeContext context) {
    return new PackWriter<>(
        spec.setName(),
        new ChainRule(spec.setParameters(), spec.windowMillis()),
        new PackPublisher(context));
  }

  @Override
  public PublishedShard shard(int number) throws Exception {
    return shards.get(number);
  }

  @Override
  public void putShard(int number, PublishedShard shard) throws Exception {
    shards.put(number, shard);
  }

  @Override
  public byte[] section(int shard, int index) throws Exception {
    return sections.get(Tuple2.of(shard, index));
  }

  @Override
  public void putSection(int shard, int index, byte[] section) throws Exception {
    sections.put(Tuple2.of(shard, index), section);
  }

  @Override
  public void removeSection(int shard, int index) throws Exception {
    sections.remove(Tuple2.of(shard, index));
  }

  @Override
  public PackChain packs() throws Exception {
    return chain.value();
  }

  @Override
  public void putPacks(PackChain packs) throws Exception {
    chain.update(packs);
  }

  static SortedMap<Integer, PackWriter.Change> changes(SortedMap<Integer, ShardSnapshot> reports) {
    SortedMap<Integer, PackWriter.Change> changes = new TreeMap<>();
    for (ShardSnapshot report : reports.values()) {
      ShardSnapshot.SetChange change = report.change();
      changes.put(
          report.shard(),
          new PackWriter.Change(
              report.liveCount(),
              change.setDigest(),
              change.section(),
              change.base() == null ? null : change.base().reference()));
    }
    return changes;
  }
}
