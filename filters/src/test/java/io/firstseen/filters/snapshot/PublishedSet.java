package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.gcs.UnsignedSort;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** A publisher of a set in memory. All blobs that it ever wrote stay. */
final class PublishedSet implements BlobLoader {
  static final long WINDOW_MILLIS = 3_600_000;

  /** Decides from the bytes since a base, or since the bases, and the bytes of those. */
  @FunctionalInterface
  interface Rule {
    boolean holds(long bytesSince, long bytes);
  }

  Rule newBase = (since, bytes) -> since > bytes / 8;
  Rule newList = (since, bytes) -> since > bytes / 8;
  long startMillis;

  private final String setName;
  private final SetParameters parameters;
  private final Map<String, byte[]> blobs = new LinkedHashMap<>();
  private final Snapshot[] snapshots;
  private final BlobReference[] bases;
  private final List<List<Section>> sinceBase = new ArrayList<>();
  private final Deque<Kept> kept = new ArrayDeque<>();
  private BaseList list;
  private BlobReference listReference;
  private long packBytes;

  /** A pack and the bytes of all packs up to it. */
  private record Kept(BlobReference reference, long sequence, long end) {

    long begin() {
      return end - reference.bytes();
    }
  }

  PublishedSet(String setName, SetParameters parameters) {
    this.setName = setName;
    this.parameters = parameters;
    int shards = parameters.shards().count();
    this.snapshots = new Snapshot[shards];
    this.bases = new BlobReference[shards];
    for (int shard = 0; shard < shards; shard++) {
      sinceBase.add(new ArrayList<>());
    }
  }

  /** Publishes the window of a sequence, at whose end these hashes are live. */
  Manifest window(long sequence, Collection<Long> hashes) {
    SortedMap<Integer, Section> sections = new TreeMap<>();
    long[] sorted =
        UnsignedSort.parallelSorted(hashes.stream().mapToLong(Long::longValue).toArray());
    int to = 0;
    for (int shard = 0; shard < snapshots.length; shard++) {
      int from = to;
      while (to < sorted.length && parameters.shards().shardOf(sorted[to]) == shard) {
        to++;
      }
      long[] ofShard = Arrays.copyOfRange(sorted, from, to);
      if (ofShard.length > 0 || snapshots[shard] != null) {
        change(sequence, shard, ofShard, sections);
      }
    }
    if (!sections.isEmpty()) {
      pack(sequence, sections);
    }
    return Manifest.of(
        setName,
        sequence,
        startMillis + sequence * WINDOW_MILLIS,
        startMillis + (sequence + 1) * WINDOW_MILLIS,
        parameters,
        Arrays.stream(snapshots)
            .mapToLong(snapshot -> snapshot == null ? 0 : snapshot.header().hashCount())
            .sum(),
        ShardTree.root(Arrays.stream(snapshots).map(ShardTree.Leaf::of).toList()),
        kept.isEmpty() ? null : kept.getLast().reference,
        packBytes);
  }

  private void change(
      long sequence, int shard, long[] hashes, SortedMap<Integer, Section> sections) {
    SnapshotParameters ofShard =
        new SnapshotParameters(
            parameters,
            setName,
            shard,
            sequence,
            startMillis + sequence * WINDOW_MILLIS,
            startMillis + (sequence + 1) * WINDOW_MILLIS);
    Snapshot before = snapshots[shard];
    boolean fits =
        before != null
            && before.header().universe().keepsRate(hashes.length, parameters.falsePositiveRate());
    Universe universe =
        fits
            ? before.header().universe()
            : parameters.universeFor(hashes.length + hashes.length / 4);
    Snapshot after = Snapshot.build(hashes, universe, ofShard);
    if (fits
        && before.header().setDigest().equals(after.header().setDigest())
        && before.header().hashCount() == after.header().hashCount()) {
      return;
    }
    Section section = fits ? Section.between(before, after) : Section.whole(after);
    sections.put(shard, section);
    snapshots[shard] = after;
    List<Section> since = sinceBase.get(shard);
    since.add(section);
    long bytesSince = since.stream().mapToLong(Section::length).sum();
    if (!fits || newBase.holds(bytesSince, bases[shard].bytes())) {
      bases[shard] = put(Base.write(setName, shard, Section.whole(after)));
      since.clear();
    }
  }

  private void pack(long sequence, SortedMap<Integer, Section> sections) {
    long since = packsSinceList();
    long bytes = sections.values().stream().mapToLong(Section::length).sum();
    if (list == null || newList.holds(since + bytes, basesBytes())) {
      List<BaseList.Shard> shards = new ArrayList<>();
      for (int shard = 0; shard < bases.length; shard++) {
        shards.add(new BaseList.Shard(bases[shard], sinceBase.get(shard)));
      }
      list = new BaseList(setName, sequence, shards);
      listReference = put(list.toBytes());
      since = 0;
    }
    BlobReference before = kept.isEmpty() ? null : kept.getLast().reference;
    while (kept.size() > 1
        && kept.getFirst().sequence <= list.sequence()
        && packBytes - kept.getFirst().begin() > basesBytes()) {
      kept.removeFirst();
    }
    long keptFrom = kept.isEmpty() ? 0 : kept.getFirst().begin();
    byte[] blob =
        new Pack(setName, sequence, before, keptFrom, listReference, basesBytes(), since, sections)
            .toBytes();
    packBytes += blob.length;
    kept.addLast(new Kept(put(blob), sequence, packBytes));
  }

  private long packsSinceList() {
    return kept.stream()
        .filter(pack -> list.sequence() < pack.sequence)
        .mapToLong(pack -> pack.reference.bytes())
        .sum();
  }

  private long basesBytes() {
    return listReference.bytes() + list.bases().stream().mapToLong(BlobReference::bytes).sum();
  }

  BlobReference put(byte[] blob) {
    BlobReference reference = BlobReference.to(blob);
    blobs.put(reference.digest(), blob);
    return reference;
  }

  /** The snapshots of the newest window. */
  Snapshot[] snapshots() {
    return snapshots.clone();
  }

  /** The newest list of bases. */
  BaseList list() {
    return list;
  }

  BlobReference listReference() {
    return listReference;
  }

  /** The packs that are kept, the oldest first. */
  List<BlobReference> keptPacks() {
    return kept.stream().map(Kept::reference).toList();
  }

  /** The digests of all blobs that a reader of the newest manifest may need. */
  Set<String> needed() {
    Set<String> needed = new LinkedHashSet<>();
    kept.forEach(pack -> needed.add(pack.reference.digest()));
    needed.add(listReference.digest());
    list.bases().forEach(base -> needed.add(base.digest()));
    return needed;
  }

  /** The blobs by their digests, in the order in which they were written. May be changed. */
  Map<String, byte[]> blobs() {
    return blobs;
  }

  @Override
  public ByteBuffer load(BlobReference blob) throws MissingBlobsException {
    byte[] bytes = blobs.get(blob.digest());
    if (bytes == null) {
      throw new MissingBlobsException(List.of(blob));
    }
    return ByteBuffer.wrap(bytes);
  }
}
