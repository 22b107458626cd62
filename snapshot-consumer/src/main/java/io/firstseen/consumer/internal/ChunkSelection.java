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
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Decides which chunks of a topic are kept. A manifest names only the newest pack, so all packs of
 * the set are kept until a manifest with their sequence or a later one is active. Bases and lists
 * of bases are kept while the whole topic is read, until no manifest needs them.
 *
 * <p>Chunks for which no manifest waits are limited in bytes: the oldest are dropped. Dropped blobs
 * are remembered, so that the topic can be read again when they are missing.
 */
final class ChunkSelection {
  private static final int MAX_REMEMBERED = 10_000;
  private static final int MAX_CHUNKS = SnapshotTopicFormat.chunkCount(Integer.MAX_VALUE);

  private final String setName;
  private final ChunkStore chunks;
  private final LongSupplier maxUnnamedBytes;
  // Digests of blobs of other sets, and of bases that were not needed.
  private final Set<String> ignored = new LinkedHashSet<>();
  // Digests of blobs that were dropped because of the limit.
  private final Set<String> dropped = new LinkedHashSet<>();
  // Digests of the blobs for which the topic is read again.
  private final Set<String> awaited = new HashSet<>();
  private boolean keepsBases = true;
  // The bytes that do not count towards the limit; 0 if they must be counted again.
  private long namedBytes;
  private boolean isDropUnreported;
  // Whether a drop was reported since a snapshot became active.
  private boolean isDropReported;

  /**
   * Creates a selection that keeps chunks in a store.
   *
   * @param maxUnnamedBytes the maximum number of bytes of chunks for which no manifest waits
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
   * @param named digests of blobs for which a manifest waits
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
    // Drops an eighth more, so that not every new chunk causes a drop.
    for (String digest : chunks.removeOldest(excess + bound / 8, kept)) {
      remember(dropped, digest);
    }
    isDropUnreported = true;
  }

  private static void remember(Set<String> digests, String digest) {
    digests.add(digest);
    if (digests.size() > MAX_REMEMBERED) {
      digests.remove(digests.iterator().next());
    }
  }

  /** Returns whether any of these blobs was dropped because of the limit; each is reported once. */
  boolean takeDropped(Collection<BlobReference> blobs) {
    return dropped.removeAll(blobs.stream().map(BlobReference::digest).collect(Collectors.toSet()));
  }

  Optional<String> takeNotice() {
    boolean isNew = isDropUnreported && !isDropReported;
    isDropUnreported = false;
    if (!isNew) {
      return Optional.empty();
    }
    isDropReported = true;
    return Optional.of(
        ("chunks on the topic of set '%s' for which no manifest waits took more than %d bytes, so"
                + " the oldest were dropped; the topic is read again if a manifest needs them:"
                + " raise maxUnnamedBytes if it often is")
            .formatted(setName, maxUnnamedBytes.getAsLong()));
  }

  /** Called when a snapshot has become active, so that a later drop is reported again. */
  void answered() {
    isDropReported = false;
  }

  /** Returns whether a chunk belongs to a blob that is not needed, or to no blob. */
  private boolean isUseless(ChunkKey key, byte[] value) {
    if (key.index() >= MAX_CHUNKS) {
      return true;
    }
    Optional<BlobFrame> frame =
        key.index() == 0 ? BlobFrame.peek(ByteBuffer.wrap(value)) : Optional.empty();
    if (frame.isPresent() && !isNeeded(frame.get())) {
      chunks.remove(key.digest());
      remember(ignored, key.digest());
    }
    // A blob for which a manifest waits is checked later, with the manifest.
    return ignored.contains(key.digest()) && !awaited.contains(key.digest());
  }

  private boolean isNeeded(BlobFrame frame) {
    return frame.setName().equals(setName) && (keepsBases || frame.kind() == BlobFrame.Kind.PACK);
  }

  /**
   * Drops blobs that an active manifest makes obsolete: packs up to its sequence, and blobs before
   * it in the topic that are not known to be packs.
   *
   * @param offset where the manifest is in the topic
   * @param named digests of blobs for which a manifest waits
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

  /** Returns whether bases are kept: from {@link #clear} until {@link #dropBases}. */
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

  /** Forgets all chunks, because the whole topic is read from its beginning. */
  void clear() {
    chunks.clear();
    ignored.clear();
    dropped.clear();
    keepsBases = true;
    namedBytes = 0;
  }
}
