package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.ShardTree;
import io.firstseen.serializers.PackChainSerializer;
import io.firstseen.serializers.PublishedShardSerializer;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.types.PackChain;
import io.firstseen.types.PublishedShard;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
import org.jspecify.annotations.Nullable;

/**
 * Creates packs and lists of bases from the changes of the shards, and tracks the published state
 * of each shard.
 *
 * <p>The first pack names a new list. A later pack names a new list if, including this pack, the
 * packs since the list would have more than 1/{@value #PACKS_DIVISOR} of the bytes of the list and
 * its bases, or if it is {@value ChainRule#MAX_AGE_WINDOWS} windows newer than the list, or if
 * fewer packs would be kept with it than there are since the list. A reader that starts from bases
 * therefore loads at most 5/4 of the bytes of the bases, and a few bytes per shard in the list: 9/8
 * with the list (see {@link ChainRule}), and 10/9 of this with the packs, in addition to the newest
 * pack.
 *
 * <p>A list includes the changes of the pack that first names it, unless this pack contains whole
 * shards. In that case the list covers only the previous windows, without these shards, so that a
 * reader does not also load their bases.
 *
 * <p>In addition to the newest pack, previous packs are kept as long as their total length does not
 * exceed the bytes of the list and its bases; always at least one, and at most {@value #MAX_KEPT}.
 */
final class PackPublisher {

  /**
   * The minimum ratio of the bytes of the list and its bases to the total bytes of the packs since
   * the list.
   */
  static final int PACKS_DIVISOR = 9;

  /** The maximum number of packs that are kept in addition to the newest pack. */
  static final int MAX_KEPT = 4095;

  /** A blob that must be published. */
  @SuppressWarnings("ArrayRecordComponent")
  record Blob(BlobFrame.Kind kind, BlobReference reference, byte[] bytes) {
    static Blob of(BlobFrame.Kind kind, byte[] bytes) {
      return new Blob(kind, BlobReference.to(bytes), bytes);
    }
  }

  private final SnapshotSpec spec;
  private final ChainRule rule;
  private final MapState<Integer, PublishedShard> shards;
  // (Shard, number) to the sections since the shard's newest base, numbered from 0.
  private final MapState<Tuple2<Integer, Integer>, byte[]> sections;
  private final ValueState<PackChain> chain;

