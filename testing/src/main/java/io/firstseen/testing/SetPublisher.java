package io.firstseen.testing;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.BaseList;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.ShardTree;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Publishes a set as the jobs do, window by window, and keeps all its blobs in memory. */
public final class SetPublisher implements BlobLoader {
  private static final int REBASE_SHARE = 8;

  private final String setName;
  private final SetParameters parameters;
  private final Map<String, byte[]> blobs = new HashMap<>();
  private final @Nullable Snapshot[] snapshots;
  private final @Nullable BlobReference[] bases;
  private final List<List<Section>> sinceBase = new ArrayList<>();
  private final Deque<Kept> kept = new ArrayDeque<>();
  private List<byte[]> written = new ArrayList<>();
  private @Nullable BaseList list;
  private @Nullable BlobReference listReference;
  private long packBytes;

  /** A pack and the bytes of all packs up to it. */
  private record Kept(BlobReference reference, long sequence, long end) {

    long begin() {
      return end - reference.bytes();
    }
  }

  /**
   * A window.
   *
   * @param manifest its manifest, published at 0
   * @param blobs its blobs, in the order in which they go out
   */
  public record Window(Manifest manifest, List<byte[]> blobs) {

    /** Writes the blobs into a directory. */
    public Window writeBlobs(SnapshotDirectory directory) throws SnapshotException {
      for (byte[] blob : blobs) {
        directory.writeBlob(BlobReference.to(blob).digest(), blob);
      }
      return this;
    }

    /** Writes the blobs and the manifest into a directory. */
    public Window write(SnapshotDirectory directory) throws SnapshotException {
      writeBlobs(directory);
      directory.writeManifest(manifest);
      return this;
    }
  }

  /** A publisher of a set that never held a key. */
  public SetPublisher(String setName, SetParameters parameters) {
    this(setName, parameters, 0);
  }

  /**
   * A publisher that has lost its state.
   *
   * @param packBytes the bytes of the packs before, which no reader can use
   */
  public SetPublisher(String setName, SetParameters parameters, long packBytes) {
    this.packBytes = packBytes;
    this.setName = setName;
    this.parameters = parameters;
    int shards = parameters.shards().count();
    this.snapshots = new Snapshot[shards];
    this.bases = new BlobReference[shards];
    for (int shard = 0; shard < shards; shard++) {
      sinceBase.add(new ArrayList<>());
    }
  }

  /** Publishes a window, at whose end these hashes are live; repeats are allowed. */
  public Window publish(long sequence, long startMillis, long endMillis, long... hashes) {
    written = new ArrayList<>();
    SortedMap<Integer, Section> sections = new TreeMap<>();
    for (int shard = 0; shard < snapshots.length; shard++) {
      int number = shard;
      long[] ofShard =
          LongStream.of(hashes)
              .filter(hash -> parameters.shards().shardOf(hash) == number)
              .distinct()
              .toArray();
      if (ofShard.length > 0 || snapshots[shard] != null) {
        change(
            ofShard,
            new SnapshotParameters(parameters, setName, shard, sequence, startMillis, endMillis),
            sections);
      }
    }
    if (!sections.isEmpty()) {
      writePack(sequence, sections);
    }
    long count = 0;
    List<ShardTree.Leaf> leaves = new ArrayList<>();
    for (Snapshot snapshot : snapshots) {
      count += snapshot == null ? 0 : snapshot.header().hashCount();
      leaves.add(ShardTree.Leaf.of(snapshot));
    }
    Manifest manifest =
        Manifest.of(
            setName,
            sequence,
            startMillis,
            endMillis,
            parameters,
            count,
            ShardTree.root(leaves),
            kept.isEmpty() ? null : kept.getLast().reference,
            kept.isEmpty() ? 0 : packBytes);
    return new Window(manifest, List.copyOf(written));
  }

  private void change(
      long[] hashes, SnapshotParameters ofShard, SortedMap<Integer, Section> sections) {
    int shard = ofShard.shard();
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
    if (!fits || bytesSince > bases[shard].bytes() / REBASE_SHARE) {
      bases[shard] = write(Base.write(setName, shard, Section.whole(after)));
      since.clear();
    }
  }

  private void writePack(long sequence, SortedMap<Integer, Section> sections) {
    long since = packsSinceList();
    long bytes = sections.values().stream().mapToLong(Section::length).sum();
    if (list == null || since + bytes > basesBytes() / REBASE_SHARE) {
      writeList(sequence);
      since = 0;
    }
    BlobReference before = kept.isEmpty() ? null : kept.getLast().reference;
    while (kept.size() > 1
        && kept.getFirst().sequence <= list.sequence()
        && packBytes - kept.getFirst().begin() > basesBytes()) {
      kept.removeFirst();
    }
    long keptFrom = kept.isEmpty() ? packBytes : kept.getFirst().begin();
    byte[] pack =
        new Pack(setName, sequence, before, keptFrom, listReference, basesBytes(), since, sections)
            .toBytes();
    packBytes += pack.length;
    kept.addLast(new Kept(write(pack), sequence, packBytes));
  }

  private void writeList(long sequence) {
    List<BaseList.Shard> shards = new ArrayList<>();
    for (int shard = 0; shard < bases.length; shard++) {
      shards.add(new BaseList.Shard(bases[shard], sinceBase.get(shard)));
    }
    list = new BaseList(setName, sequence, shards);
    listReference = write(list.toBytes());
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

  private BlobReference write(byte[] blob) {
    BlobReference reference = BlobReference.to(blob);
    blobs.put(reference.digest(), blob);
    written.add(blob);
    return reference;
  }

  /** The snapshots of the newest window; null where a shard never held a key. */
  public @Nullable Snapshot[] snapshots() {
    return Arrays.copyOf(snapshots, snapshots.length);
  }

  /** The newest list of bases. */
  public BlobReference list() {
    return listReference;
  }

  /** The newest base of a shard. */
  public BlobReference base(int shard) {
    return bases[shard];
  }

  /** The packs that are kept, the oldest first. */
  public List<BlobReference> keptPacks() {
    return kept.stream().map(Kept::reference).toList();
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
