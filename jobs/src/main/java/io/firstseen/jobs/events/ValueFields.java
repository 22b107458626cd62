package io.firstseen.jobs.events;

import java.io.Serializable;
import java.nio.ByteBuffer;

/** Decodes values of one format, and extracts fields. */
interface ValueFields extends Serializable {
  int HEADER_BYTES = 5;

  /** Returns the values of {@link io.firstseen.jobs.shared.EventFields#all()}, in this order. */
  FieldValue[] read(byte[] value) throws MalformedEventException;

  /** The schema id in the header of the schema registries, which follows a zero byte. */
  static int schemaId(byte[] value) throws MalformedEventException {
    if (value.length < HEADER_BYTES || value[0] != 0) {
      throw new MalformedEventException(
          "value must start with a zero byte and the 4 bytes of its schema id, it "
              + (value.length < HEADER_BYTES
                  ? "has " + value.length + " bytes"
                  : "starts with " + Byte.toUnsignedInt(value[0])));
    }
    return ByteBuffer.wrap(value, 1, Integer.BYTES).getInt();
  }
}
