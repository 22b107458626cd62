package io.firstseen.serializers;

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
 * Writes a {@link Rejected}.
 *
 * <p>Version 1: the reason after its length, and the event by its own serializer.
 *
 * @param <T> type of the events
 */
public final class RejectedSerializer<T> extends WrappingSerializer<Rejected<T>, T> {
  private static final long serialVersionUID = 1;

  private static final int VERSION = 1;

  /**
   * @param event the serializer of the events
   */
  public RejectedSerializer(TypeSerializer<T> event) {
    super(event);
  }

  @Override
  RejectedSerializer<T> of(TypeSerializer<T> eventSerializer) {
    return new RejectedSerializer<>(eventSerializer);
  }

  @Override
  public Rejected<T> copy(Rejected<T> from) {
    return new Rejected<>(from.reason(), event.copy(from.event()));
  }

  @Override
  public void serialize(Rejected<T> rejected, DataOutputView out) throws IOException {
    ByteFields.writeString(rejected.reason(), out);
    event.serialize(rejected.event(), out);
  }

  @Override
  public Rejected<T> deserialize(DataInputView in) throws IOException {
    String reason = ByteFields.readString(in);
    return new Rejected<>(reason, event.deserialize(in));
  }

  @Override
  public TypeSerializerSnapshot<Rejected<T>> snapshotConfiguration() {
    return new Snapshot<>(this);
  }

  /**
   * The format version and the events' serializer.
   *
   * @param <T> type of the events
   */
  public static final class Snapshot<T>
      extends WrappingSerializer.Snapshot<Rejected<T>, T, RejectedSerializer<T>> {

    /** Called by Flink before it reads a snapshot. */
    public Snapshot() {
      super(VERSION, RejectedSerializer::new);
    }

    Snapshot(RejectedSerializer<T> serializer) {
      super(VERSION, serializer, RejectedSerializer::new);
    }
  }

  /**
   * Type information of rejected events over a type of events.
   *
   * @param <T> type of the events
   */
  public static <T> TypeInformation<Rejected<T>> info(TypeInformation<T> event) {
    return new WrappingTypeInformation<>(Rejected.class, event, RejectedSerializer::new);
  }

  /**
   * Lets Flink find the serializer.
   *
   * @param <T> type of the events
   */
  public static final class InfoFactory<T> extends TypeInfoFactory<Rejected<T>> {
    @Override
    @SuppressWarnings("unchecked") // The parameter named T is the event's type.
    public TypeInformation<Rejected<T>> createTypeInfo(
        Type type, Map<String, TypeInformation<?>> parameters) {
      return info((TypeInformation<T>) parameters.get("T"));
    }
  }
}
