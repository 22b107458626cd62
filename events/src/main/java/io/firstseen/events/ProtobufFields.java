package io.firstseen.events;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.WireFormat;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Fields of Protocol Buffers messages, by the names in their schema. */
final class ProtobufFields extends ValueFields {
  private static final long serialVersionUID = 1;

  /**
   * The maximum number of messages in a value: each message becomes an object of about a hundred
   * bytes, but may take only two bytes of the value. Enum numbers without a name also count.
   */
  static final int MAX_MESSAGES = 100_000;

  // The nesting limit of Protocol Buffers.
  private static final int MAX_LEVELS = 100;

  private static final String TIMESTAMP = "google.protobuf.Timestamp";

  private final byte[] descriptorSet;
  private final String message;
  private final boolean hasHeader;
  private transient Descriptor descriptor;
  private transient Parser<DynamicMessage> parser;
  private transient List<Long> indexes;

  ProtobufFields(List<FieldPointer> pointers, ValueSchema schema) {
    super(pointers);
    this.descriptorSet = schema.file();
    this.message = schema.message();
    this.hasHeader = schema.hasHeader();
    load();
  }

  private void load() {
    descriptor = descriptor(descriptorSet, message);
    // Unknown fields would also take memory.
    parser =
        DiscardUnknownFieldsParser.wrap(
            DynamicMessage.getDefaultInstance(descriptor).getParserForType());
    indexes = indexes(descriptor);
  }

  private static List<Long> indexes(Descriptor descriptor) {
    List<Long> indexes = new ArrayList<>();
    for (Descriptor each = descriptor; each != null; each = each.getContainingType()) {
      indexes.add(0, (long) each.getIndex());
    }
    return List.copyOf(indexes);
  }

  private static Descriptor descriptor(byte[] descriptorSet, String message) {
    Map<String, FileDescriptorProto> files = new LinkedHashMap<>();
    Map<String, FileDescriptor> built = new HashMap<>();
    try {
      for (FileDescriptorProto file : FileDescriptorSet.parseFrom(descriptorSet).getFileList()) {
        files.put(file.getName(), file);
      }
      TypeRegistry.Builder types = TypeRegistry.newBuilder();
      for (String name : files.keySet()) {
        types.add(build(name, files, built).getMessageTypes());
      }
      Descriptor found = types.build().find(message);
      if (found != null) {
        return found;
      }
    } catch (InvalidProtocolBufferException | DescriptorValidationException e) {
      throw new UserErrorException(
          "--schema is not a Protocol Buffers descriptor set (protoc --descriptor_set_out"
              + " --include_imports): "
              + e.getMessage());
    }
    throw new UserErrorException(
        "--schema does not define message %s; its files are %s"
            .formatted(message, String.join(", ", files.keySet())));
  }

  /** Builds a file after its imports. Rejects circular imports, like protoc. */
  private static FileDescriptor build(
      String name, Map<String, FileDescriptorProto> files, Map<String, FileDescriptor> built)
      throws DescriptorValidationException {
    if (built.containsKey(name)) {
      FileDescriptor file = built.get(name);
      if (file == null) {
        throw new UserErrorException("--schema has a file that imports itself,  " + name);
      }
      return file;
    }
    FileDescriptorProto proto = files.get(name);
    if (proto == null) {
      throw new UserErrorException(
          "--schema does not contain the imported file %s: create it with --include_imports"
              .formatted(name));
    }
    built.put(name, null);
    FileDescriptor[] imports = new FileDescriptor[proto.getDependencyCount()];
    for (int i = 0; i < imports.length; i++) {
      imports[i] = build(proto.getDependency(i), files, built);
    }
    FileDescriptor file = FileDescriptor.buildFrom(proto, imports);
    built.put(name, file);
    return file;
  }

