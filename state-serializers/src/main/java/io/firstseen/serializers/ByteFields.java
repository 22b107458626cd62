package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Fields of variable length: an unsigned LEB128 length, then the bytes. */
final class ByteFields {

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

  static byte[] readBytes(DataInputView in) throws IOException {
    byte[] bytes = new byte[readLength(in)];
    in.readFully(bytes);
    return bytes;
  }

  static int readLength(DataInputView in) throws IOException {
    int length = 0;
    int shift = 0;
    int next;
    do {
      next = in.readUnsignedByte();
      length |= (next & 0x7F) << shift;
      shift += 7;
    } while (next > 0x7F && shift < 35);
    if (next > 0x7F || length < 0) {
      throw new IOException("length of a field does not fit into 31 bits");
    }
    return length;
  }

  static void writeString(String text, DataOutputView out) throws IOException {
    writeBytes(text.getBytes(UTF_8), out);
  }

  static String readString(DataInputView in) throws IOException {
    return new String(readBytes(in), UTF_8);
  }
}
