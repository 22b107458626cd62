package io.firstseen.serializers;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * A record that the snapshot operators publish. Records must become visible in the order of the
 * stream: every blob comes before the first manifest that names it, and its removal after the last.
 *
 * @param kind the kind of {@code value}
 * @param key for a blob or its removal the SHA-256 of its bytes in lower-case hexadecimal, for a
 *     manifest the set's name
 * @param value the bytes of the blob, or of the manifest's JSON; for a removal the length of the
 *     blob in 8 bytes. Not copied; must not be changed
 */
@TypeInfo(SnapshotRecordSerializer.InfoFactory.class)
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record SnapshotRecord(Kind kind, String key, byte[] value) {

  /** The kind of a record. */
  public enum Kind {
    /** The bytes of a snapshot or delta of one shard. */
    BLOB,
    /** The list of the blobs that make up the set at the end of a window. */
    MANIFEST,
    /** The removal of a blob that no manifest names any more. */
    REMOVAL
  }

  public SnapshotRecord {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
  }

  /** Creates the removal of a blob of this length. */
  public static SnapshotRecord removal(String digest, long bytes) {
    return new SnapshotRecord(
        Kind.REMOVAL, digest, ByteBuffer.allocate(Long.BYTES).putLong(bytes).array());
  }

  /** The length of the removed blob. */
  public long removedBytes() {
    return ByteBuffer.wrap(value).getLong();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SnapshotRecord that
        && kind == that.kind
        && key.equals(that.key)
        && Arrays.equals(value, that.value);
  }

  @Override
  public int hashCode() {
    return Objects.hash(kind, key, Arrays.hashCode(value));
  }

  @Override
  public String toString() {
    return kind + " " + key + " (" + value.length + " bytes)";
  }
}
