package io.firstseen.jobs.events;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.firstseen.jobs.shared.FieldPointer;
import io.firstseen.jobs.shared.UserErrorException;
import io.firstseen.jobs.shared.ValueSchema;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Fields of messages of Protocol Buffers, by the names in their schema. */
final class ProtobufFields implements ValueFields {
  private static final long serialVersionUID = 1;

  private static final String TIMESTAMP = "google.protobuf.Timestamp";

  private final FieldNode root;
  private final int count;
  private final byte[] descriptorSet;
  private final String message;
  private final boolean hasHeader;
  private transient Descriptor descriptor;

  /**
   * @throws UserErrorException if the schema cannot be used
   */
  ProtobufFields(List<FieldPointer> pointers, ValueSchema schema) {
    this.root = FieldNode.of(pointers);
    this.count = pointers.size();
    this.descriptorSet = schema.file();
    this.message = schema.message();
    this.hasHeader = schema.hasHeader();
    this.descriptor = descriptor(descriptorSet, message);
  }

  private static Descriptor descriptor(byte[] descriptorSet, String message) {
    Map<String, FileDescriptorProto> files = new LinkedHashMap<>();
    Map<String, FileDescriptor> built = new HashMap<>();
    try {
      for (FileDescriptorProto file : FileDescriptorSet.parseFrom(descriptorSet).getFileList()) {
        files.put(file.getName(), file);
      }
      for (String name : files.keySet()) {
        for (Descriptor each : build(name, files, built).getMessageTypes()) {
          Descriptor found = find(each, message);
          if (found != null) {
            return found;
          }
        }
      }
    } catch (InvalidProtocolBufferException | DescriptorValidationException e) {
      throw new UserErrorException(
          "--schema has no descriptor set of Protocol Buffers (protoc --descriptor_set_out"
              + " --include_imports): "
              + e.getMessage());
    }
    throw new UserErrorException(
        "--schema has no message %s, its files are %s"
            .formatted(message, String.join(", ", files.keySet())));
  }

  /** Builds a file after those that it imports. Protoc refuses circles, and they are refused. */
  private static FileDescriptor build(
      String name, Map<String, FileDescriptorProto> files, Map<String, FileDescriptor> built)
      throws DescriptorValidationException {
    if (built.containsKey(name)) {
      FileDescriptor file = built.get(name);
      if (file == null) {
        throw new UserErrorException("--schema has a file that imports itself, " + name);
      }
      return file;
    }
    FileDescriptorProto proto = files.get(name);
    if (proto == null) {
      throw new UserErrorException(
          "--schema has no file %s, which another one imports: make it with --include_imports"
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

  private static @Nullable Descriptor find(Descriptor descriptor, String message) {
    if (descriptor.getFullName().equals(message)) {
      return descriptor;
    }
    for (Descriptor nested : descriptor.getNestedTypes()) {
      Descriptor found = find(nested, message);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  @Override
  public FieldValue[] read(byte[] value) throws MalformedEventException {
    if (descriptor == null) {
      descriptor = descriptor(descriptorSet, message);
    }
    FieldValue[] found = FieldNode.nothing(count);
    try {
      int from = 0;
      if (hasHeader) {
        // The id itself is not needed.
        int unused = SchemaHeader.id(value);
        from = SchemaHeader.BYTES;
      }
      CodedInputStream in = CodedInputStream.newInstance(value, from, value.length - from);
      if (hasHeader) {
        skipIndexes(in);
      }
      DynamicMessage.Builder read = DynamicMessage.newBuilder(descriptor).mergeFrom(in);
      in.checkLastTagWas(0);
      readMessage(read.buildPartial(), root, found);
    } catch (IOException e) {
      throw new MalformedEventException(
          "malformed Protocol Buffers: " + Excerpt.of(String.valueOf(e.getMessage())));
    }
    return found;
  }

  /** Passes over the indexes that lead to the message in its file; none are written as a zero. */
  private static void skipIndexes(CodedInputStream in) throws IOException, MalformedEventException {
    long indexes = in.readSInt64();
    if (indexes < 0) {
      throw new MalformedEventException(
          "value must have zero or more indexes of its message, it has " + indexes);
    }
    for (long i = 0; i < indexes; i++) {
      in.readSInt64();
    }
  }

  private static void readMessage(Message message, FieldNode node, FieldValue[] found) {
    node.set(found, time(message));
    if (!node.hasChildren()) {
      return;
    }
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      FieldNode child = node.child(field.getName());
      if (child == null) {
        continue;
      }
      if (field.isMapField()) {
        readMap(message, field, child, found);
      } else if (field.isRepeated()) {
        child.set(found, FieldValue.ARRAY);
        int size = child.hasChildren() ? message.getRepeatedFieldCount(field) : 0;
        for (int i = 0; i < size; i++) {
          FieldNode element = child.child(i);
          if (element != null) {
            readValue(field, message.getRepeatedField(field, i), element, found);
          }
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
      if (child != null) {
        child.clear(found);
        readValue(values, entry.getField(values), child, found);
      }
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
      case BOOL -> FieldValue.bool((Boolean) value);
      case STRING -> FieldValue.string((String) value);
      case BYTES -> FieldValue.bytes(((ByteString) value).toByteArray());
      case FLOAT, DOUBLE -> FieldValue.number(value.toString());
      case UINT32, FIXED32 -> FieldValue.wholeNumber(Integer.toUnsignedString((Integer) value));
      case UINT64, FIXED64 -> FieldValue.wholeNumber(Long.toUnsignedString((Long) value));
      case INT32, SINT32, SFIXED32, INT64, SINT64, SFIXED64 ->
          FieldValue.wholeNumber(value.toString());
      case ENUM -> symbol((EnumValueDescriptor) value);
      case MESSAGE, GROUP -> FieldValue.OBJECT;
    };
  }

  /** A value that its enum does not have is its number. */
  private static FieldValue symbol(EnumValueDescriptor value) {
    return value.getIndex() < 0
        ? FieldValue.wholeNumber(Integer.toString(value.getNumber()))
        : FieldValue.string(value.getName());
  }

  /** An object, which is a time if it is a timestamp. */
  private static FieldValue time(Message message) {
    Descriptor type = message.getDescriptorForType();
    if (!type.getFullName().equals(TIMESTAMP)
        || !(field(message, 1) instanceof Long seconds)
        || !(field(message, 2) instanceof Integer nanos)) {
      return FieldValue.OBJECT;
    }
    boolean hasMillis = Math.abs(seconds / 2) < Long.MAX_VALUE / 4_000;
    return hasMillis
        ? FieldValue.OBJECT.at(seconds * 1_000 + Math.floorDiv(nanos, 1_000_000))
        : FieldValue.OBJECT;
  }

  private static @Nullable Object field(Message message, int number) {
    FieldDescriptor field = message.getDescriptorForType().findFieldByNumber(number);
    return field == null || field.isRepeated() ? null : message.getField(field);
  }
}
