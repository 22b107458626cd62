package io.firstseen.filters.snapshot;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The form of snapshots on a log-compacted topic. A blob is cut into chunks, whose record keys are
 * the blob's digest and the chunk's index. A manifest is one record, whose key is the name of its
 * set. Manifests and packs are on partition 0, bases and lists of bases on the last partition, so
 * that a reader that follows packs does not have to read bases. The number of chunks of a blob
 * follows from its length, which every reference to it contains.
 */
public final class SnapshotTopicFormat {
  /** The length of every chunk except the last; a broker's default limit is 1 MiB per record. */
  public static final int MAX_CHUNK_BYTES = 900 * 1024;

  private static final Pattern SET_NAME = Pattern.compile("[A-Za-z0-9._-]{1,100}");
  private static final Pattern CHUNK_KEY = Pattern.compile("([0-9a-f]{64})/(0|[1-9][0-9]{0,8})");

  private SnapshotTopicFormat() {}

  /**
   * Returns the partition that a blob belongs on.
   *
   * @param partitions how many partitions the topic has
   */
  public static int partitionOf(BlobFrame.Kind kind, int partitions) {
    return kind == BlobFrame.Kind.PACK ? 0 : partitions - 1;
  }

  /**
   * Identifies a chunk.
   *
   * @param digest the SHA-256 of the blob, as hexadecimal digits
   * @param index the index of the chunk in the blob, starting at 0
   */
  public record ChunkKey(String digest, int index) {}

  /** Returns the record key of a chunk. */
  public static String chunkKey(String digestHex, int index) {
    return Sha256.require("digest", digestHex) + "/" + index;
  }

  /** Parses a record key; empty if it is not the key of a chunk. */
  public static Optional<ChunkKey> parseChunkKey(String recordKey) {
    Matcher matcher = CHUNK_KEY.matcher(recordKey);
    return matcher.matches()
        ? Optional.of(new ChunkKey(matcher.group(1), Integer.parseInt(matcher.group(2))))
        : Optional.empty();
  }

  /** Returns the number of chunks of a blob, from its length. */
  public static int chunkCount(long blobBytes) {
    return (int) ((blobBytes + MAX_CHUNK_BYTES - 1) / MAX_CHUNK_BYTES);
  }

  /** Returns a chunk of a blob. */
  public static byte[] chunk(byte[] blob, int index) {
    int from = Math.multiplyExact(index, MAX_CHUNK_BYTES);
    return Arrays.copyOfRange(blob, from, from + chunkBytes(blob.length, index));
  }

  /**
   * Returns the length of a chunk.
   *
   * @throws IllegalArgumentException if a blob of that length has no such chunk
   */
  public static int chunkBytes(long blobBytes, int index) {
    int chunks = chunkCount(blobBytes);
    if (index < 0 || index >= chunks) {
      throw new IllegalArgumentException(
          "index of a chunk must be in [0, " + chunks + "), got " + index);
    }
    return (int) Math.min(MAX_CHUNK_BYTES, blobBytes - (long) index * MAX_CHUNK_BYTES);
  }

  /** Returns whether a record key may be the name of a set. */
  public static boolean isSetName(String recordKey) {
    return SET_NAME.matcher(recordKey).matches();
  }

  /**
   * Returns a set name after checking it. A name has 1 to 100 ASCII letters, digits, dots,
   * underscores and hyphens, so that it fits in a path and cannot be the key of a chunk.
   *
   * @throws IllegalArgumentException if it is not valid
   */
  public static String requireSetName(String setName) {
    if (!isSetName(setName)) {
      throw new IllegalArgumentException(
          "a set name must be 1 to 100 of the characters A-Z a-z 0-9 . _ -, got '" + setName + "'");
    }
    return setName;
  }
}
