package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.near.NearMatch;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Fields of variable length: an unsigned LEB128 length, then the bytes. */
final class ByteFields {

  /** The maximum number of bytes that are read at once. */
  private static final int STEP_BYTES = 1 << 16;

  private static final int MAX_SHIFT = 28;

  private ByteFields() {}

  static void writeBytes(byte[] bytes, DataOutputView out) throws IOException {
    writeLength(bytes.length, out);
    out.write(bytes);
  }

  static void writeLength(int length, DataOutputView out) throws IOException {
    int rest = length;
    while (rest > 0x7F) {
      out.writeByte((rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    out.writeByte(rest);
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
