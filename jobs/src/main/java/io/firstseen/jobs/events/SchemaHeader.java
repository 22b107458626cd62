package io.firstseen.jobs.events;

import java.nio.ByteBuffer;

/** The header of the schema registries: a zero byte and the schema id. */
final class SchemaHeader {
  static final int BYTES = 5;

  private SchemaHeader() {}

  static int id(byte[] value) throws MalformedEventException {
    if (value.length < BYTES || value[0] != 0) {
      throw new MalformedEventException(
          "value must start with a zero byte and the 4 bytes of its schema id, it "
              + (value.length < BYTES
                  ? "has " + value.length + " bytes"
                  : "starts with " + Byte.toUnsignedInt(value[0])));
    }
    return ByteBuffer.wrap(value, 1, Integer.BYTES).getInt();
  }
}
