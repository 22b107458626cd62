package io.firstseen.jobs.events;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Reads Avro's binary encoding. Never allocates more memory than there are input bytes. */
final class AvroInput {
  private static final int MAX_BYTES_OF_NUMBER = 10;

  private final byte[] bytes;
  private int at;

  AvroInput(byte[] bytes, int from) {
    this.bytes = bytes;
    this.at = from;
  }

  int remaining() {
    return bytes.length - at;
  }

  /** A whole number in zigzag and base 128. */
  long readLong() throws MalformedEventException {
    long number = 0;
    for (int i = 0; i < MAX_BYTES_OF_NUMBER; i++) {
      int next = readByte();
      number |= (next & 0x7FL) << (7 * i);
      if (next < 0x80) {
        return (number >>> 1) ^ -(number & 1);
      }
    }
    throw new MalformedEventException("malformed Avro: a number has more than 10 bytes");
  }

  int readByte() throws MalformedEventException {
    require(1);
    return Byte.toUnsignedInt(bytes[at++]);
  }

  boolean readBoolean() throws MalformedEventException {
    int value = readByte();
    if (value > 1) {
      throw new MalformedEventException("malformed Avro: a boolean is " + value);
    }
    return value == 1;
  }

  float readFloat() throws MalformedEventException {
    return littleEndian(Float.BYTES).getFloat();
  }

  double readDouble() throws MalformedEventException {
    return littleEndian(Double.BYTES).getDouble();
  }

  private ByteBuffer littleEndian(int length) throws MalformedEventException {
    return ByteBuffer.wrap(readFixed(length)).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Bytes, prefixed with their length. */
  byte[] readBytes() throws MalformedEventException {
    return readFixed(readLength());
  }

  /** Text, prefixed with its length in bytes. */
  String readString() throws MalformedEventException {
    int length = readLength();
    ByteBuffer text = ByteBuffer.wrap(bytes, at, length);
    at += length;
    return EventRules.decode(text).toString();
  }

  void skipBytes() throws MalformedEventException {
    int length = readLength();
    at += length;
  }

  byte[] readFixed(int length) throws MalformedEventException {
    require(length);
    byte[] read = Arrays.copyOfRange(bytes, at, at + length);
    at += length;
    return read;
  }

  void skip(int length) throws MalformedEventException {
    require(length);
    at += length;
  }

  /** A length that does not exceed the remaining bytes. */
  private int readLength() throws MalformedEventException {
    long length = readLong();
    require(length);
    return (int) length;
  }

  private void require(long length) throws MalformedEventException {
    if (length < 0 || length > remaining()) {
      throw new MalformedEventException(
          "malformed Avro: expected " + length + " more bytes, got " + remaining());
    }
  }
}
