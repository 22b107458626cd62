package io.firstseen.events;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * Fields of values in Avro's binary encoding. Pointer tokens name fields of records and keys of
 * maps; a union is replaced by its value.
 */
final class AvroFields extends ValueFields {
  /** More than the maximum size of a value, because some elements take no bytes. */
  static final int MAX_ELEMENTS = 1_000_000;

  /** A limit on the time to decode a value: a few bytes can encode any number of empty records. */
  static final int MAX_VALUES = 10_000_000;

  static final int MAX_LEVELS = 1_000;

  private static final long serialVersionUID = 1;

  private final AvroSchemas schemas;
  private final boolean hasHeader;

  AvroFields(List<FieldPointer> pointers, AvroSchemas schemas, boolean hasHeader) {
    super(pointers);
    this.schemas = schemas;
    this.hasHeader = hasHeader;
  }

  @Override
  FieldValue[] read(byte[] value) throws MalformedEventException {
    Schema schema = schemas.of(hasHeader ? schemaId(value) : 0);
    int from = hasHeader ? HEADER_BYTES : 0;
    BinaryDecoder in = DecoderFactory.get().binaryDecoder(value, from, value.length - from, null);
    Walk walk = new Walk(in, nothing());
    try {
      walk.read(schema, root, 0);
    } catch (EOFException e) {
      throw new MalformedEventException("malformed Avro: the value ends too early");
    } catch (IOException e) {
      throw new MalformedEventException("malformed Avro: " + e.getMessage());
    }
    if (in.remainingBytes() > 0) {
      throw new MalformedEventException(
          "malformed Avro: there are " + in.remainingBytes() + " bytes after the value");
    }
    return walk.found;
  }

  private static final class Walk {
    private final BinaryDecoder in;
    private final FieldValue[] found;
    private int elements;
    private int values;

    Walk(BinaryDecoder in, FieldValue[] found) {
      this.in = in;
      this.found = found;
    }

    void read(Schema schema, FieldNode node, int level)
        throws IOException, MalformedEventException {
      if (level > MAX_LEVELS) {
        throw new MalformedEventException(
            "Avro must have at most " + MAX_LEVELS + " levels, got more");
      }
      if (++values > MAX_VALUES) {
        throw new MalformedEventException(
            "Avro must have at most " + MAX_VALUES + " values in a value, got more");
      }
      switch (schema.getType()) {
        case UNION -> read(choice(schema.getTypes(), "a union"), node, level + 1);
        case RECORD -> {
          node.set(found, FieldValue.OBJECT);
          for (Schema.Field field : schema.getFields()) {
            read(field.schema(), node.child(field.name()), level + 1);
          }
        }
        case ARRAY -> {
          node.set(found, FieldValue.ARRAY);
          int index = 0;
          for (long left = block(); left > 0; left = block()) {
            for (; left > 0; left--) {
              read(schema.getElementType(), node.child(index++), level + 1);
            }
          }
        }
        case MAP -> {
          node.set(found, FieldValue.OBJECT);
          for (long left = block(); left > 0; left = block()) {
            for (; left > 0; left--) {
              FieldNode child = FieldNode.NONE;
              if (node.hasChildren()) {
                child = node.child(text());
                child.clear(found);
              } else {
                in.skipFixed(length());
              }
              read(schema.getValueType(), child, level + 1);
            }
          }
        }
        default -> {
          if (node.isNamed()) {
            node.set(found, scalar(schema));
          } else {
            skip(schema);
          }
        }
      }
    }

    private <T> T choice(List<T> choices, String of) throws IOException, MalformedEventException {
      long index = in.readLong();
      if (index < 0 || index >= choices.size()) {
        throw new MalformedEventException(
            "malformed Avro: %s must have an index less than %d, got %d"
                .formatted(of, choices.size(), index));
      }
      return choices.get((int) index);
    }

    /** The number of elements of the next block of an array or map; 0 at its end. */
    private long block() throws IOException, MalformedEventException {
      long size = in.readLong();
      if (size < 0) {
        // The length in bytes follows.
        in.readLong();
        size = -size;
      }
      // The smallest long has no positive counterpart.
      if (size < 0 || size > MAX_ELEMENTS - elements) {
        throw new MalformedEventException(
            "Avro must have at most " + MAX_ELEMENTS + " elements, got more");
      }
      elements += (int) size;
      return size;
    }

    private FieldValue scalar(Schema schema) throws IOException, MalformedEventException {
      return switch (schema.getType()) {
        case NULL -> FieldValue.NULL;
        case BOOLEAN -> FieldValue.of(FieldValue.Kind.BOOLEAN, readBoolean());
        case INT, LONG -> number(in.readLong(), schema.getLogicalType());
        case FLOAT -> FieldValue.of(FieldValue.Kind.NUMBER, in.readFloat());
        case DOUBLE -> FieldValue.of(FieldValue.Kind.NUMBER, in.readDouble());
        case STRING -> FieldValue.of(FieldValue.Kind.STRING, text());
        case BYTES -> FieldValue.bytes(bytes(length()));
        case FIXED -> FieldValue.bytes(bytes(require(schema.getFixedSize())));
        case ENUM ->
            FieldValue.of(FieldValue.Kind.STRING, choice(schema.getEnumSymbols(), "an enum"));
        default -> throw new AssertionError(schema.getType());
      };
    }

    /** Skips a scalar without a copy. */
    private void skip(Schema schema) throws IOException, MalformedEventException {
      switch (schema.getType()) {
        case STRING, BYTES -> in.skipFixed(length());
        case FIXED -> in.skipFixed(require(schema.getFixedSize()));
        default -> {
          FieldValue unused = scalar(schema);
        }
      }
    }

    private boolean readBoolean() throws IOException, MalformedEventException {
      byte value = bytes(require(1))[0];
      if (value < 0 || value > 1) {
        throw new MalformedEventException("malformed Avro: a boolean is " + value);
      }
      return value == 1;
    }

    private String text() throws IOException, MalformedEventException {
      return EventRules.decode(ByteBuffer.wrap(bytes(length()))).toString();
    }

    private byte[] bytes(int length) throws IOException {
      byte[] bytes = new byte[length];
      in.readFixed(bytes);
      return bytes;
    }

    private int length() throws IOException, MalformedEventException {
      return require(in.readLong());
    }

    /** Rejects a length before memory of this size is allocated. */
    private int require(long length) throws MalformedEventException {
      if (length < 0 || length > in.remainingBytes()) {
        throw new MalformedEventException(
            "malformed Avro: expected " + length + " more bytes, got " + in.remainingBytes());
      }
      return (int) length;
    }

    private static FieldValue number(long number, @Nullable LogicalType type) {
      FieldValue value = FieldValue.of(FieldValue.Kind.WHOLE_NUMBER, number);
      if (type instanceof LogicalTypes.TimestampMillis) {
        return value.at(number);
      }
      if (type instanceof LogicalTypes.TimestampMicros) {
        return value.at(Math.floorDiv(number, 1_000));
      }
      return type instanceof LogicalTypes.TimestampNanos
          ? value.at(Math.floorDiv(number, 1_000_000))
          : value;
    }
  }
}
