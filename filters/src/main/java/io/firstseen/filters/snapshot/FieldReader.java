package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/** Reads the fields that {@link FieldWriter} writes and rejects every other encoding of them. */
final class FieldReader {
  private static final int DIGEST_BYTES = 32;
  private static final int LEB_BITS = 7;
  private static final int LAST_LEB_SHIFT = 56;

  private final ByteBuffer in;

  /** Reads the remaining bytes of a buffer, whose position does not change. */
  FieldReader(ByteBuffer bytes) {
    this.in = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Reads the magic number and the version, which is 1 in all formats.
   *
   * @param kind what the bytes should be, such as "a blob"
   * @param name the same with the definite article
   */
  void begin(byte[] magic, String kind, String name) throws SnapshotException {
    requireThat(
        remaining() >= magic.length
            && Arrays.equals(bytes(magic.length, "the magic number"), magic),
        "this is not " + kind + ": the magic number is missing");
    int version = u8("the version");
    if (version > FieldWriter.VERSION) {
      throw new UnsupportedSnapshotException(
          "%s has format version %d, this program reads versions up to %d"
              .formatted(name, version, FieldWriter.VERSION));
    }
    requireThat(version == FieldWriter.VERSION, "the format version must be 1, got " + version);
  }

  int remaining() {
    return in.remaining();
  }

  int position() {
    return in.position();
  }

  /** Returns an unsigned number below 2^63. */
  long leb(String what) throws MalformedSnapshotException {
    long number = 0;
    for (int shift = 0; ; shift += LEB_BITS) {
      long next = u8(what);
      if (shift > LAST_LEB_SHIFT) {
        throw new MalformedSnapshotException(what + " must be below 2^63");
      }
      number |= (next & 0x7F) << shift;
      if (next < 0x80) {
        if (next == 0 && shift > 0) {
          throw new MalformedSnapshotException(what + " must have no leading zeros");
        }
        return number;
      }
    }
  }

  long leb(String what, long min, long max) throws MalformedSnapshotException {
    long number = leb(what);
    requireThat(
        number >= min && number <= max,
        what + " must be in [" + min + ", " + max + "], got " + number);
    return number;
  }

  int u8(String what) throws MalformedSnapshotException {
    requireLeft(1, what);
    return in.get() & 0xFF;
  }

  int i32(String what) throws MalformedSnapshotException {
    requireLeft(Integer.BYTES, what);
    return in.getInt();
  }

  long i64(String what) throws MalformedSnapshotException {
    requireLeft(Long.BYTES, what);
    return in.getLong();
  }

  byte[] bytes(int length, String what) throws MalformedSnapshotException {
    requireLeft(length, what);
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }

  /** Returns a part of the buffer, not copied. */
  ByteBuffer slice(int length, String what) throws MalformedSnapshotException {
    requireLeft(length, what);
    ByteBuffer slice = in.slice(in.position(), length);
    in.position(in.position() + length);
    return slice;
  }

  String digest(String what) throws MalformedSnapshotException {
    return HexFormat.of().formatHex(bytes(DIGEST_BYTES, what));
  }

  String name() throws MalformedSnapshotException {
    String name =
        new String(
            bytes(u8("the length of the set name"), "the set name"), StandardCharsets.ISO_8859_1);
    try {
      return SnapshotTopicFormat.requireSetName(name);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  BlobReference reference(String what) throws MalformedSnapshotException {
    String digest = digest("the digest of " + what);
    return new BlobReference(digest, leb("the length of " + what, 1, Integer.MAX_VALUE));
  }

  /** Rejects a number of items that cannot fit into the remaining bytes. */
  int count(String what, long min, long max, int bytesOfOne) throws MalformedSnapshotException {
    long count = leb(what, min, max);
    requireThat(
        count <= remaining() / bytesOfOne,
        what
            + " must be at most "
            + remaining() / bytesOfOne
            + ", as bytes are left, got "
            + count);
    return (int) count;
  }

  void requireEnd() throws MalformedSnapshotException {
    requireThat(!in.hasRemaining(), in.remaining() + " bytes follow the last field");
  }

  private void requireLeft(int length, String what) throws MalformedSnapshotException {
    if (in.remaining() < length) {
      throw new MalformedSnapshotException(
          what + " needs " + length + " bytes, only " + in.remaining() + " are left");
    }
  }
}
