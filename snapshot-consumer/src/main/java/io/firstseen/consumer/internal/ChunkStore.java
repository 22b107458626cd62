package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Chunks that were read and are not yet part of a loaded snapshot. They are stored in the files of
 * the cache if there is a writable cache, otherwise in memory.
 */
final class ChunkStore {
  // The approximate memory of a chunk without its bytes: map entries and the name of its blob.
  private static final int BYTES_BESIDE_A_CHUNK = 512;

  private final @Nullable SnapshotCache cache;
  // Blobs in the order of their first chunks.
  private final Map<String, Chunks> blobs = new LinkedHashMap<>();
  private long keptBytes;

  ChunkStore(@Nullable SnapshotCache cache) {
    this.cache = cache;
  }

  static final class Chunks {
    private final Map<Integer, Integer> lengths = new HashMap<>();
    // Chunks in memory, without the chunks in the cache.
    private final Map<Integer, byte[]> inMemory = new HashMap<>();
    private final long offset;
    private Optional<BlobFrame> frame = Optional.empty();
    private OptionalLong sequence = OptionalLong.empty();
    private long keptBytes;
    private boolean damaged;

    private Chunks(long offset) {
      this.offset = offset;
    }

    /** Returns the offset of the chunk that was stored first. */
    long offset() {
      return offset;
    }

    /**
     * Returns the sequence of a pack; empty if the blob is not a pack, or its first chunk is
     * missing.
     */
    OptionalLong sequence() {
      return sequence;
    }

    private boolean isBase() {
      return frame.isPresent() && frame.get().kind() == BlobFrame.Kind.BASE;
    }
  }

  /**
   * Keeps a chunk and replaces an earlier chunk with the same key.
   *
   * @param offset see {@link TopicFollower.Reader#accept}
   */
  void put(ChunkKey key, byte[] bytes, long offset) {
    Chunks chunks = blobs.computeIfAbsent(key.digest(), digest -> new Chunks(offset));
    count(chunks, chunks.lengths.put(key.index(), bytes.length), bytes.length);
    if (cache != null && cache.writeChunk(key, bytes)) {
      chunks.inMemory.remove(key.index());
    } else {
      chunks.inMemory.put(key.index(), bytes);
    }
    if (key.index() == 0) {
      chunks.frame = BlobFrame.peek(ByteBuffer.wrap(bytes));
      chunks.sequence = Pack.peekSequence(ByteBuffer.wrap(bytes));
    }
    chunks.damaged = false;
  }

  /**
   * Updates the counts when a chunk of one length replaces a chunk of another length; null for no
   * chunk.
   */
  private void count(Chunks chunks, @Nullable Integer before, @Nullable Integer after) {
    long change = cost(after) - cost(before);
    chunks.keptBytes += change;
    keptBytes += change;
  }

  private static long cost(@Nullable Integer length) {
    return length == null ? 0 : (long) length + BYTES_BESIDE_A_CHUNK;
  }

  void remove(ChunkKey key) {
    Chunks chunks = blobs.get(key.digest());
    if (chunks != null) {
      count(chunks, chunks.lengths.remove(key.index()), null);
      chunks.inMemory.remove(key.index());
      if (chunks.lengths.isEmpty()) {
        remove(key.digest());
      }
    }
  }

  void remove(String digest) {
    Chunks removed = blobs.remove(digest);
    if (removed != null) {
      keptBytes -= removed.keptBytes;
      removeFile(digest);
    }
  }

  /**
   * Removes blobs until the given bytes are free: the oldest base or the oldest other blob,
   * whichever of the two kinds takes more bytes, so that neither kind displaces the other.
   *
   * @param except digests of blobs to keep
   * @return the digests of the removed blobs
   */
  List<String> removeOldest(long bytes, Set<String> except) {
    Map<Boolean, Deque<String>> oldest =
        Map.of(true, new ArrayDeque<>(), false, new ArrayDeque<>());
    Map<Boolean, Long> sizes = new HashMap<>(Map.of(true, 0L, false, 0L));
    blobs.forEach(
        (digest, chunks) -> {
          if (!except.contains(digest)) {
            oldest.get(chunks.isBase()).add(digest);
            sizes.merge(chunks.isBase(), chunks.keptBytes, Long::sum);
          }
        });
    List<String> removed = new ArrayList<>();
    for (long left = bytes; left > 0 && sizes.get(true) + sizes.get(false) > 0; ) {
      boolean isBase = sizes.get(true) > sizes.get(false);
      String digest = oldest.get(isBase).remove();
      long freed = blobs.get(digest).keptBytes;
      sizes.merge(isBase, -freed, Long::sum);
      left -= freed;
      removed.add(digest);
      remove(digest);
    }
    return removed;
  }

