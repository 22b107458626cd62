package io.firstseen.serializers;

import io.firstseen.types.Operation;
import java.io.IOException;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link SourceEvent}.
 *
 * <p>Version 1: a byte of flags (1 delete, 2 has scope, 4 has payload, 8 has problem), the
 * timestamp in 8 bytes, then key, scope, payload, place and problem, each after its length and only
 * if it is present.
 */
public final class SourceEventSerializer extends ImmutableSerializer<SourceEvent> {

  public static final SourceEventSerializer INSTANCE = new SourceEventSerializer();

  private static final long serialVersionUID = 1;

  private static final int DELETE = 1;
  private static final int SCOPE = 2;
  private static final int PAYLOAD = 4;
  private static final int PROBLEM = 8;
  private static final int ALL_FLAGS = 15;

  @Override
  public void serialize(SourceEvent event, DataOutputView out) throws IOException {
    int flags =
        (event.operation() == Operation.DELETE ? DELETE : 0)
            | (event.scope() != null ? SCOPE : 0)
            | (event.payload() != null ? PAYLOAD : 0)
            | (event.problem() != null ? PROBLEM : 0);
    out.writeByte(flags);
    out.writeLong(event.timestampMillis());
    ByteFields.writeBytes(event.key(), out);
    if (event.scope() != null) {
      ByteFields.writeBytes(event.scope(), out);
    }
    if (event.payload() != null) {
      ByteFields.writeBytes(event.payload(), out);
    }
    ByteFields.writeString(event.place(), out);
    if (event.problem() != null) {
      ByteFields.writeString(event.problem(), out);
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
    String place = ByteFields.readString(in);
    String problem = (flags & PROBLEM) != 0 ? ByteFields.readString(in) : null;
    return new SourceEvent(operation, scope, key, payload, timestampMillis, place, problem);
  }

  @Override
  public TypeSerializerSnapshot<SourceEvent> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<SourceEvent> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }

  /** Lets Flink find the serializer. */
  public static final class InfoFactory extends TypeInfoFactory<SourceEvent> {
    @Override
    public TypeInformation<SourceEvent> createTypeInfo(
        Type type, Map<String, TypeInformation<?>> parameters) {
      return new SerializerTypeInformation<>(SourceEvent.class, INSTANCE);
    }
  }
}
