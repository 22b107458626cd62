package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Loads the blobs of a manifest and checks each blob against its reference. */
public final class ManifestBlobs {
  private final Manifest manifest;
  private final BlobLoader loader;
  private long loadedBytes;

  /** Creates a reader of a manifest's blobs. */
  public ManifestBlobs(Manifest manifest, BlobLoader loader) {
    this.manifest = manifest;
    this.loader = loader;
  }

  long loadedBytes() {
    return loadedBytes;
  }

  /**
   * Returns the newest pack.
   *
   * @throws IllegalStateException if the manifest has none
   */
  public Pack newestPack() throws IOException {
    if (manifest.pack() == null) {
      throw new IllegalStateException("the manifest has no pack");
    }
    Pack newest = pack(manifest.pack());
    long keptFrom = manifest.packBytes() - manifest.pack().bytes() - newest.packsSince();
    requireThat(
        newest.keptFrom() <= keptFrom,
        "keptFrom must be at most %d, as the packs since the bases are needed, got %d"
            .formatted(keptFrom, newest.keptFrom()));
    return newest;
  }

  Pack pack(BlobReference reference) throws IOException {
    return load(reference, bytes -> Pack.read(bytes, manifest.setName(), shardCount()));
  }

  /** Returns the list of bases that a pack names. */
  public BaseList baseList(Pack pack) throws IOException {
    return load(pack.bases(), bytes -> BaseList.read(bytes, manifest.setName(), shardCount()));
  }

  Section base(BlobReference reference, int shard) throws IOException {
    return load(reference, bytes -> Base.read(bytes, manifest.setName(), shard));
  }

  /**
   * Follows the chain back from the newest pack, and returns its packs, the oldest first.
   *
   * @param newest the newest pack, already read
   * @param before the pack just before the oldest one to return; null to go back to the first pack
   *     of the set
   * @param maxBytes the maximum total length of the packs
   */
  List<Pack> packsAfter(Pack newest, @Nullable BlobReference before, long maxBytes)
      throws IOException {
    Deque<Pack> packs = new ArrayDeque<>(List.of(newest));
    long bytes = manifest.pack().bytes();
    while (!Objects.equals(packs.getFirst().before(), before)) {
      BlobReference next = packs.getFirst().before();
      requireThat(next != null, "the packs do not lead back to the held set");
      bytes += next.bytes();
      requireThat(bytes <= maxBytes, "the packs do not lead back to the held set");
      requireShortChain(packs.size());
      packs.addFirst(packBefore(packs.getFirst(), next));
    }
    return List.copyOf(packs);
  }

  /**
   * Returns the packs that are needed in addition to the list of bases, in the order of their
   * windows.
   */
  List<Pack> packsSince(Pack newest, BaseList list) throws IOException {
    Deque<Pack> packs = new ArrayDeque<>(List.of(newest));
    long left = newest.packsSince();
    while (left > 0) {
      BlobReference next = packs.getFirst().before();
      requireThat(
          next != null && next.bytes() <= left, "the packs do not lead back to the list of bases");
      left -= next.bytes();
      requireShortChain(packs.size());
      packs.addFirst(packBefore(packs.getFirst(), next));
    }
    if (newest.sequence() == list.sequence() && packs.size() == 1) {
      return List.of();
    }
    requireThat(
        packs.getFirst().sequence() > list.sequence(),
        "the list of bases must be of a sequence below %d, got %d"
            .formatted(packs.getFirst().sequence(), list.sequence()));
    return List.copyOf(packs);
  }

  private static void requireShortChain(int packs) throws MalformedSnapshotException {
    requireThat(
        packs < Pack.MAX_CHAIN,
        "a set must be reached by at most " + Pack.MAX_CHAIN + " packs, there are more");
  }

  private Pack packBefore(Pack pack, BlobReference reference) throws IOException {
    Pack before = pack(reference);
    requireThat(
        before.sequence() < pack.sequence(),
        "a pack must have a higher sequence than the previous pack, %d, got %d"
            .formatted(before.sequence(), pack.sequence()));
    return before;
  }

  /**
   * Returns the blobs that a reader of the manifest may need: the kept packs, the list of bases and
   * the bases. If a pack is missing, the result omits this pack and all earlier packs, because a
   * copy of a set does not have to include old packs.
   */
  public Map<String, BlobReference> named() throws IOException {
    Map<String, BlobReference> named = new LinkedHashMap<>();
    if (manifest.pack() == null) {
      return named;
    }
    Pack newest = newestPack();
    keptPacks(newest).forEach(pack -> named.put(pack.digest(), pack));
    named.put(newest.bases().digest(), newest.bases());
    baseList(newest).bases().forEach(base -> named.put(base.digest(), base));
    return named;
  }

  /** Returns the kept packs that exist, without gaps; the newest first. */
  List<BlobReference> keptPacks(Pack newest) throws IOException {
    List<BlobReference> kept = new ArrayList<>();
    BlobReference reference = manifest.pack();
    Pack pack = newest;
    long position = manifest.packBytes();
    while (true) {
      kept.add(reference);
      position -= reference.bytes();
      reference = pack.before();
      if (reference == null || position <= newest.keptFrom()) {
        return kept;
      }
      try {
        pack = packBefore(pack, reference);
      } catch (MissingBlobsException | OutOfReachException e) {
        return kept;
      }
    }
  }

  /**
   * Loads all blobs that a reader may need and checks them: applying the changes to the bases must
   * lead to the root of the manifest, and the other packs must be readable.
   *
   * @throws MalformedSnapshotException if a check fails
   * @throws UnsupportedSnapshotException if a newer reader is needed
   * @throws IOException if the loader throws it
   */
  public static void verify(Manifest manifest, BlobLoader loader) throws IOException {
    CatchUp.to(manifest, List.of(), loader);
    new ManifestBlobs(manifest, loader).named();
  }

  private int shardCount() {
    return manifest.parameters().shards().count();
  }

  private interface BlobFormat<T> {
    T read(ByteBuffer bytes) throws SnapshotException;
  }

  private <T> T load(BlobReference blob, BlobFormat<T> format) throws IOException {
    ByteBuffer bytes = loader.load(blob);
    blob.requireBytes(bytes);
    loadedBytes += blob.bytes();
    try {
      return format.read(bytes);
    } catch (SnapshotException e) {
      throw e.at("blob " + blob.digest());
    }
  }
}
