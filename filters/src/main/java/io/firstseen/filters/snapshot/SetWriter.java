package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.gcs.UnsignedSort;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes the blobs and the manifest of a set from the list of all its keys, window by window. The
 * bytes are those that a snapshot job writes for the same keys: both decide with {@link ChainRule}
 * and {@link PackWriter}. Keeps the sets of the previous window in memory, and the hashes of a
 * window while it is written: about 24 bytes per key.
 *
 * <p>Not safe for use by several threads at once. After an exception, the writer must not be used.
 */
public final class SetWriter {
  /** The maximum total length of the sections of a window, as a blob has fewer than 2^31 bytes. */
  private static final long MAX_SECTION_BYTES = 1L << 30;

  private final String setName;
  private final SetParameters parameters;
  private final @Nullable Snapshot[] snapshots;
  private final @Nullable ShardChain[] chains;
  private final Memory state;
  private long firstPosition;
  private long sequence;

  /**
   * The blobs and the manifest of a window.
   *
   * @param manifest the manifest, unsigned, without expiry and published at 0
   * @param blobs the new blobs of the window; the manifest may also need earlier ones
   */
  public record Window(Manifest manifest, List<PackWriter.Blob> blobs) {

    /** Writes the blobs into a directory, but not the manifest. */
    public void writeBlobs(SnapshotDirectory directory) throws SnapshotException {
      for (PackWriter.Blob blob : blobs) {
        directory.writeBlob(blob.reference().digest(), blob.bytes());
      }
    }
  }

  /** Creates the writer of a set that has never held a key. */
  public SetWriter(String setName, SetParameters parameters) {
    this(setName, parameters, 0);
  }

  /**
   * Creates the writer of a set whose blobs and writer are lost. The first window contains all
   * shards whole, and no earlier pack leads to it.
   *
   * @param packBytes {@link Manifest#packBytes} of the newest manifest
   */
  public SetWriter(String setName, SetParameters parameters, long packBytes) {
    this(setName, parameters, new Snapshot[parameters.shards().count()], 0);
    firstPosition = packBytes;
  }

  private SetWriter(
      String setName, SetParameters parameters, @Nullable Snapshot[] snapshots, long sequence) {
    this.setName = SnapshotTopicFormat.requireSetName(setName);
    this.parameters = parameters;
    this.snapshots = snapshots;
    this.chains = new ShardChain[snapshots.length];
    this.state = new Memory(snapshots.length);
    this.sequence = sequence;
  }

  /**
   * Creates a writer that continues after a published set, from the {@link #toBytes} of its writer.
   *
   * @param set the set of the newest manifest
   * @throws SnapshotException if the bytes are not the state of the writer of this manifest
   */
  public static SetWriter of(byte[] state, SnapshotSet set) throws SnapshotException {
    Manifest manifest = set.manifest();
    SetWriter writer =
        new SetWriter(
            manifest.setName(), manifest.parameters(), set.snapshots(), manifest.sequence());
    SetWriterFormat.read(state, manifest, writer.snapshots, writer.chains, writer.state);
    return writer;
  }

  /**
   * Creates a writer that continues after a published set whose writer has lost its state. The next
   * window contains all shards whole.
   *
   * @param set the set of the newest manifest
   * @param loader loads the packs of that manifest
   * @throws IOException if the packs cannot be read
   */
  public static SetWriter after(SnapshotSet set, BlobLoader loader) throws IOException {
    Manifest manifest = set.manifest();
    SetWriter writer =
        new SetWriter(
            manifest.setName(), manifest.parameters(), set.snapshots(), manifest.sequence());
    if (manifest.pack() != null) {
      ManifestBlobs blobs = new ManifestBlobs(manifest, loader);
      Pack newest = blobs.newestPack();
      BaseList list = blobs.baseList(newest);
      List<BlobReference> kept = blobs.keptPacks(newest);
      Collections.reverse(kept);
      boolean isListed = list.sequence() >= newest.sequence();
      writer.state.packs =
          new PackChain(
              kept,
              manifest.packBytes(),
              newest.bases(),
              newest.basesBytes(),
              manifest.windowEndMillis(),
              isListed ? 0 : newest.packsSince() + manifest.pack().bytes());
    }
    return writer;
  }

