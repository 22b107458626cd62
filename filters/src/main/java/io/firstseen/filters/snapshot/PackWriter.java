package io.firstseen.filters.snapshot;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
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
 *
 * @param <E> thrown if the state cannot be read or written
 */
public final class PackWriter<E extends Exception> {

  /**
   * The minimum ratio of the bytes of the list and its bases to the total bytes of the packs since
   * the list.
   */
  static final int PACKS_DIVISOR = 9;

  /** The maximum number of packs that are kept in addition to the newest pack. */
  static final int MAX_KEPT = 4095;

  /** A blob that must be published. */
  @SuppressWarnings("ArrayRecordComponent")
  public record Blob(BlobFrame.Kind kind, BlobReference reference, byte[] bytes) {
    static Blob of(BlobFrame.Kind kind, byte[] bytes) {
      return new Blob(kind, BlobReference.to(bytes), bytes);
    }
  }

  /**
   * The change of a shard in a window.
   *
   * @param liveCount the number of live keys after the change
   * @param setDigest the digest of the set after the change
   * @param section the bytes of its {@link Section}. Not copied; must not be changed
   * @param base the new base of the shard, which contains this section; null without a new base
   */
  @SuppressWarnings("ArrayRecordComponent")
  public record Change(
      long liveCount, String setDigest, byte[] section, @Nullable BlobReference base) {}

  /**
   * The published state of a set, in memory or in the state of a job.
   *
   * @param <E> thrown if it cannot be read or written
   */
  public interface State<E extends Exception> {
    /** Returns the published state of a shard; null if it has published nothing. */
    @Nullable PublishedShard shard(int number) throws E;

    /** Stores the published state of a shard. */
    void putShard(int number, PublishedShard shard) throws E;

    /** Returns a section since the newest base of a shard, by its index from 0. */
    byte[] section(int shard, int index) throws E;

    /** Stores a section since the newest base of a shard. */
    void putSection(int shard, int index, byte[] section) throws E;

    /** Removes a section. */
    void removeSection(int shard, int index) throws E;

    /** Returns the packs; null before the first pack. */
    @Nullable PackChain packs() throws E;

    /** Stores the packs. */
    void putPacks(PackChain packs) throws E;
  }

  private final String setName;
  private final ChainRule rule;
  private final int shardCount;
  private final State<E> state;
  private final long firstPosition;

  /** Creates a writer of the set that a state describes. */
  public PackWriter(String setName, ChainRule rule, State<E> state) {
    this(setName, rule, state, 0);
  }

  /**
   * Creates a writer whose first pack follows packs that are lost.
   *
   * @param firstPosition the bytes of the lost packs
   */
  PackWriter(String setName, ChainRule rule, State<E> state, long firstPosition) {
    this.firstPosition = firstPosition;
    this.setName = setName;
    this.rule = rule;
    this.shardCount = rule.set().shards().count();
    this.state = state;
  }

  /**
   * Creates the pack of some changes.
   *
   * @param changes the changes by shard; at least one
   * @param sequence the sequence of the pack
   * @return the new list of bases, if a list is due, followed by the pack
   */
  public List<Blob> publish(SortedMap<Integer, Change> changes, long sequence, long windowEndMillis)
      throws E {
    SortedMap<Integer, Section> ofPack = new TreeMap<>();
    Set<Integer> whole = new HashSet<>();
    for (Map.Entry<Integer, Change> change : changes.entrySet()) {
      Section section = read(change.getValue().section());
      ofPack.put(change.getKey(), section);
      if (section.isWhole()) {
        whole.add(change.getKey());
      }
    }
    PackChain before = state.packs();
    Blob pack = before == null ? null : pack(before, sequence, ofPack);
    if (pack != null && !isListDue(before, pack.reference().bytes(), windowEndMillis)) {
      take(changes);
      long packsSince = before.packsSince() + pack.reference().bytes();
      state.putPacks(withPack(before, pack.reference(), packsSince));
      return List.of(pack);
    }
    boolean isBeforePack = !whole.isEmpty();
    if (!isBeforePack) {
      take(changes);
    }
    Blob list = list(isBeforePack ? sequence - 1 : sequence, whole);
    PackChain listed = withList(before, list.reference(), whole, windowEndMillis);
    pack = pack(listed, sequence, ofPack);
    state.putPacks(withPack(listed, pack.reference(), isBeforePack ? pack.reference().bytes() : 0));
    if (isBeforePack) {
      take(changes);
    }
    // The list does not change if none of the omitted shards were in it before.
    boolean isKnown = before != null && list.reference().equals(before.list());
    return isKnown ? List.of(pack) : List.of(list, pack);
  }

