package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The common frame of all blobs: magic number, version, kind and set name at the beginning, and a
 * checksum at the end. Specified in {@code docs/format/blob-v1.md}.
 *
 * @param kind what the blob is
 * @param setName the set that it belongs to
 */
public record BlobFrame(Kind kind, String setName) {
  private static final byte[] MAGIC = {(byte) 0x89, 'F', 'S', 'B'};
  private static final int CHECKSUM_BYTES = 4;

  /** The kinds of blobs. */
  public enum Kind {
    /** {@link Pack}. */
    PACK(1, "a pack"),
    /** {@link Base}. */
    BASE(2, "a base"),
    /** {@link BaseList}. */
    BASE_LIST(3, "a list of bases");

    private final int code;
    private final String words;

    Kind(int code, String words) {
      this.code = code;
      this.words = words;
    }

    /** Returns the code of the kind in a blob. */
    public int code() {
      return code;
    }

    /**
     * Returns the kind with a code.
     *
     * @throws UnsupportedSnapshotException if this version does not support the code
     */
    public static Kind of(int code) throws UnsupportedSnapshotException {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new UnsupportedSnapshotException("the kind of a blob must be 1 to 3, got " + code);
    }

    @Override
    public String toString() {
      return words;
    }
  }

  /**
   * Reads the beginning of a blob.
   *
   * @param blob the remaining bytes are the first bytes of the blob
   * @return empty if they are not the beginning of a blob that this version can read
   */
  public static Optional<BlobFrame> peek(ByteBuffer blob) {
    try {
      return Optional.of(read(blob));
    } catch (SnapshotException e) {
      return Optional.empty();
    }
  }

  /**
   * Reads the beginning of a blob, like {@link #peek}.
   *
   * @throws MalformedSnapshotException if it is not the beginning of a blob
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static BlobFrame read(ByteBuffer blob) throws SnapshotException {
    return read(new FieldReader(blob));
  }

  static byte[] join(Kind kind, String setName, Consumer<FieldWriter> body) {
    FieldWriter out =
        FieldWriter.begin(MAGIC)
            .u8(0)
            .u8(kind.code)
            .name(SnapshotTopicFormat.requireSetName(setName));
    body.accept(out);
    return out.checksum().toBytes();
  }

  /**
   * Checks the frame of a blob.
   *
   * @return a reader of the body, which the caller must read to its end
   * @throws MalformedSnapshotException if it is not a blob of this kind and set
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  static FieldReader open(ByteBuffer blob, Kind kind, String setName) throws SnapshotException {
    FieldReader in = new FieldReader(blob);
    BlobFrame frame = read(in);
    int bodyBytes = in.remaining() - CHECKSUM_BYTES;
    requireThat(bodyBytes >= 0, "a blob must have a checksum");
    ByteBuffer checked = blob.slice().limit(blob.remaining() - CHECKSUM_BYTES);
    ByteBuffer body = in.slice(bodyBytes, "the body");
    requireThat(
        in.i32("the checksum") == SnapshotFormat.crc32c(checked),
        "the checksum of the blob does not match its " + blob.remaining() + " bytes");
    requireThat(frame.kind == kind, "this is " + frame.kind + "; " + kind + " is needed");
    requireThat(
        frame.setName.equals(setName),
        "it must be of set '" + setName + "', got '" + frame.setName + "'");
    return new FieldReader(body);
  }

  static BlobFrame read(FieldReader in) throws SnapshotException {
    in.begin(MAGIC, "a blob", "the blob");
    int requiredFlags = in.u8("the required flags");
    if (requiredFlags != 0) {
      throw new UnsupportedSnapshotException(
          "the blob needs features 0x%02x, of which none is known".formatted(requiredFlags));
    }
    Kind kind = Kind.of(in.u8("the kind"));
    return new BlobFrame(kind, in.name());
  }
}
