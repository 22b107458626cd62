package io.firstseen.events;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** Decodes values of one format, and extracts fields. */
abstract class ValueFields implements Serializable {
  static final int HEADER_BYTES = 5;

  private static final long serialVersionUID = 1;

  final FieldNode root;
  private final int count;

  ValueFields(List<FieldPointer> pointers) {
    root = FieldNode.of(pointers);
    count = pointers.size();
  }

  abstract FieldValue[] read(byte[] value) throws MalformedEventException;

  final FieldValue[] nothing() {
    FieldValue[] found = new FieldValue[count];
    Arrays.fill(found, FieldValue.MISSING);
    return found;
  }

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