  /**
   * Writes a window, at whose end the set holds the keys of these hashes.
   *
   * @param newSequence above the sequence of the previous window
   * @param startMillis the start of the window
   * @param endMillis the end of the window, after its start and after the end of the previous one
   * @param hashes the hashes in any order, repeats allowed; not changed
   * @throws IllegalArgumentException if the false-positive rate needs more values than there are
   *     suffixes, or if the changes of the window are longer than a pack can be
   */
  public Window write(long newSequence, long startMillis, long endMillis, long... hashes) {
    if (newSequence <= sequence) {
      throw new IllegalArgumentException(
          "the sequence must be above %d, got %d".formatted(sequence, newSequence));
    }
    long[] sorted = UnsignedSort.parallelSorted(hashes);
    ChainRule rule = new ChainRule(parameters, endMillis - startMillis);
    PackWriter<RuntimeException> packs = new PackWriter<>(setName, rule, state, firstPosition);
    List<PackWriter.Blob> blobs = new ArrayList<>();
    SortedMap<Integer, PackWriter.Change> changes = new TreeMap<>();
    int to = 0;
    long bytes = 0;
    for (int shard = 0; shard < snapshots.length; shard++) {
      int from = to;
      while (to < sorted.length && parameters.shards().shardOf(sorted[to]) == shard) {
        to++;
      }
      Listed keys =
          new Listed(
              Arrays.copyOfRange(sorted, from, to),
              snapshots[shard],
              new SnapshotParameters(
                  parameters, setName, shard, newSequence, startMillis, endMillis));
      if (keys.isNothing()) {
        continue;
      }
      ShardCut cut = ShardCut.of(keys, chains[shard], rule, setName, shard, endMillis);
      if (chains[shard] != null && keys.isUnchanged()) {
        continue;
      }
      snapshots[shard] = keys.after;
      chains[shard] = cut.chain();
      BlobReference base = null;
      if (cut.base() != null) {
        PackWriter.Blob blob = PackWriter.Blob.of(BlobFrame.Kind.BASE, cut.base());
        base = blob.reference();
        blobs.add(blob);
      }
      byte[] section = new byte[cut.section().length()];
      cut.section().toByteBuffer().get(section);
      changes.put(shard, new PackWriter.Change(keys.count(), cut.setDigest(), section, base));
      bytes += section.length;
    }
    if (bytes > MAX_SECTION_BYTES) {
      throw new IllegalArgumentException(
          "the changes of a window must have at most %d bytes, got %d: divide the keys into several sets"
              .formatted(MAX_SECTION_BYTES, bytes));
    }
    sequence = newSequence;
    if (!changes.isEmpty()) {
      blobs.addAll(packs.publish(changes, sequence, endMillis));
    }
    return new Window(packs.manifest(sequence, endMillis), List.copyOf(blobs));
  }

  /**
   * Returns the blobs that readers of the newest manifest may need, and the bases that the next
   * list will name.
   */
  public Set<BlobReference> inUse() {
    // The length of a window does not matter.
    return new PackWriter<>(setName, new ChainRule(parameters, 1), state).inUse().keySet();
  }

  /** Returns the state after the newest window, for {@link #of}. */
  public byte[] toBytes() {
    return SetWriterFormat.write(setName, sequence, root(), chains, state);
  }

  private String root() {
    return ShardTree.root(Arrays.stream(snapshots).map(ShardTree.Leaf::of).toList());
  }

  /** The keys of a shard as a sorted list, and its previous set. */
  private static final class Listed implements ShardCut.Keys<RuntimeException> {
    private final long[] sorted;
    private final @Nullable Snapshot before;
    private final SnapshotParameters parameters;
    private @Nullable Snapshot after;

    Listed(long[] sorted, @Nullable Snapshot before, SnapshotParameters parameters) {
      this.sorted = sorted;
      this.before = before;
      this.parameters = parameters;
    }

    /** Returns whether the shard has never held a key. */
    boolean isNothing() {
      return sorted.length == 0 && before == null;
    }

    boolean isUnchanged() {
      return before != null
          && before.header().setDigest().equals(after.header().setDigest())
          && before.header().hashCount() == after.header().hashCount();
    }

    @Override
    public long count() {
      return Snapshot.distinct(sorted);
    }

    @Override
    public ShardCut.Values change(Universe universe, @Nullable SectionWriter section) {
      after = Snapshot.ofSorted(sorted, universe, parameters);
      if (section != null) {
        Section.addDifferences(before, after, section);
      }
      return new ShardCut.Values(after.header().setDigest(), after.header().count());
    }

    @Override
    public PrimitiveIterator.OfLong values(Universe universe) {
      return after.values();
    }
  }

  static final class Memory implements PackWriter.State<RuntimeException> {
    private final @Nullable PublishedShard[] shards;
    private final List<List<byte[]>> sections = new ArrayList<>();
    private @Nullable PackChain packs;

    Memory(int shardCount) {
      shards = new PublishedShard[shardCount];
      for (int shard = 0; shard < shardCount; shard++) {
        sections.add(new ArrayList<>());
      }
    }

    @Override
    public @Nullable PublishedShard shard(int number) {
      return shards[number];
    }

    @Override
    public void putShard(int number, PublishedShard shard) {
      shards[number] = shard;
    }

    @Override
    public byte[] section(int shard, int index) {
      return sections.get(shard).get(index);
    }

    @Override
    public void putSection(int shard, int index, byte[] section) {
      sections.get(shard).add(index, section);
    }

    @Override
    public void removeSection(int shard, int index) {
      // All sections of a shard are removed, the first one first.
      sections.get(shard).remove(0);
    }

    @Override
    public @Nullable PackChain packs() {
      return packs;
    }

    @Override
    public void putPacks(PackChain newPacks) {
      packs = newPacks;
    }
  }
}
