package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The result of loading the set of a manifest. A reader loads either the packs since a set that it
 * holds, or the bases and the packs since the bases, whichever are fewer bytes.
 *
 * @param set the set
 * @param way which blobs were loaded
 * @param bytes the bytes of the blobs that were loaded
 * @param from the manifest of the held set that was used; null if no held set was used
 * @param changes the changes since the held set; null if a shard was loaded whole
 * @param refusal why the packs could not be used; null if they were used, or if the bases were
 *     fewer bytes
 */
public record CatchUp(
    SnapshotSet set,
    Way way,
    long bytes,
    @Nullable Manifest from,
    @Nullable Changes changes,
    @Nullable String refusal) {

  /** Which blobs are loaded for the set of a manifest. */
  public enum Way {
    /** No blobs: a held set is the same. */
    NOTHING,
    /** The packs since a held set. */
    PACKS,
    /** The bases and the packs since the bases. */
    BASES
  }

  /**
   * The changes since the held set.
   *
   * @param added the number of values that were added
   * @param removed the number of values that were removed
   */
  public record Changes(long added, long removed) {}

  /**
   * Loads the set of a manifest. Checks the length and digest of each blob, and that the result has
   * the root and the count of the manifest. If the packs cannot be used, loads the bases.
   *
   * @param held sets that the reader holds; sets with a different name or different parameters are
   *     ignored
   * @throws MissingBlobsException if blobs are missing
   * @throws MalformedSnapshotException if a blob contradicts the manifest
   * @throws UnsupportedSnapshotException if a newer reader is needed
   * @throws IOException if the loader throws it
   */
  public static CatchUp to(Manifest manifest, Collection<SnapshotSet> held, BlobLoader loader)
      throws IOException {
    List<SnapshotSet> usable =
        held.stream()
            .filter(set -> set.manifest().setName().equals(manifest.setName()))
            .filter(set -> set.manifest().parameters().equals(manifest.parameters()))
            .toList();
    for (SnapshotSet set : usable) {
      if (set.manifest().root().equals(manifest.root())) {
        return new CatchUp(
            SnapshotSet.of(manifest, set.snapshots()),
            Way.NOTHING,
            0,
            set.manifest(),
            new Changes(0, 0),
            null);
      }
    }
    if (manifest.pack() == null) {
      SnapshotSet empty =
          SnapshotSet.of(manifest, new Snapshot[manifest.parameters().shards().count()]);
      return new CatchUp(empty, Way.BASES, 0, null, null, null);
    }
    ManifestBlobs blobs = new ManifestBlobs(manifest, loader);
    Pack newest = blobs.newestPack();
    Optional<SnapshotSet> from = nearest(manifest, newest, usable, loader.requestBytes());
    if (from.isEmpty()) {
      return byBases(manifest, newest, blobs, null);
    }
    IOException refusal;
    try {
      return byPacks(manifest, newest, from.get(), blobs);
    } catch (IOException e) {
      refusal = e;
    }
    try {
      return byBases(manifest, newest, blobs, refusal.getMessage());
    } catch (MissingBlobsException e) {
      if (refusal instanceof MissingBlobsException missing) {
        throw new MissingBlobsException(
            Stream.concat(missing.blobs().stream(), e.blobs().stream()).distinct().toList());
      }
      if (!(refusal instanceof SnapshotException)) {
        // The next attempt may succeed in loading the packs.
        throw refusal;
      }
      throw e;
    }
  }

  /** Returns the held set since which the packs are fewest bytes; empty if the bases are fewer. */
  private static Optional<SnapshotSet> nearest(
      Manifest manifest, Pack newest, List<SnapshotSet> held, long requestBytes) {
    int shards = manifest.parameters().shards().count();
    long best =
        newest.basesBytes()
            + newest.packsSince()
            + manifest.pack().bytes()
            + requestBytes * (shards + 1L);
    Optional<SnapshotSet> nearest = Optional.empty();
    for (SnapshotSet set : held) {
      long position = set.manifest().packBytes();
      long windows = manifest.sequence() - set.manifest().sequence();
      if (position >= newest.keptFrom() && position < manifest.packBytes() && windows > 0) {
        long packBytes = manifest.packBytes() - position;
        // Windows without changes have no pack.
        long packs = Math.min(windows, packBytes / Pack.MIN_BYTES + 1);
        long bytes = packBytes + requestBytes * packs;
        if (bytes <= best) {
          best = bytes;
          nearest = Optional.of(set);
        }
      }
    }
    return nearest;
  }

  private static CatchUp byPacks(
      Manifest manifest, Pack newest, SnapshotSet from, ManifestBlobs blobs) throws IOException {
    Manifest held = from.manifest();
    List<Pack> packs =
        blobs.packsAfter(newest, held.pack(), manifest.packBytes() - held.packBytes());
    Snapshot[] snapshots = from.snapshots();
    Changes changes = new Changes(0, 0);
    for (int shard = 0; shard < snapshots.length; shard++) {
      List<Section> sections = sections(packs, shard);
      if (!sections.isEmpty()) {
        changes = plus(changes, sections);
        snapshots[shard] = apply(manifest, shard, snapshots[shard], sections);
      }
    }
    return new CatchUp(
        SnapshotSet.of(manifest, snapshots), Way.PACKS, blobs.loadedBytes(), held, changes, null);
  }

  private static CatchUp byBases(
      Manifest manifest, Pack newest, ManifestBlobs blobs, @Nullable String refusal)
      throws IOException {
    BaseList list = blobs.baseList(newest);
    long basesBytes =
        newest.bases().bytes() + list.bases().stream().mapToLong(BlobReference::bytes).sum();
    requireThat(
        basesBytes == newest.basesBytes(),
        "the list of bases and the bases must have %d bytes, got %d"
            .formatted(newest.basesBytes(), basesBytes));
    List<Pack> packs = blobs.packsSince(newest, list);
    int shardCount = list.shards().size();
    List<BlobReference> missing = new ArrayList<>();
    Section[] bases = new Section[shardCount];
    for (int shard = 0; shard < shardCount; shard++) {
      BlobReference base = list.shards().get(shard).base();
      if (base != null) {
        try {
          bases[shard] = blobs.base(base, shard);
        } catch (MissingBlobsException e) {
          missing.addAll(e.blobs());
        }
      }
    }
    if (!missing.isEmpty()) {
      throw new MissingBlobsException(missing);
    }
    Snapshot[] snapshots = new Snapshot[shardCount];
    for (int shard = 0; shard < shardCount; shard++) {
      List<Section> sections = new ArrayList<>();
      if (bases[shard] != null) {
        sections.add(bases[shard]);
        sections.addAll(list.shards().get(shard).sections());
      }
      sections.addAll(sections(packs, shard));
      if (!sections.isEmpty()) {
        snapshots[shard] = apply(manifest, shard, null, sections);
      }
      bases[shard] = null;
    }
    return new CatchUp(
        SnapshotSet.of(manifest, snapshots), Way.BASES, blobs.loadedBytes(), null, null, refusal);
  }

  private static List<Section> sections(List<Pack> packs, int shard) {
    return packs.stream().map(pack -> pack.sections().get(shard)).filter(Objects::nonNull).toList();
  }

  private static Snapshot apply(
      Manifest manifest, int shard, @Nullable Snapshot before, List<Section> sections)
      throws SnapshotException {
    try {
      return Section.applyAll(before, sections, manifest.ofShard(shard));
    } catch (SnapshotException e) {
      throw e.at("shard " + shard);
    }
  }

  private static @Nullable Changes plus(@Nullable Changes changes, List<Section> sections) {
    if (changes == null || sections.stream().anyMatch(Section::isWhole)) {
      return null;
    }
    long added = sections.stream().mapToLong(Section::addedCount).sum();
    long removed = sections.stream().mapToLong(Section::removedCount).sum();
    return new Changes(changes.added + added, changes.removed + removed);
  }
}
