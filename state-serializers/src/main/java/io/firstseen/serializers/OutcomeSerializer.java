package io.firstseen.serializers;

import java.io.IOException;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes an {@link Outcome}.
 *
 * <p>Version 1: the kind in a byte (1 accepted, 2 removed, 3 duplicate, 4 unknown delete, 5 dead
 * letter, 6 false duplicate, 7 written), the reason (dead letters) or the joined canonical key (all
 * others) after its length, and version 1 of the event as {@link SourceEventSerializer} writes it.
 *
 * <p>Versions 2 and 3: the same, with the same version of the event.
 */
public final class OutcomeSerializer extends ImmutableSerializer<Outcome> {

  public static final OutcomeSerializer INSTANCE = new OutcomeSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(Outcome outcome, DataOutputView out) throws IOException {
    out.writeByte(code(outcome.kind()));
    if (outcome.kind() == Outcome.Kind.DEAD_LETTER) {
      ByteFields.writeString(outcome.reason(), out);
    } else {
      ByteFields.writeBytes(outcome.canonicalKey(), out);
    }
    SourceEventSerializer.INSTANCE.serialize(outcome.event(), out);
  }

  @Override
  public Outcome deserialize(DataInputView in) throws IOException {
    Outcome.Kind kind = kind(in.readUnsignedByte());
    if (kind == Outcome.Kind.DEAD_LETTER) {
      String reason = ByteFields.readString(in);
      return Outcome.deadLetter(SourceEventSerializer.INSTANCE.deserialize(in), reason);
    }
    byte[] canonicalKey = ByteFields.readBytes(in);
    SourceEvent event = SourceEventSerializer.INSTANCE.deserialize(in);
    return Outcome.of(kind, canonicalKey, event);
  }

  private static int code(Outcome.Kind kind) {
    return switch (kind) {
      case ACCEPTED -> 1;
      case REMOVED -> 2;
      case DUPLICATE -> 3;
      case UNKNOWN_DELETE -> 4;
      case DEAD_LETTER -> 5;
      case FALSE_DUPLICATE -> 6;
      case WRITTEN -> 7;
    };
  }

  private static Outcome.Kind kind(int code) throws IOException {
    return switch (code) {
      case 1 -> Outcome.Kind.ACCEPTED;
      case 2 -> Outcome.Kind.REMOVED;
      case 3 -> Outcome.Kind.DUPLICATE;
      case 4 -> Outcome.Kind.UNKNOWN_DELETE;
      case 5 -> Outcome.Kind.DEAD_LETTER;
      case 6 -> Outcome.Kind.FALSE_DUPLICATE;
      case 7 -> Outcome.Kind.WRITTEN;
      default -> throw new IOException("unknown kind of outcome: " + code);
    };
  }

  @Override
  public TypeSerializerSnapshot<Outcome> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<Outcome> {
    public Snapshot() {
      super(3, version -> INSTANCE);
    }
  }

  /** Lets Flink find the serializer. */
  public static final class InfoFactory extends TypeInfoFactory<Outcome> {
    @Override
    public TypeInformation<Outcome> createTypeInfo(
        Type type, Map<String, TypeInformation<?>> parameters) {
      return new SerializerTypeInformation<>(Outcome.class, INSTANCE);
    }
  }
}
