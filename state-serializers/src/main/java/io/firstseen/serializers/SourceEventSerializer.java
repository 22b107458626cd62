package io.firstseen.serializers;

import io.firstseen.types.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link SourceEvent}.
 *
 * <p>Version 1: a byte of flags (1 delete, 2 has scope, 4 has payload, 8 has problem), the
 * timestamp in 8 bytes, then key, scope, payload, place and problem, each after its length and only
 * if it is present.
 *
 * <p>Version 2: the flag 16 means that there is a record. Its fields come last: a byte of flags (1
 * has key), the partition in 4 bytes, the timestamp in 8 bytes, the key after its length if it is
 * present, the number of headers as unsigned LEB128, and for each its name after its length, a byte
 * (1 has value) and the value after its length. An event without a record is written as in version
 * 1, so version 1 can be read even where no version is stored, as in unaligned checkpoints.
 *
 * <p>Version 3: the flag 32 means that the place is the place of a Kafka record: the topic after
 * its length, the partition in 4 bytes and the offset in 8 bytes. Other places are written as in
 * version 1. Places of Kafka records can also be read in the form of version 1.
 */
public final class SourceEventSerializer extends ImmutableSerializer<SourceEvent> {

  public static final SourceEventSerializer INSTANCE = new SourceEventSerializer();

  private static final long serialVersionUID = 1;

  private static final int DELETE = 1;
  private static final int SCOPE = 2;
  private static final int PAYLOAD = 4;
  private static final int PROBLEM = 8;
  private static final int RECORD = 16;
  private static final int PLACE = 32;
  private static final int ALL_FLAGS = 63;

  private static final int HAS_KEY = 1;
  private static final int HAS_VALUE = 1;

  @Override
  public void serialize(SourceEvent event, DataOutputView out) throws IOException {
    int flags =
        (event.operation() == Operation.DELETE ? DELETE : 0)
            | (event.scope() != null ? SCOPE : 0)
            | (event.payload() != null ? PAYLOAD : 0)
            | (event.problem() != null ? PROBLEM : 0)
            | (event.record() != null ? RECORD : 0)
            | (event.place().isOfKafka() ? PLACE : 0);
    out.writeByte(flags);
    out.writeLong(event.timestampMillis());
    ByteFields.writeBytes(event.key(), out);
    if (event.scope() != null) {
      ByteFields.writeBytes(event.scope(), out);
    }
    if (event.payload() != null) {
      ByteFields.writeBytes(event.payload(), out);
    }
    ByteFields.writeString(event.place().source(), out);
    if (event.place().isOfKafka()) {
      out.writeInt(event.place().partition());
      out.writeLong(event.place().offset());
    }
    if (event.problem() != null) {
      ByteFields.writeString(event.problem(), out);
    }
    if (event.record() != null) {
      serialize(event.record(), out);
    }
  }

  private static void serialize(SourceRecord record, DataOutputView out) throws IOException {
    out.writeByte(record.key() != null ? HAS_KEY : 0);
    out.writeInt(record.partition());
    out.writeLong(record.timestampMillis());
    if (record.key() != null) {
      ByteFields.writeBytes(record.key(), out);
    }
    ByteFields.writeLength(record.headers().size(), out);
    for (SourceRecord.Header header : record.headers()) {
      ByteFields.writeString(header.name(), out);
      out.writeByte(header.value() != null ? HAS_VALUE : 0);
      if (header.value() != null) {
        ByteFields.writeBytes(header.value(), out);
      }
    }
  }

  @Override
  public SourceEvent deserialize(DataInputView in) throws IOException {
    int flags = in.readUnsignedByte();
    if (flags > ALL_FLAGS) {
      throw new IOException("unknown flags of a source event: " + flags);
    }
    Operation operation = (flags & DELETE) != 0 ? Operation.DELETE : Operation.ADD;
    long timestampMillis = in.readLong();
    byte[] key = ByteFields.readBytes(in);
    byte[] scope = (flags & SCOPE) != 0 ? ByteFields.readBytes(in) : null;
    byte[] payload = (flags & PAYLOAD) != 0 ? ByteFields.readBytes(in) : null;
    String source = ByteFields.readString(in);
    Place place =
        (flags & PLACE) != 0 ? new Place(source, in.readInt(), in.readLong()) : Place.of(source);
    String problem = (flags & PROBLEM) != 0 ? ByteFields.readString(in) : null;
    SourceRecord record = (flags & RECORD) != 0 ? deserializeRecord(in) : null;
    return new SourceEvent(operation, scope, key, payload, timestampMillis, place, problem, record);
  }

  private static SourceRecord deserializeRecord(DataInputView in) throws IOException {
    boolean hasKey = readFlag("record", in);
    int partition = in.readInt();
    long timestampMillis = in.readLong();
    byte[] key = hasKey ? ByteFields.readBytes(in) : null;
    int count = ByteFields.readLength(in);
    List<SourceRecord.Header> headers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String name = ByteFields.readString(in);
      byte[] value = readFlag("header", in) ? ByteFields.readBytes(in) : null;
      headers.add(new SourceRecord.Header(name, value));
    }
    return new SourceRecord(partition, timestampMillis, key, headers);
  }

  private static boolean readFlag(String what, DataInputView in) throws IOException {
    int flag = in.readUnsignedByte();
    if (flag > 1) {
      throw new IOException("unknown flags of a " + what + ": " + flag);
    }
    return flag == 1;
  }

  @Override
  public TypeSerializerSnapshot<SourceEvent> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<SourceEvent> {
    public Snapshot() {
      super(3, version -> INSTANCE);
    }
  }

  /** Lets Flink find the serializer. */
  public static final class InfoFactory extends SerializerTypeInformation.Factory<SourceEvent> {
    public InfoFactory() {
      super(SourceEvent.class, INSTANCE);
    }
  }
}