  void removeIf(BiPredicate<String, Chunks> condition) {
    for (String digest : List.copyOf(blobs.keySet())) {
      if (condition.test(digest, blobs.get(digest))) {
        remove(digest);
      }
    }
  }

  void clear() {
    blobs.keySet().forEach(this::removeFile);
    blobs.clear();
    keptBytes = 0;
  }

  private void removeFile(String digest) {
    if (cache != null) {
      cache.removeIncoming(digest);
    }
  }

  int missing(BlobReference blob) {
    int expected = SnapshotTopicFormat.chunkCount(blob.bytes());
    Chunks chunks = blobs.get(blob.digest());
    if (chunks == null) {
      return expected;
    }
    long found = chunks.lengths.keySet().stream().filter(index -> index < expected).count();
    return expected - (int) found;
  }

  /** Returns whether {@link #assemble} failed and no chunk was added since. */
  boolean isDamaged(BlobReference blob) {
    Chunks chunks = blobs.get(blob.digest());
    return chunks != null && chunks.damaged;
  }

  /** Returns whether all chunks of a blob are here, and no {@link #assemble} of them failed. */
  boolean isWhole(BlobReference blob) {
    return missing(blob) == 0 && !isDamaged(blob);
  }

  /**
   * Assembles a complete blob. Its chunks stay in the store.
   *
   * @throws MalformedSnapshotException if the bytes do not have the blob's digest; another copy of
   *     a chunk may resolve this
   */
  ByteBuffer assemble(BlobReference blob) throws MalformedSnapshotException {
    Chunks chunks = blobs.get(blob.digest());
    chunks.damaged = true;
    int count = SnapshotTopicFormat.chunkCount(blob.bytes());
    for (int index = 0; index < count; index++) {
      int expected = SnapshotTopicFormat.chunkBytes(blob.bytes(), index);
      int found = chunks.lengths.get(index);
      if (found != expected) {
        throw new MalformedSnapshotException(
            "chunk " + index + " must have " + expected + " bytes, got " + found);
      }
    }
    ByteBuffer bytes = bytes(chunks, blob, count);
    String digest = Sha256.hex(bytes);
    if (!digest.equals(blob.digest())) {
      throw new MalformedSnapshotException("its bytes have the digest " + digest);
    }
    chunks.damaged = false;
    return bytes;
  }

  private ByteBuffer bytes(Chunks chunks, BlobReference blob, int count)
      throws MalformedSnapshotException {
    ByteBuffer file = null;
    if (chunks.inMemory.size() < chunks.lengths.size()) {
      try {
        file = cache.incoming(blob.digest(), bytesInFile(chunks, blob, count));
      } catch (IOException e) {
        throw new MalformedSnapshotException("the cache has lost it: " + e.getMessage(), e);
      }
      if (chunks.inMemory.isEmpty()) {
        return file;
      }
    }
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(blob.bytes()));
    for (int index = 0; index < count; index++) {
      byte[] chunk = chunks.inMemory.get(index);
      if (chunk != null) {
        bytes.put(chunk);
      } else {
        bytes.put(file.slice(bytes.position(), chunks.lengths.get(index)));
      }
    }
    return bytes.flip();
  }

  /**
   * Returns the length up to the end of the last chunk in the file, because the disk may have been
   * full after it.
   */
  private static long bytesInFile(Chunks chunks, BlobReference blob, int count) {
    long end = 0;
    long inFile = 0;
    for (int index = 0; index < count; index++) {
      end += SnapshotTopicFormat.chunkBytes(blob.bytes(), index);
      inFile = chunks.inMemory.containsKey(index) ? inFile : end;
    }
    return inFile;
  }

  /** Returns the lowest offset of all blobs; {@code Long.MAX_VALUE} if there are no blobs. */
  long firstOffset() {
    return blobs.values().stream().mapToLong(chunks -> chunks.offset).min().orElse(Long.MAX_VALUE);
  }

  /** Returns the memory of all chunks: their bytes, and the overhead of each. */
  long keptBytes() {
    return keptBytes;
  }

  long keptBytes(Set<String> digests) {
    return digests.stream()
        .map(blobs::get)
        .filter(Objects::nonNull)
        .mapToLong(chunks -> chunks.keptBytes)
        .sum();
  }

  long totalBytes() {
    return blobs.values().stream()
        .flatMap(chunks -> chunks.lengths.values().stream())
        .mapToLong(Integer::longValue)
        .sum();
  }
}
