package io.firstseen.serializers;

import io.firstseen.filters.near.NearMatch;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link Change}.
 *
 * <p>Version 1: the operation in a byte (0 add, 1 delete), the hash in 8 bytes, the key after its
 * length, and the event by its own serializer.
 *
 * <p>Version 2: with a match, 2 is added to the first byte, and the text of the match after its
 * length and the number of bands in a byte follow the key. Bands are not written.
 *
 * @param <T> type of the events
 */
public final class ChangeSerializer<T> extends WrappingSerializer<Change<T>, T> {
  private static final long serialVersionUID = 1;

  private static final int VERSION = 2;
  private static final int DELETE = 1;
  private static final int MATCH = 2;

  /**
   * @param event the serializer of the events
   */
  public ChangeSerializer(TypeSerializer<T> event) {
    super(event);
  }

  @Override
  ChangeSerializer<T> of(TypeSerializer<T> eventSerializer) {
    return new ChangeSerializer<>(eventSerializer);
  }

  @Override
  public Change<T> copy(Change<T> from) {
    return new Change<>(
        from.operation(), from.key(), from.hash(), null, event.copy(from.event()), from.match());
  }

  @Override
  public void serialize(Change<T> change, DataOutputView out) throws IOException {
    out.writeByte(
        (change.operation() == Operation.DELETE ? DELETE : 0)
            | (change.match() == null ? 0 : MATCH));
    out.writeLong(change.hash());
    ByteFields.writeBytes(change.key(), out);
    if (change.match() != null) {
      ByteFields.writeMatch(change.match(), out);
    }
    event.serialize(change.event(), out);
  }

  @Override
  public Change<T> deserialize(DataInputView in) throws IOException {
    int code = in.readUnsignedByte();
    if (code > (DELETE | MATCH)) {
      throw new IOException("unknown operation: " + code);
    }
    long hash = in.readLong();
    byte[] key = ByteFields.readBytes(in);
    NearMatch match = (code & MATCH) == 0 ? null : ByteFields.readMatch(in);
    Operation operation = (code & DELETE) == 0 ? Operation.ADD : Operation.DELETE;
    return new Change<>(operation, key, hash, null, event.deserialize(in), match);
  }

  @Override
  public TypeSerializerSnapshot<Change<T>> snapshotConfiguration() {
    return new Snapshot<>(this);
  }

  /**
   * The format version and the events' serializer.
   *
   * @param <T> type of the events
   */
  public static final class Snapshot<T>
      extends WrappingSerializer.Snapshot<Change<T>, T, ChangeSerializer<T>> {

    /** Called by Flink before it reads a snapshot. */
    public Snapshot() {
      super(VERSION, ChangeSerializer::new);
    }

    Snapshot(ChangeSerializer<T> serializer) {
      super(VERSION, serializer, ChangeSerializer::new);
    }
  }

  /**
   * Type information of changes over a type of events.
   *
   * @param <T> type of the events
   */
  public static <T> TypeInformation<Change<T>> info(TypeInformation<T> event) {
    return new WrappingTypeInformation<>(Change.class, event, ChangeSerializer::new);
  }

  /**
   * Lets Flink find the serializer.
   *
   * @param <T> type of the events
   */
  public static final class InfoFactory<T> extends TypeInfoFactory<Change<T>> {
    @Override
    @SuppressWarnings("unchecked") // The parameter named T is the event's type.
    public TypeInformation<Change<T>> createTypeInfo(
        Type type, Map<String, TypeInformation<?>> parameters) {
      return info((TypeInformation<T>) parameters.get("T"));
    }
  }
}
