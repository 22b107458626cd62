package io.firstseen.filters.snapshot;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Writes the fields of a published record: fixed integers little-endian, others as LEB128. */
final class FieldWriter {
  /** The version of all formats. */
  static final int VERSION = 1;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream(256);

  static FieldWriter begin(byte[] magic) {
    return new FieldWriter().bytes(magic).u8(VERSION);
  }

  /** Appends an unsigned number in LEB128, in its shortest form. */
  FieldWriter leb(long number) {
    long left = number;
    while ((left & ~0x7FL) != 0) {
      out.write((int) ((left & 0x7F) | 0x80));
      left >>>= 7;
    }
    out.write((int) left);
    return this;
  }

  FieldWriter u8(int number) {
    out.write(number);
    return this;
  }

  FieldWriter u16(int number) {
    return fixed(number, Short.BYTES);
  }

  FieldWriter i32(int number) {
    return fixed(Integer.toUnsignedLong(number), Integer.BYTES);
  }

  FieldWriter i64(long number) {
    return fixed(number, Long.BYTES);
  }

  private FieldWriter fixed(long number, int bytes) {
    for (int i = 0; i < bytes; i++) {
      out.write((int) (number >>> (8 * i)));
    }
    return this;
  }

  FieldWriter bytes(byte[] bytes) {
    out.writeBytes(bytes);
    return this;
  }

  FieldWriter bytes(ByteBuffer bytes) {
    byte[] copy = new byte[bytes.remaining()];
    bytes.get(bytes.position(), copy);
    return bytes(copy);
  }

  /** Appends a digest of 64 hexadecimal digits as 32 bytes. */
  FieldWriter digest(String hex) {
    return bytes(HexFormat.of().parseHex(hex));
  }

  /** Appends a set name behind its length in one byte. */
  FieldWriter name(String setName) {
    return u8(setName.length()).bytes(setName.getBytes(StandardCharsets.US_ASCII));
  }

  FieldWriter reference(BlobReference blob) {
    return digest(blob.digest()).leb(blob.bytes());
  }

  /** Appends the CRC32C of everything before it. */
  FieldWriter checksum() {
    return i32(SnapshotFormat.crc32c(ByteBuffer.wrap(out.toByteArray())));
  }

  byte[] toBytes() {
    return out.toByteArray();
  }
}
