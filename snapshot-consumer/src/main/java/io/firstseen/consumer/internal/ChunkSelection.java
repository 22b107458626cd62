package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which chunks of a topic are kept: those of blobs that a waiting manifest of the set
 * names, and those that a later manifest may name. A manifest of the set drops all others; a
 * manifest of another set drops those that it names itself. While no manifest arrives, as when
 * windows are held, the newest {@value #MAX_UNNAMED} blobs of each shard are kept.
 *
 * <p>Chunks that no manifest names take no more than a bound in bytes: the oldest blobs are
 * dropped. They are remembered, so that the topic can be read again when a manifest names them.
 */
final class ChunkSelection {
  private static final int MAX_REMEMBERED = 10_000;
  private static final int MAX_CHUNKS = SnapshotTopicFormat.chunkCount(Integer.MAX_VALUE);

  // If the window of a blob or of a manifest is unknown, chunks are kept until this many manifests
  // have followed them.
  private static final int MANIFESTS_SURVIVED = 2;

  // A manifest of our jobs names at most 16 deltas after a base and 8 before it. So its blobs are
  // of the newest 25 windows of the shard, with two blobs each.
  static final int MAX_UNNAMED = 64;

  private final String setName;
  private final ChunkStore chunks;
  // Digests by shard, the oldest first. May include digests whose chunks are gone.
  private final Map<Integer, Set<String>> newest = new HashMap<>();
  // Digests of blobs of other sets.
  private final Set<String> foreign = new LinkedHashSet<>();
  // Digests of blobs that were dropped because of the bound.
  private final Set<String> dropped = new LinkedHashSet<>();
  // Digests of the blobs for which the topic is read again.
  private final Set<String> awaited = new HashSet<>();
  private final LongSupplier maxUnnamedBytes;
  private long manifestsSeen;
  // The bytes that the bound does not count; 0 if they must be counted again.
  private long namedBytes;
  private boolean isDropUntold;

  /**
   * Makes a selection that keeps chunks in a store.
   *
   * @param maxUnnamedBytes the most bytes of chunks that no manifest has named
   */
  ChunkSelection(String setName, ChunkStore chunks, LongSupplier maxUnnamedBytes) {
    this.setName = setName;
    this.chunks = chunks;
    this.maxUnnamedBytes = maxUnnamedBytes;
  }

  /**
   * Keeps or ignores a chunk. A null value, a tombstone, removes the kept chunk.
   *
   * @param isLoaded whether the blob with a digest is part of a snapshot already
   * @param named digests of blobs that something waits for
   */
  void accept(
      long offset,
      ChunkKey key,
      byte @Nullable [] value,
      Predicate<String> isLoaded,
      Supplier<Set<String>> named) {
    if (value == null) {
      chunks.remove(key);
    } else if (!isLoaded.test(key.digest()) && !isUseless(key, value)) {
      chunks.put(key, value, manifestsSeen, offset);
      if (key.index() == 0) {
        chunks
            .header(key.digest())
            .ifPresent(header -> dropOldest(header.parameters().shard(), key.digest(), named));
      }
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
    newest.values().forEach(digests -> digests.removeIf(digest -> !chunks.holds(digest)));
    newest.values().removeIf(Set::isEmpty);
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

  /** Whether blobs were dropped because of the bound since the last call. */
  boolean takeDropUntold() {
    boolean taken = isDropUntold;
    isDropUntold = false;
    return taken;
  }

  private void dropOldest(int shard, String added, Supplier<Set<String>> named) {
    Set<String> digests = newest.computeIfAbsent(shard, each -> new LinkedHashSet<>());
    digests.remove(added);
    digests.add(added);
    if (digests.size() > MAX_UNNAMED) {
      String oldest = digests.iterator().next();
      digests.remove(oldest);
      if (chunks.holds(oldest) && !awaited.contains(oldest) && !named.get().contains(oldest)) {
        chunks.remove(oldest);
      }
    }
  }

  /** Whether a chunk belongs to a blob of another set, or to no blob. */
  private boolean isUseless(ChunkKey key, byte[] value) {
    if (key.index() >= MAX_CHUNKS) {
      return true;
    }
    SnapshotHeader header = key.index() == 0 ? ChunkStore.header(value) : null;
    if (header != null && !header.parameters().setName().equals(setName)) {
      chunks.remove(key.digest());
      remember(foreign, key.digest());
    }
    // A blob that our manifest names is checked later, with the manifest.
    return foreign.contains(key.digest()) && !awaited.contains(key.digest());
  }

  /**
   * Drops the blobs that another set's manifest names: blobs precede their manifest on the topic.
   */
  void dropNamedByOther(byte[] json, Set<String> ours) {
    try {
      for (ManifestShard shard : Manifest.fromJson(json).shards()) {
        for (BlobReference blob : shard.blobs()) {
          if (!ours.contains(blob.digest())) {
            chunks.remove(blob.digest());
          }
        }
      }
    } catch (SnapshotException e) {
      // A manifest of another set that this program cannot read: its followers will report it.
    }
  }

  /** Counts a manifest of the set. */
  void countManifest() {
    manifestsSeen++;
  }

  /** Whether a manifest of the set was seen since reading began at the topic's beginning. */
  boolean hasSeenManifests() {
    return manifestsSeen > 0;
  }

  /**
   * Drops the chunks of blobs that nothing waits for and no later manifest may name.
   *
   * @param named digests of blobs that something waits for
   * @param newest the newest manifest; null if it cannot be read
   */
  void dropGarbage(Set<String> named, @Nullable Manifest newest) {
    namedBytes = 0;
    chunks.removeIf(
        (digest, blob) ->
            !named.contains(digest) && !awaited.contains(digest) && !mayBeNamedAfter(newest, blob));
  }

  private boolean mayBeNamedAfter(@Nullable Manifest newest, ChunkStore.Chunks blob) {
    if (newest != null && blob.header().isPresent()) {
      SnapshotParameters of = blob.header().get().parameters();
      return of.setName().equals(setName) && of.windowEndMillis() > newest.windowEndMillis();
    }
    return manifestsSeen - blob.age() < MANIFESTS_SURVIVED;
  }

  /** Must be called when the topic is read again for these blobs; see {@link #awaitNothing}. */
  void await(Collection<BlobReference> blobs) {
    blobs.forEach(blob -> awaited.add(blob.digest()));
  }

  void awaitNothing() {
    awaited.clear();
    namedBytes = 0;
  }

  /** Forgets everything, because the topic is read from its beginning again. */
  void clear() {
    chunks.clear();
    foreign.clear();
    dropped.clear();
    newest.clear();
    namedBytes = 0;
  }
}