  private static Section read(byte[] section) {
    try {
      return Section.read(ByteBuffer.wrap(section));
    } catch (SnapshotException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void take(SortedMap<Integer, Change> changes) throws E {
    for (Map.Entry<Integer, Change> change : changes.entrySet()) {
      take(change.getKey(), change.getValue());
    }
  }

  private void take(int shard, Change change) throws E {
    PublishedShard before = state.shard(shard);
    BlobReference listedBase = before == null ? null : before.listedBase();
    BlobReference base;
    int sectionCount;
    if (change.base() == null) {
      base = before.base();
      sectionCount = before.sections() + 1;
      state.putSection(shard, before.sections(), change.section());
    } else {
      base = change.base();
      sectionCount = 0;
      for (int i = 0; before != null && i < before.sections(); i++) {
        state.removeSection(shard, i);
      }
    }
    state.putShard(
        shard,
        new PublishedShard(change.setDigest(), change.liveCount(), base, sectionCount, listedBase));
  }

  private boolean isListDue(PackChain before, long bytes, long windowEndMillis) {
    return (before.packsSince() + bytes) * PACKS_DIVISOR > before.basesBytes()
        || bytesOf(keptBefore(before)) < before.packsSince()
        || rule.isOld(before.listWindowEndMillis(), windowEndMillis);
  }

  private Blob list(long sequence, Set<Integer> leftOut) throws E {
    List<BaseList.Shard> all = new ArrayList<>();
    for (int number = 0; number < shardCount; number++) {
      PublishedShard shard = leftOut.contains(number) ? null : state.shard(number);
      List<Section> since = new ArrayList<>();
      for (int i = 0; shard != null && i < shard.sections(); i++) {
        since.add(read(state.section(number, i)));
      }
      all.add(shard == null ? BaseList.Shard.NONE : new BaseList.Shard(shard.base(), since));
    }
    return Blob.of(BlobFrame.Kind.BASE_LIST, new BaseList(setName, sequence, all).toBytes());
  }

  private PackChain withList(
      @Nullable PackChain before, BlobReference list, Set<Integer> leftOut, long windowEndMillis)
      throws E {
    long basesBytes = list.bytes();
    for (int number = 0; number < shardCount; number++) {
      PublishedShard shard = state.shard(number);
      if (shard != null && leftOut.contains(number)) {
        state.putShard(number, shard.withListed(null));
      } else if (shard != null) {
        basesBytes += shard.base().bytes();
        state.putShard(number, shard.withListed(shard.base()));
      }
    }
    return new PackChain(
        before == null ? List.of() : before.kept(),
        before == null ? firstPosition : before.packBytes(),
        list,
        basesBytes,
        windowEndMillis,
        0);
  }

  private Blob pack(PackChain chain, long sequence, SortedMap<Integer, Section> ofPack) {
    long keptBytes = bytesOf(keptBefore(chain));
    Pack pack =
        new Pack(
            setName,
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
  public Manifest manifest(long sequence, long windowEndMillis) throws E {
    List<ShardTree.Leaf> leaves = new ArrayList<>();
    long count = 0;
    for (int number = 0; number < shardCount; number++) {
      PublishedShard shard = state.shard(number);
      leaves.add(
          shard == null
              ? ShardTree.Leaf.NONE
              : new ShardTree.Leaf(shard.setDigest(), shard.liveCount()));
      count += shard == null ? 0 : shard.liveCount();
    }
    PackChain packs = state.packs();
    return Manifest.of(
        setName,
        sequence,
        windowEndMillis - rule.windowMillis(),
        windowEndMillis,
        rule.set(),
        count,
        ShardTree.root(leaves),
        packs == null ? null : packs.newest(),
        packs == null ? 0 : packs.packBytes());
  }

  /**
   * Returns the blobs that readers of the newest pack may need, and the bases that the next list
   * will name.
   */
  public Map<BlobReference, BlobFrame.Kind> inUse() throws E {
    Map<BlobReference, BlobFrame.Kind> inUse = new HashMap<>();
    PackChain packs = state.packs();
    if (packs != null) {
      packs.kept().forEach(pack -> inUse.put(pack, BlobFrame.Kind.PACK));
      inUse.put(packs.list(), BlobFrame.Kind.BASE_LIST);
    }
    for (int number = 0; number < shardCount; number++) {
      PublishedShard shard = state.shard(number);
      if (shard != null) {
        inUse.put(shard.base(), BlobFrame.Kind.BASE);
        if (shard.listedBase() != null) {
          inUse.put(shard.listedBase(), BlobFrame.Kind.BASE);
        }
      }
    }
    return inUse;
  }
}
