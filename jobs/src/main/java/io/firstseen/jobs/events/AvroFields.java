package io.firstseen.jobs.events;

import io.firstseen.jobs.shared.FieldPointer;
import java.util.List;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Fields of values in Avro's binary encoding. Pointer tokens name fields of records and keys of
 * maps; a union is replaced by its value.
 */
final class AvroFields implements ValueFields {
  /** More than the maximum size of a value, because some elements take no bytes. */
  static final int MAX_ELEMENTS = 1_000_000;

  /** A limit on the time to decode a value: a few bytes can encode any number of empty records. */
  static final int MAX_VALUES = 10_000_000;

  static final int MAX_LEVELS = 1_000;

  private static final long serialVersionUID = 1;

  private final FieldNode root;
  private final int count;
  private final AvroSchemas schemas;
  private final boolean hasHeader;

  AvroFields(List<FieldPointer> pointers, AvroSchemas schemas, boolean hasHeader) {
    this.root = FieldNode.of(pointers);
    this.count = pointers.size();
    this.schemas = schemas;
    this.hasHeader = hasHeader;
  }

  @Override
  public FieldValue[] read(byte[] value) throws MalformedEventException {
    int id = hasHeader ? ValueFields.schemaId(value) : 0;
    Schema schema = schemas.of(id);
    Walk walk = new Walk(new AvroInput(value, hasHeader ? HEADER_BYTES : 0), count);
    walk.read(schema, root, 0);
    if (walk.in.remaining() > 0) {
      throw new MalformedEventException(
          "malformed Avro: there are " + walk.in.remaining() + " bytes after the value");
    }
    return walk.found;
  }

  private static final class Walk {
    private final AvroInput in;
    private final FieldValue[] found;
    private int elements;
    private int values;

    Walk(AvroInput in, int count) {
      this.in = in;
      this.found = FieldNode.nothing(count);
    }

    /** Reads a value for the pointers of a node; skips the value if the node is null. */
    void read(Schema schema, @Nullable FieldNode node, int level) throws MalformedEventException {
      if (level > MAX_LEVELS) {
        throw new MalformedEventException(
            "Avro must have at most " + MAX_LEVELS + " levels, got more");
      }
      if (++values > MAX_VALUES) {
        throw new MalformedEventException(
            "Avro must have at most " + MAX_VALUES + " values in a value, got more");
      }
      switch (schema.getType()) {
        case UNION -> read(branch(schema), node, level + 1);
        case RECORD -> {
          set(node, FieldValue.OBJECT);
          for (Schema.Field field : schema.getFields()) {
            read(field.schema(), node == null ? null : node.child(field.name()), level + 1);
          }
        }
        case ARRAY -> {
          set(node, FieldValue.ARRAY);
          int index = 0;
          for (long left = block(); left > 0; left = block()) {
            for (; left > 0; left--, index++) {
              boolean isNamed = node != null && node.hasChildren();
              read(schema.getElementType(), isNamed ? node.child(index) : null, level + 1);
            }
          }
        }
        case MAP -> {
          set(node, FieldValue.OBJECT);
          for (long left = block(); left > 0; left = block()) {
            for (; left > 0; left--) {
              readEntry(schema.getValueType(), node, level + 1);
            }
          }
        }
        default -> {
          if (node != null && node.isNamed()) {
            node.set(found, scalar(schema));
          } else {
            skip(schema);
          }
        }
      }
    }

    private void readEntry(Schema values, @Nullable FieldNode node, int level)
        throws MalformedEventException {
      FieldNode child = null;
      if (node == null || !node.hasChildren()) {
        in.skipBytes();
      } else {
        child = node.child(in.readString());
      }
      if (child != null) {
        child.clear(found);
      }
      read(values, child, level);
    }

    private Schema branch(Schema union) throws MalformedEventException {
      long index = in.readLong();
      List<Schema> branches = union.getTypes();
      if (index < 0 || index >= branches.size()) {
        throw new MalformedEventException(
            "malformed Avro: a union of %d types has no type %d".formatted(branches.size(), index));
      }
      return branches.get((int) index);
    }

    /** The number of elements of the next block of an array or map; 0 at its end. */
    private long block() throws MalformedEventException {
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

    private FieldValue scalar(Schema schema) throws MalformedEventException {
      return switch (schema.getType()) {
        case NULL -> FieldValue.NULL;
        case BOOLEAN -> FieldValue.bool(in.readBoolean());
        case INT, LONG -> number(in.readLong(), schema.getLogicalType());
        case FLOAT -> FieldValue.number(Float.toString(in.readFloat()));
        case DOUBLE -> FieldValue.number(Double.toString(in.readDouble()));
        case STRING -> FieldValue.string(in.readString());
        case BYTES -> FieldValue.bytes(in.readBytes());
        case FIXED -> FieldValue.bytes(in.readFixed(schema.getFixedSize()));
        case ENUM -> FieldValue.string(symbol(schema));
        default -> throw new AssertionError(schema.getType());
      };
    }

    /** Skips a scalar without a copy. */
    private void skip(Schema schema) throws MalformedEventException {
      switch (schema.getType()) {
        case INT, LONG -> in.readLong();
        case FLOAT -> in.skip(Float.BYTES);
        case DOUBLE -> in.skip(Double.BYTES);
        case STRING, BYTES -> in.skipBytes();
        case FIXED -> in.skip(schema.getFixedSize());
        default -> scalar(schema);
      }
    }

    private String symbol(Schema schema) throws MalformedEventException {
      long index = in.readLong();
      List<String> symbols = schema.getEnumSymbols();
      if (index < 0 || index >= symbols.size()) {
        throw new MalformedEventException(
            "malformed Avro: an enum of %d symbols has no symbol %d"
                .formatted(symbols.size(), index));
      }
      return symbols.get((int) index);
    }

    private static FieldValue number(long number, @Nullable LogicalType type) {
      FieldValue value = FieldValue.wholeNumber(Long.toString(number));
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

    private void set(@Nullable FieldNode node, FieldValue value) {
      if (node != null) {
        node.set(found, value);
      }
    }
  }
}
