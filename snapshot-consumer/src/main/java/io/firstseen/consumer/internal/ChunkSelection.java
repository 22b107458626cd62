package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which chunks of a topic are kept. A manifest names only the newest pack, so all packs of
 * the set are kept until a manifest of their sequence or a later one answers. Bases and lists of
 * bases are kept while all of the topic is read, until no manifest needs them.
 *
 * <p>Chunks that nothing waits for take no more than a bound in bytes: the oldest are dropped. They
 * are remembered, so that the topic can be read again when they are missing.
 */
final class ChunkSelection {
  private static final int MAX_REMEMBERED = 10_000;
  private static final int MAX_CHUNKS = SnapshotTopicFormat.chunkCount(Integer.MAX_VALUE);

  private final String setName;
  private final ChunkStore chunks;
  private final LongSupplier maxUnnamedBytes;
  // Digests of blobs of other sets, and of bases that were not wanted.
  private final Set<String> ignored = new LinkedHashSet<>();
  // Digests of blobs that were dropped because of the bound.
  private final Set<String> dropped = new LinkedHashSet<>();
  // Digests of the blobs for which the topic is read again.
  private final Set<String> awaited = new HashSet<>();
  private boolean keepsBases = true;
  // The bytes that the bound does not count; 0 if they must be counted again.
  private long namedBytes;
  private boolean isDropUntold;
  // Since a snapshot became active.
  private boolean isDropTold;

  /**
   * Makes a selection that keeps chunks in a store.
   *
   * @param maxUnnamedBytes the most bytes of chunks that nothing waits for
   */
  ChunkSelection(String setName, ChunkStore chunks, LongSupplier maxUnnamedBytes) {
    this.setName = setName;
    this.chunks = chunks;
    this.maxUnnamedBytes = maxUnnamedBytes;
  }

  /**
   * Keeps or ignores a chunk. A null value, a tombstone, removes the kept chunk.
   *
   * @param offset see {@link TopicFollower.Reader#accept}
   * @param named digests of blobs that something waits for
   */
  void accept(long offset, ChunkKey key, byte @Nullable [] value, Supplier<Set<String>> named) {
    if (value == null) {
      chunks.remove(key);
    } else if (!isUseless(key, value)) {
      chunks.put(key, value, offset);
      keepWithinBound(key.digest(), named);
    }
  }

  private void keepWithinBound(String added, Supplier<Set<String>> named) {
    long bound = maxUnnamedBytes.getAsLong();
    if (chunks.keptBytes() - namedBytes <= bound) {
      return;
    }
    Set<String> kept = new HashSet<>(named.get());
    kept.addAll(awaited);
    namedBytes = chunks.keptBytes(kept);
    long excess = chunks.keptBytes() - namedBytes - bound;
    if (excess <= 0) {
      return;
    }
    if (chunks.keptBytes(Set.of(added)) <= bound) {
      kept.add(added);
    }
    // An eighth more, so that not every new chunk causes a drop.
    for (String digest : chunks.removeOldest(excess + bound / 8, kept)) {
      remember(dropped, digest);
    }
    isDropUntold = true;
  }

  private static void remember(Set<String> digests, String digest) {
    digests.add(digest);
    if (digests.size() > MAX_REMEMBERED) {
      digests.remove(digests.iterator().next());
    }
  }

  /** Whether any of these blobs was dropped because of the bound; each is reported once. */
  boolean takeDropped(Collection<BlobReference> blobs) {
    boolean any = false;
    for (BlobReference blob : blobs) {
      any |= dropped.remove(blob.digest());
    }
    return any;
  }

  /** See {@link SnapshotAssembler#takeNotice}. */
  Optional<String> takeNotice() {
    boolean isNew = isDropUntold && !isDropTold;
    isDropUntold = false;
    if (!isNew) {
      return Optional.empty();
    }
    isDropTold = true;
    return Optional.of(
        ("chunks on the topic of set '%s' for which no manifest waits took more than %d bytes, so"
                + " the oldest were dropped; the topic is read again if a manifest needs them:"
                + " raise maxUnnamedBytes if it often is")
            .formatted(setName, maxUnnamedBytes.getAsLong()));
  }

  /** A snapshot has become active, so that a later drop is reported again. */
  void answered() {
    isDropTold = false;
  }

  /** Whether a chunk belongs to a blob that is not wanted, or to no blob. */
  private boolean isUseless(ChunkKey key, byte[] value) {
    if (key.index() >= MAX_CHUNKS) {
      return true;
    }
    Optional<BlobFrame> frame =
        key.index() == 0 ? BlobFrame.peek(ByteBuffer.wrap(value)) : Optional.empty();
    if (frame.isPresent() && !isWanted(frame.get())) {
      chunks.remove(key.digest());
      remember(ignored, key.digest());
    }
    // A blob that something waits for is checked later, with the manifest.
    return ignored.contains(key.digest()) && !awaited.contains(key.digest());
  }

  private boolean isWanted(BlobFrame frame) {
    return frame.setName().equals(setName) && (keepsBases || frame.kind() == BlobFrame.Kind.PACK);
  }

  /**
   * Drops what a manifest that answers makes useless: packs up to its sequence, and before it in
   * the topic what is not known to be a pack.
   *
   * @param offset where the manifest is in the topic
   * @param named digests of blobs that something waits for
   */
  void dropUpTo(long sequence, long offset, Set<String> named) {
    namedBytes = 0;
    chunks.removeIf(
        (digest, blob) ->
            (blob.sequence().isPresent()
                    ? blob.sequence().getAsLong() <= sequence
                    : blob.offset() < offset)
                && !named.contains(digest)
                && !awaited.contains(digest));
  }

  /** Whether bases are kept: since {@link #clear}, until {@link #dropBases}. */
  boolean keepsBases() {
    return keepsBases;
  }

  /** Drops bases and lists of bases, and ignores later ones. */
  void dropBases() {
    keepsBases = false;
    namedBytes = 0;
    chunks.removeIf((digest, blob) -> blob.sequence().isEmpty());
  }

  /** Must be called when the topic is read again for these blobs; see {@link #awaitNothing}. */
  void await(Collection<String> digests) {
    awaited.addAll(digests);
  }

  void awaitNothing() {
    awaited.clear();
    namedBytes = 0;
  }

  /** Forgets everything, because all of the topic is read from its beginning. */
  void clear() {
    chunks.clear();
    ignored.clear();
    dropped.clear();
    keepsBases = true;
    namedBytes = 0;
  }
}