  @Override
  FieldValue[] read(byte[] value) throws MalformedEventException {
    if (descriptor == null) {
      load();
    }
    FieldValue[] found = nothing();
    try {
      CodedInputStream in = CodedInputStream.newInstance(value);
      if (hasHeader) {
        // The id itself is not used.
        int unused = ValueFields.schemaId(value);
        in.skipRawBytes(HEADER_BYTES);
        checkIndexes(in);
      }
      int from = in.getTotalBytesRead();
      new Count(false).read(in, descriptor, 0);
      readMessage(parser.parsePartialFrom(value, from, value.length - from), root, found);
      if (Arrays.stream(found).anyMatch(ProtobufFields::hasReplacement)) {
        new Count(true)
            .read(CodedInputStream.newInstance(value, from, value.length - from), descriptor, 0);
      }
    } catch (IOException e) {
      throw new MalformedEventException(
          "malformed Protocol Buffers: " + EventRules.excerpt(String.valueOf(e.getMessage())));
    }
    return found;
  }

  /** Checks the message indexes of the header; a single zero is the file's first message. */
  private void checkIndexes(CodedInputStream in) throws IOException, MalformedEventException {
    long size = in.readSInt64();
    if (size < 0 || size > MAX_LEVELS) {
      throw new MalformedEventException(
          "value must have 0 to %d message indexes, got %d".formatted(MAX_LEVELS, size));
    }
    List<Long> has = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      has.add(in.readSInt64());
    }
    if (has.isEmpty()) {
      has.add(0L);
    }
    if (!has.equals(indexes)) {
      throw new MalformedEventException(
          "value must have the message indexes of %s, %s, got %s".formatted(message, indexes, has));
    }
  }

  /**
   * Whether a value contains the replacement character that proto2 substitutes for bytes that are
   * not UTF-8, which makes different values equal.
   */
  private static boolean hasReplacement(@Nullable FieldValue value) {
    return value != null
        && value.kind() == FieldValue.Kind.STRING
        && value.text().indexOf('\uFFFD') >= 0;
  }

  /** Counts messages before they are parsed, because a message takes only a few bytes. */
  private static final class Count {
    private final boolean checksStrings;
    private int messages;

    Count(boolean checksStrings) {
      this.checksStrings = checksStrings;
    }

    void read(CodedInputStream in, Descriptor type, int level)
        throws IOException, MalformedEventException {
      while (true) {
        int tag = in.readTag();
        if (tag == 0) {
          return;
        }
        FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
        int wireType = WireFormat.getTagWireType(tag);
        if (wireType == WireFormat.WIRETYPE_LENGTH_DELIMITED && field != null) {
          readBytes(in, field, level);
        } else if (wireType == WireFormat.WIRETYPE_START_GROUP
            && field != null
            && field.getType() == FieldDescriptor.Type.GROUP
            && level < MAX_LEVELS) {
          add();
          read(in, field.getMessageType(), level + 1);
          // The two tags of a group differ only in their type.
          in.checkLastTagWas(tag - WireFormat.WIRETYPE_START_GROUP + WireFormat.WIRETYPE_END_GROUP);
        } else {
          if (field != null && field.getType() == FieldDescriptor.Type.ENUM) {
            add();
          }
          if (!in.skipField(tag)) {
            return;
          }
        }
      }
    }

    private void readBytes(CodedInputStream in, FieldDescriptor field, int level)
        throws IOException, MalformedEventException {
      int length = in.readRawVarint32();
      if (field.getType() == FieldDescriptor.Type.MESSAGE && level < MAX_LEVELS) {
        add();
        int limit = in.pushLimit(length);
        read(in, field.getMessageType(), level + 1);
        in.checkLastTagWas(0);
        in.popLimit(limit);
      } else if (field.getType() == FieldDescriptor.Type.ENUM) {
        int limit = in.pushLimit(length);
        while (in.getBytesUntilLimit() > 0) {
          in.readEnum();
          add();
        }
        in.popLimit(limit);
      } else if (checksStrings && field.getType() == FieldDescriptor.Type.STRING) {
        if (!ByteString.copyFrom(in.readRawBytes(length)).isValidUtf8()) {
          throw new MalformedEventException("field " + field.getName() + " is not UTF-8");
        }
      } else {
        in.skipRawBytes(length);
      }
    }

    private void add() throws MalformedEventException {
      if (++messages > MAX_MESSAGES) {
        throw new MalformedEventException(
            "Protocol Buffers must have at most %d messages, map entries and enums in a value, got more"
                .formatted(MAX_MESSAGES));
      }
    }
  }

  private static void readMessage(Message message, FieldNode node, FieldValue[] found) {
    node.set(found, time(message));
    if (!node.hasChildren()) {
      return;
    }
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      FieldNode child = node.child(field.getName());
      if (child == FieldNode.NONE) {
        continue;
      }
      if (field.isMapField()) {
        readMap(message, field, child, found);
      } else if (field.isRepeated()) {
        child.set(found, FieldValue.ARRAY);
        int size = child.hasChildren() ? message.getRepeatedFieldCount(field) : 0;
        for (int i = 0; i < size; i++) {
          readValue(field, message.getRepeatedField(field, i), child.child(i), found);
        }
      } else if (!field.hasPresence() || message.hasField(field)) {
        readValue(field, message.getField(field), child, found);
      }
    }
  }

  private static void readMap(
      Message message, FieldDescriptor field, FieldNode node, FieldValue[] found) {
    node.set(found, FieldValue.OBJECT);
    FieldDescriptor keys = field.getMessageType().findFieldByNumber(1);
    FieldDescriptor values = field.getMessageType().findFieldByNumber(2);
    int size = node.hasChildren() ? message.getRepeatedFieldCount(field) : 0;
    for (int i = 0; i < size; i++) {
      Message entry = (Message) message.getRepeatedField(field, i);
      FieldNode child = node.child(scalar(keys, entry.getField(keys)).text());
      child.clear(found);
      readValue(values, entry.getField(values), child, found);
    }
  }

  private static void readValue(
      FieldDescriptor field, Object value, FieldNode node, FieldValue[] found) {
    if (value instanceof Message message) {
      readMessage(message, node, found);
    } else {
      node.set(found, scalar(field, value));
    }
  }

  private static FieldValue scalar(FieldDescriptor field, Object value) {
    return switch (field.getType()) {
      case BOOL -> FieldValue.of(FieldValue.Kind.BOOLEAN, value);
      case STRING -> FieldValue.of(FieldValue.Kind.STRING, value);
      case BYTES -> FieldValue.bytes(((ByteString) value).toByteArray());
      case FLOAT, DOUBLE -> FieldValue.of(FieldValue.Kind.NUMBER, value);
      case UINT32, FIXED32 -> wholeNumber(Integer.toUnsignedString((Integer) value));
      case UINT64, FIXED64 -> wholeNumber(Long.toUnsignedString((Long) value));
      case INT32, SINT32, SFIXED32, INT64, SINT64, SFIXED64 -> wholeNumber(value);
      case ENUM -> symbol((EnumValueDescriptor) value);
      case MESSAGE, GROUP -> FieldValue.OBJECT;
    };
  }

  private static FieldValue wholeNumber(Object number) {
    return FieldValue.of(FieldValue.Kind.WHOLE_NUMBER, number);
  }

  /** A value that the enum does not define is represented by its number. */
  private static FieldValue symbol(EnumValueDescriptor value) {
    return value.getIndex() < 0
        ? wholeNumber(value.getNumber())
        : FieldValue.of(FieldValue.Kind.STRING, value.getName());
  }

  private static FieldValue time(Message message) {
    Descriptor type = message.getDescriptorForType();
    if (!type.getFullName().equals(TIMESTAMP)
        || !(field(message, 1) instanceof Long seconds)
        || !(field(message, 2) instanceof Integer nanos)) {
      return FieldValue.OBJECT;
    }
    return Math.abs(seconds / 2) < Long.MAX_VALUE / 4_000
        ? FieldValue.OBJECT.at(seconds * 1_000 + Math.floorDiv(nanos, 1_000_000))
        : FieldValue.OBJECT;
  }

  private static @Nullable Object field(Message message, int number) {
    FieldDescriptor field = message.getDescriptorForType().findFieldByNumber(number);
    return field == null || field.isRepeated() ? null : message.getField(field);
  }
}
