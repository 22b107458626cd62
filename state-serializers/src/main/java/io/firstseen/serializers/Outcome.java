package io.firstseen.serializers;

import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * What became of one {@link SourceEvent}; the only thing that the dedup job's sinks see.
 *
 * @param kind what became of it
 * @param canonicalKey scope and canonical key, joined as by {@code ScopedKey}; null exactly for
 *     {@link Kind#DEAD_LETTER}
 * @param event the event itself
 * @param reason why it cannot be used; null except for {@link Kind#DEAD_LETTER}
 */
@TypeInfo(OutcomeSerializer.InfoFactory.class)
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record Outcome(Kind kind, byte[] canonicalKey, SourceEvent event, String reason) {

  /** What became of an event. */
  public enum Kind {
    /** An add of a key that was not there. */
    ACCEPTED,
    /** A delete of a key that was there. */
    REMOVED,
    /** An add of a key that was there. */
    DUPLICATE,
    /** A delete of a key that was not there. */
    UNKNOWN_DELETE,
    /** The event cannot be used. */
    DEAD_LETTER,
    /** An add of a key that was not there, taken for a duplicate, as the audit knows. */
    FALSE_DUPLICATE
  }

  public Outcome {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(event, "event");
    if (kind == Kind.DEAD_LETTER) {
      Objects.requireNonNull(reason, "reason");
    } else {
      Objects.requireNonNull(canonicalKey, "canonicalKey");
    }
  }

  /** The fate of an event that could be used. */
  public static Outcome of(Kind kind, byte[] canonicalKey, SourceEvent event) {
    return new Outcome(kind, canonicalKey, event, null);
  }

  /** The fate of an event that could not be used. */
  public static Outcome deadLetter(SourceEvent event, String reason) {
    return new Outcome(Kind.DEAD_LETTER, null, event, reason);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Outcome that
        && kind == that.kind
        && Arrays.equals(canonicalKey, that.canonicalKey)
        && event.equals(that.event)
        && Objects.equals(reason, that.reason);
  }

  @Override
  public int hashCode() {
    return Objects.hash(kind, Arrays.hashCode(canonicalKey), event, reason);
  }

  @Override
  public String toString() {
    return reason == null ? kind + ": " + event : kind + " (" + reason + "): " + event;
  }
}
