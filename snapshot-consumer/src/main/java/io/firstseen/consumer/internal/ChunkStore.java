package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.SnapshotTopicFormat.ChunkKey;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiPredicate;

/** The chunks that were read and are not part of a loaded snapshot. */
final class ChunkStore {
  private final Map<String, Chunks> blobs = new HashMap<>();

  /** The chunks of one blob. */
  static final class Chunks {
    private final Map<Integer, byte[]> byIndex = new HashMap<>();
    private final long age;
    private final long offset;
    private boolean damaged;

    private Chunks(long age, long offset) {
      this.age = age;
      this.offset = offset;
    }

    /** What {@link #put} was told when the first chunk came. */
    long age() {
      return age;
    }

    /** The header of the blob, if its first chunk is here and begins with one. */
    Optional<SnapshotHeader> header() {
      byte[] first = byIndex.get(0);
      if (first == null) {
        return Optional.empty();
      }
      try {
        return Optional.of(SnapshotHeader.read(ByteBuffer.wrap(first)));
      } catch (SnapshotException e) {
        return Optional.empty();
      }
    }
  }

  /**
   * Keeps a chunk, in place of an earlier one of the same key.
   *
   * @param age remembered for a blob of which this is the first chunk to come
   * @param offset its place in the topic
   */
  void put(ChunkKey key, byte[] bytes, long age, long offset) {
    Chunks chunks = blobs.computeIfAbsent(key.digest(), digest -> new Chunks(age, offset));
    chunks.byIndex.put(key.index(), bytes);
    chunks.damaged = false;
  }

  void remove(ChunkKey key) {
    blobs.computeIfPresent(
        key.digest(),
        (digest, chunks) -> {
          chunks.byIndex.remove(key.index());
          return chunks.byIndex.isEmpty() ? null : chunks;
        });
  }

  void remove(String digest) {
    blobs.remove(digest);
  }

  void removeIf(BiPredicate<String, Chunks> condition) {
    blobs.entrySet().removeIf(entry -> condition.test(entry.getKey(), entry.getValue()));
  }

  void clear() {
    blobs.clear();
  }

  /** How many chunks of a blob are not here. */
  int missing(BlobReference blob) {
    int expected = SnapshotTopicFormat.chunkCount(blob.bytes());
    Chunks chunks = blobs.get(blob.digest());
    if (chunks == null) {
      return expected;
    }
    int found = 0;
    for (int index : chunks.byIndex.keySet()) {
      if (index < expected) {
        found++;
      }
    }
    return expected - found;
  }

  /** Whether {@link #assemble} failed and no chunk has come since. */
  boolean isDamaged(BlobReference blob) {
    Chunks chunks = blobs.get(blob.digest());
    return chunks != null && chunks.damaged;
  }

  /**
   * Puts a blob together of which nothing is missing. Its chunks stay here.
   *
   * @throws MalformedSnapshotException if they are not what the blob's digest names; another chunk
   *     may cure that
   */
  byte[] assemble(BlobReference blob) throws MalformedSnapshotException {
    Chunks chunks = blobs.get(blob.digest());
    chunks.damaged = true;
    int count = SnapshotTopicFormat.chunkCount(blob.bytes());
    for (int index = 0; index < count; index++) {
      int expected = SnapshotTopicFormat.chunkBytes(blob.bytes(), index);
      int found = chunks.byIndex.get(index).length;
      if (found != expected) {
        throw new MalformedSnapshotException(
            "chunk " + index + " must have " + expected + " bytes, got " + found);
      }
    }
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(blob.bytes()));
    for (int index = 0; index < count; index++) {
      bytes.put(chunks.byIndex.get(index));
    }
    String digest = Sha256.hex(bytes.array());
    if (!digest.equals(blob.digest())) {
      throw new MalformedSnapshotException("its bytes have the digest " + digest);
    }
    chunks.damaged = false;
    return bytes.array();
  }

  /** The place in the topic of the first of all chunks; the greatest number if there is none. */
  long firstOffset() {
    return blobs.values().stream().mapToLong(chunks -> chunks.offset).min().orElse(Long.MAX_VALUE);
  }

  /** How many bytes are kept. */
  long totalBytes() {
    long total = 0;
    for (Chunks chunks : blobs.values()) {
      for (byte[] chunk : chunks.byIndex.values()) {
        total += chunk.length;
      }
    }
    return total;
  }
}
