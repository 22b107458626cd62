package io.firstseen.serializers;

import io.firstseen.types.Operation;
import java.io.IOException;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.util.function.SerializableFunction;
import org.jspecify.annotations.Nullable;

/**
 * Writes a {@link Change} for the network between two operators of one job. If the key is an array
 * of the event itself, it is not written a second time.
 *
 * <p>The form: a byte of flags (bit 0: delete, bit 1: the key is in the event, bit 2: bands), the
 * hash in 8 bytes, the number of bands in a byte and each in 8 bytes, the key after its length
 * unless it is in the event, and the event by its own serializer. It is never used for state, so it
 * has no snapshot.
 *
 * @param <T> type of the events
 */
public final class InFlightChangeSerializer<T> extends WrappingSerializer<Change<T>, T> {
  private static final long serialVersionUID = 1;

  private static final int DELETE = 1;
  private static final int KEY_IN_EVENT = 2;
  private static final int BANDS = 4;

  private final SerializableFunction<T, byte[]> keyOfEvent;

  /**
   * Whether {@code keyOfEvent} returns the same array at each call for an event; null before the
   * first event.
   */
  private transient @Nullable Boolean eventsHoldKeys;

  private InFlightChangeSerializer(
      TypeSerializer<T> event, SerializableFunction<T, byte[]> keyOfEvent) {
    super(event);
    this.keyOfEvent = Objects.requireNonNull(keyOfEvent, "keyOfEvent");
  }

  /**
   * Type information of changes over a type of events.
   *
   * @param keyOfEvent returns the key in the event, equal for equal events. It is used only if it
   *     returns the same array at each call for an event, which is tested with the first event:
   *     creating an array costs more than is saved
   * @param <T> type of the events
   */
  public static <T> TypeInformation<Change<T>> info(
      TypeInformation<T> event, SerializableFunction<T, byte[]> keyOfEvent) {
    return new WrappingTypeInformation<>(
        Change.class, event, serializer -> new InFlightChangeSerializer<>(serializer, keyOfEvent));
  }

  @Override
  InFlightChangeSerializer<T> of(TypeSerializer<T> eventSerializer) {
    return new InFlightChangeSerializer<>(eventSerializer, keyOfEvent);
  }

  @Override
  public Change<T> copy(Change<T> from) {
    return new Change<>(
        from.operation(), from.key(), from.hash(), from.bands(), event.copy(from.event()));
  }

  @Override
  public void serialize(Change<T> change, DataOutputView out) throws IOException {
    boolean keyInEvent = isKeyInEvent(change);
    out.writeByte(
        (change.operation() == Operation.DELETE ? DELETE : 0)
            | (keyInEvent ? KEY_IN_EVENT : 0)
            | (change.bands() == null ? 0 : BANDS));
    out.writeLong(change.hash());
    if (change.bands() != null) {
      out.writeByte(change.bands().length);
      for (long band : change.bands()) {
        out.writeLong(band);
      }
    }
    if (!keyInEvent) {
      ByteFields.writeBytes(change.key(), out);
    }
    event.serialize(change.event(), out);
  }

  private boolean isKeyInEvent(Change<T> change) {
    if (eventsHoldKeys == null) {
      byte[] once = keyOfEvent.apply(change.event());
      byte[] twice = keyOfEvent.apply(change.event());
      eventsHoldKeys = once == twice;
    }
    return eventsHoldKeys && keyOfEvent.apply(change.event()) == change.key();
  }

  @Override
  public Change<T> deserialize(DataInputView in) throws IOException {
    int code = in.readUnsignedByte();
    if (code > (DELETE | KEY_IN_EVENT | BANDS)) {
      throw new IOException("unknown operation: " + code);
    }
    Operation operation = (code & DELETE) == 0 ? Operation.ADD : Operation.DELETE;
    long hash = in.readLong();
    long[] bands = (code & BANDS) == 0 ? null : new long[in.readUnsignedByte()];
    for (int i = 0; bands != null && i < bands.length; i++) {
      bands[i] = in.readLong();
    }
    byte[] key = (code & KEY_IN_EVENT) == 0 ? ByteFields.readBytes(in) : null;
    T value = event.deserialize(in);
    return new Change<>(operation, key == null ? keyOfEvent.apply(value) : key, hash, bands, value);
  }

  @Override
  public TypeSerializerSnapshot<Change<T>> snapshotConfiguration() {
    throw new UnsupportedOperationException("changes in flight are never kept in state");
  }
}