  PackPublisher(SnapshotSpec spec, RuntimeContext context) {
    this.spec = spec;
    rule = new ChainRule(spec.setParameters(), spec.windowMillis());
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

  /**
   * Creates the pack of some changes.
   *
   * @param changes reports of changed shards, by shard; at least one
   * @param sequence the sequence of the pack
   * @return the new list of bases, if a list is due, followed by the pack
   */
  List<Blob> publish(SortedMap<Integer, ShardSnapshot> changes, long sequence, long windowEndMillis)
      throws Exception {
    SortedMap<Integer, Section> ofPack = new TreeMap<>();
    Set<Integer> whole = new HashSet<>();
    for (ShardSnapshot report : changes.values()) {
      Section section = Section.read(ByteBuffer.wrap(report.change().section()));
      ofPack.put(report.shard(), section);
      if (section.isWhole()) {
        whole.add(report.shard());
      }
    }
    PackChain before = chain.value();
    Blob pack = before == null ? null : pack(before, sequence, ofPack);
    if (pack != null && !isListDue(before, pack.reference().bytes(), windowEndMillis)) {
      take(changes);
      long packsSince = before.packsSince() + pack.reference().bytes();
      chain.update(withPack(before, pack.reference(), packsSince));
      return List.of(pack);
    }
    boolean isBeforePack = !whole.isEmpty();
    if (!isBeforePack) {
      take(changes);
    }
    Blob list = list(isBeforePack ? sequence - 1 : sequence, whole);
    PackChain listed = withList(before, list.reference(), whole, windowEndMillis);
    pack = pack(listed, sequence, ofPack);
    chain.update(withPack(listed, pack.reference(), isBeforePack ? pack.reference().bytes() : 0));
    if (isBeforePack) {
      take(changes);
    }
    // The list does not change if none of the omitted shards were in it before.
    boolean isKnown = before != null && list.reference().equals(before.list());
    return isKnown ? List.of(pack) : List.of(list, pack);
  }

  private void take(SortedMap<Integer, ShardSnapshot> changes) throws Exception {
    for (ShardSnapshot report : changes.values()) {
      take(report);
    }
  }

  /** Records the report of a changed shard. */
  private void take(ShardSnapshot report) throws Exception {
    int shard = report.shard();
    ShardSnapshot.SetChange change = report.change();
    PublishedShard before = shards.get(shard);
    BlobReference listedBase = before == null ? null : before.listedBase();
    BlobReference base;
    int sectionCount;
    if (change.base() == null) {
      base = before.base();
      sectionCount = before.sections() + 1;
      sections.put(Tuple2.of(shard, before.sections()), change.section());
    } else {
      base = change.base().reference();
      sectionCount = 0;
      for (int i = 0; before != null && i < before.sections(); i++) {
        sections.remove(Tuple2.of(shard, i));
      }
    }
    shards.put(
        shard,
        new PublishedShard(change.setDigest(), report.liveCount(), base, sectionCount, listedBase));
  }

  private boolean isListDue(PackChain before, long bytes, long windowEndMillis) {
    return (before.packsSince() + bytes) * PACKS_DIVISOR > before.basesBytes()
        || bytesOf(keptBefore(before)) < before.packsSince()
        || rule.isOld(before.listWindowEndMillis(), windowEndMillis);
  }

  private Blob list(long sequence, Set<Integer> leftOut) throws Exception {
    List<BaseList.Shard> all = new ArrayList<>();
    for (int number = 0; number < spec.snapshotShards(); number++) {
      PublishedShard shard = leftOut.contains(number) ? null : shards.get(number);
      List<Section> since = new ArrayList<>();
      for (int i = 0; shard != null && i < shard.sections(); i++) {
        since.add(Section.read(ByteBuffer.wrap(sections.get(Tuple2.of(number, i)))));
      }
      all.add(shard == null ? BaseList.Shard.NONE : new BaseList.Shard(shard.base(), since));
    }
    return Blob.of(BlobFrame.Kind.BASE_LIST, new BaseList(spec.setName(), sequence, all).toBytes());
  }

  private PackChain withList(
      @Nullable PackChain before, BlobReference list, Set<Integer> leftOut, long windowEndMillis)
      throws Exception {
    long basesBytes = list.bytes();
    for (int number = 0; number < spec.snapshotShards(); number++) {
      PublishedShard shard = shards.get(number);
      if (shard != null && leftOut.contains(number)) {
        shards.put(number, shard.withListed(null));
      } else if (shard != null) {
        basesBytes += shard.base().bytes();
        shards.put(number, shard.withListed(shard.base()));
      }
    }
    return new PackChain(
        before == null ? List.of() : before.kept(),
        before == null ? 0 : before.packBytes(),
        list,
        basesBytes,
        windowEndMillis,
        0);
  }

  private Blob pack(PackChain chain, long sequence, SortedMap<Integer, Section> ofPack) {
    long keptBytes = bytesOf(keptBefore(chain));
    Pack pack =
        new Pack(
            spec.setName(),
            sequence,
            chain.newest(),
            chain.packBytes() - keptBytes,
            chain.list(),
            chain.basesBytes(),
            chain.packsSince(),
            ofPack);
    return Blob.of(BlobFrame.Kind.PACK, pack.toBytes());
  }

  private static PackChain withPack(PackChain chain, BlobReference pack, long packsSince) {
    List<BlobReference> kept = new ArrayList<>(keptBefore(chain));
    kept.add(pack);
    return new PackChain(
        kept,
        chain.packBytes() + pack.bytes(),
        chain.list(),
        chain.basesBytes(),
        chain.listWindowEndMillis(),
        packsSince);
  }

  private static long bytesOf(List<BlobReference> blobs) {
    return blobs.stream().mapToLong(BlobReference::bytes).sum();
  }

  /** Returns the packs that are kept in addition to the next pack. */
  private static List<BlobReference> keptBefore(PackChain chain) {
    List<BlobReference> kept = chain.kept();
    int first = kept.size();
    long bytes = 0;
    while (first > 0 && kept.size() - first < MAX_KEPT) {
      bytes += kept.get(first - 1).bytes();
      if (bytes > chain.basesBytes() && first < kept.size()) {
        break;
      }
      first--;
    }
    return kept.subList(first, kept.size());
  }

  /** Returns the manifest of the newest sets, without times. */
  Manifest manifest(long sequence, long windowEndMillis) throws Exception {
    List<ShardTree.Leaf> leaves = new ArrayList<>();
    long count = 0;
    for (int number = 0; number < spec.snapshotShards(); number++) {
      PublishedShard shard = shards.get(number);
      leaves.add(
          shard == null
              ? ShardTree.Leaf.NONE
              : new ShardTree.Leaf(shard.setDigest(), shard.liveCount()));
      count += shard == null ? 0 : shard.liveCount();
    }
    PackChain packs = chain.value();
    return Manifest.of(
        spec.setName(),
        sequence,
        windowEndMillis - spec.windowMillis(),
        windowEndMillis,
        spec.setParameters(),
        count,
        ShardTree.root(leaves),
        packs == null ? null : packs.newest(),
        packs == null ? 0 : packs.packBytes());
  }

  /**
   * Returns the blobs that readers of the newest pack may need, and the bases that the next list
   * will name.
   */
  Map<BlobReference, BlobFrame.Kind> inUse() throws Exception {
    Map<BlobReference, BlobFrame.Kind> inUse = new HashMap<>();
    PackChain packs = chain.value();
    if (packs != null) {
      packs.kept().forEach(pack -> inUse.put(pack, BlobFrame.Kind.PACK));
      inUse.put(packs.list(), BlobFrame.Kind.BASE_LIST);
    }
    for (PublishedShard shard : shards.values()) {
      inUse.put(shard.base(), BlobFrame.Kind.BASE);
      if (shard.listedBase() != null) {
        inUse.put(shard.listedBase(), BlobFrame.Kind.BASE);
      }
    }
    return inUse;
  }
}
