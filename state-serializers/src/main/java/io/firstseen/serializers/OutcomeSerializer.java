package io.firstseen.serializers;

import io.firstseen.filters.near.NearMatch;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes an {@link Outcome}.
 *
 * <p>Version 1: the kind in a byte (1 accepted, 2 removed, 3 duplicate, 4 unknown delete, 5 dead
 * letter, 6 false duplicate), the reason (dead letters) or the joined canonical key (all others)
 * after its length, and version 1 of the event as {@link SourceEventSerializer} writes it.
 *
 * <p>Versions 2 and 3: the same, with the same version of the event.
 *
 * <p>Version 4: with a match, 128 is added to the kind, and the text of the match after its length
 * and the number of bands in a byte follow the key. The event has version 3. All versions can be
 * read even where no version is stored, as in unaligned checkpoints.
 */
public final class OutcomeSerializer extends ImmutableSerializer<Outcome> {

  public static final OutcomeSerializer INSTANCE = new OutcomeSerializer();

  private static final long serialVersionUID = 1;

  private static final int MATCH = 128;

  @Override
  public void serialize(Outcome outcome, DataOutputView out) throws IOException {
    out.writeByte(code(outcome.kind()) | (outcome.match() == null ? 0 : MATCH));
    if (outcome.kind() == Outcome.Kind.DEAD_LETTER) {
      ByteFields.writeString(outcome.reason(), out);
    } else {
      ByteFields.writeBytes(outcome.canonicalKey(), out);
    }
    if (outcome.match() != null) {
      ByteFields.writeMatch(outcome.match(), out);
    }
    SourceEventSerializer.INSTANCE.serialize(outcome.event(), out);
  }

  @Override
  public Outcome deserialize(DataInputView in) throws IOException {
    int code = in.readUnsignedByte();
    boolean hasMatch = (code & MATCH) != 0;
    Outcome.Kind kind = kind(code & ~MATCH);
    if (kind == Outcome.Kind.DEAD_LETTER) {
      if (hasMatch) {
        throw new IOException("unknown kind of outcome: " + code);
      }
      String reason = ByteFields.readString(in);
      return Outcome.deadLetter(SourceEventSerializer.INSTANCE.deserialize(in), reason);
    }
    byte[] canonicalKey = ByteFields.readBytes(in);
    NearMatch match = hasMatch ? ByteFields.readMatch(in) : null;
    SourceEvent event = SourceEventSerializer.INSTANCE.deserialize(in);
    return Outcome.of(kind, canonicalKey, event, match);
  }

  private static int code(Outcome.Kind kind) {
    return switch (kind) {
      case ACCEPTED -> 1;
      case REMOVED -> 2;
      case DUPLICATE -> 3;
      case UNKNOWN_DELETE -> 4;
      case DEAD_LETTER -> 5;
      case FALSE_DUPLICATE -> 6;
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
      super(4, version -> INSTANCE);
    }
  }

  /** Lets Flink find the serializer. */
  public static final class InfoFactory extends SerializerTypeInformation.Factory<Outcome> {
    public InfoFactory() {
      super(Outcome.class, INSTANCE);
    }
  }
}
