package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * A record that the snapshot operators publish. Records must become visible in the order of the
 * stream: every blob comes before the first manifest that needs it, and its removal after the last.
 *
 * @param kind the kind of {@code value}
 * @param key for a blob or its removal the SHA-256 of its bytes in lower-case hexadecimal, else the
 *     set's name
 * @param value the bytes of the blob or of the manifest; for a removal the {@link
 *     BlobFrame.Kind#code} of the blob in one byte and its length in 8; for the blobs in use their
 *     digests, 32 bytes each. Not copied; must not be changed
 */
@TypeInfo(SnapshotRecordSerializer.InfoFactory.class)
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record SnapshotRecord(Kind kind, String key, byte[] value) {
  private static final int DIGEST_BYTES = 32;

  /** The kind of a record. */
  public enum Kind {
    /** A blob: a pack, a base or a list of bases. */
    BLOB,
    /** A manifest. */
    MANIFEST,
    /** The removal of a blob that no reader needs any more. */
    REMOVAL,
    /**
     * The blobs that the next manifest needs. Sent once, before the first manifest after a start,
     * so that a job can check that they were published. This record is not published.
     */
    IN_USE
  }

  public SnapshotRecord {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
  }

  /** Creates the removal of a blob. */
  public static SnapshotRecord removal(BlobReference blob, BlobFrame.Kind kind) {
    byte[] value =
        ByteBuffer.allocate(1 + Long.BYTES).put((byte) kind.code()).putLong(blob.bytes()).array();
    return new SnapshotRecord(Kind.REMOVAL, blob.digest(), value);
  }

  /** Returns the length of the removed blob. */
  public long removedBytes() {
    return ByteBuffer.wrap(value).getLong(1);
  }

  /** Returns the kind of the removed blob. */
  public BlobFrame.Kind removedKind() {
    return kindOf(value[0]);
  }

  /** Creates the record of the blobs in use. */
  public static SnapshotRecord inUse(String setName, Collection<String> digests) {
    ByteBuffer value = ByteBuffer.allocate(DIGEST_BYTES * digests.size());
    digests.forEach(digest -> value.put(HexFormat.of().parseHex(digest)));
    return new SnapshotRecord(Kind.IN_USE, setName, value.array());
  }

  /** Returns the digests of the blobs in use. */
  public List<String> digestsInUse() {
    List<String> digests = new ArrayList<>();
    for (int at = 0; at < value.length; at += DIGEST_BYTES) {
      digests.add(HexFormat.of().formatHex(value, at, at + DIGEST_BYTES));
    }
    return digests;
  }

  private static BlobFrame.Kind kindOf(int code) {
    try {
      return BlobFrame.Kind.of(code);
    } catch (UnsupportedSnapshotException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
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
