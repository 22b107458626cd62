package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.filters.snapshot.BlobReference;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.Supplier;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The fields that several serializers write. A field of variable length is an unsigned LEB128
 * length, then the bytes.
 */
final class ByteFields {

  /** The maximum number of bytes that are read at once. */
  private static final int STEP_BYTES = 1 << 16;

  private static final int MAX_SHIFT = 28;

  private ByteFields() {}

  static void writeBytes(byte[] bytes, DataOutputView out) throws IOException {
    writeLength(bytes.length, out);
    out.write(bytes);
  }

  static void writeLength(long length, DataOutputView out) throws IOException {
    long rest = length;
    while (rest >>> 7 != 0) {
      out.writeByte((int) (rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    out.writeByte((int) rest);
  }

  /**
   * Reads in steps, so that a forged length cannot allocate more memory than the input has bytes.
   */
  static byte[] readBytes(DataInputView in) throws IOException {
    int length = readLength(in);
    byte[] bytes = new byte[Math.min(length, STEP_BYTES)];
    in.readFully(bytes);
    while (bytes.length < length) {
      int read = bytes.length;
      bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * read));
      in.readFully(bytes, read, bytes.length - read);
    }
    return bytes;
  }

  static int readLength(DataInputView in) throws IOException {
    long length = 0;
    int next;
    int shift = 0;
    do {
      next = in.readUnsignedByte();
      length |= (next & 0x7FL) << shift;
      shift += 7;
    } while (next > 0x7F && shift <= MAX_SHIFT);
    if (next > 0x7F || length > Integer.MAX_VALUE) {
      throw new IOException("length of a field does not fit into 31 bits");
    }
    return (int) length;
  }

  /** Writes a blob reference: the digest after its length; then the bytes in 8 bytes. */
  static void writeReference(BlobReference reference, DataOutputView out) throws IOException {
    writeString(reference.digest(), out);
    out.writeLong(reference.bytes());
  }

  static BlobReference readReference(DataInputView in) throws IOException {
    String digest = readString(in);
    long bytes = in.readLong();
    return checked(() -> new BlobReference(digest, bytes));
  }

  /** Writes a universe: buckets and width, in 8 bytes each. */
  static void writeUniverse(Universe universe, DataOutputView out) throws IOException {
    out.writeLong(universe.buckets());
    out.writeLong(universe.width());
  }

  static Universe readUniverse(DataInputView in) throws IOException {
    long buckets = in.readLong();
    long width = in.readLong();
    return checked(() -> new Universe(buckets, width));
  }

  /** Returns a value that was read from state; fields that it rejects are malformed input. */
  static <T> T checked(Supplier<T> value) throws IOException {
    try {
      return value.get();
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  static void writeMatch(NearMatch match, DataOutputView out) throws IOException {
    writeString(match.text(), out);
    out.writeByte(match.bands());
  }

  static NearMatch readMatch(DataInputView in) throws IOException {
    return new NearMatch(readString(in), in.readUnsignedByte());
  }

  static void writeString(String text, DataOutputView out) throws IOException {
    writeBytes(text.getBytes(UTF_8), out);
  }

  static String readString(DataInputView in) throws IOException {
    return new String(readBytes(in), UTF_8);
  }
}
