package io.firstseen.jobs.events;

import java.nio.ByteBuffer;

/** The header of the schema registries: a zero, and the id of the schema. */
final class SchemaHeader {
  static final int BYTES = 5;

  private SchemaHeader() {}

  /** The id of a value's schema. */
  static int id(byte[] value) throws MalformedEventException {
    if (value.length < BYTES || value[0] != 0) {
      throw new MalformedEventException(
          "value must begin with a zero and the 4 bytes of the id of its schema, it "
              + (value.length < BYTES
                  ? "has " + value.length + " bytes"
                  : "begins with " + Byte.toUnsignedInt(value[0])));
    }
    return ByteBuffer.wrap(value, 1, Integer.BYTES).getInt();
  }
}
