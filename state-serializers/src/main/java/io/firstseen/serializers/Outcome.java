package io.firstseen.serializers;

import io.firstseen.filters.near.NearMatch;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * The result of one {@link SourceEvent}.
 *
 * @param kind the kind of result
 * @param canonicalKey scope and canonical key, joined as by {@code ScopedKey}; null only for {@link
 *     Kind#DEAD_LETTER}
 * @param event the event
 * @param reason why the event cannot be used; null except for {@link Kind#DEAD_LETTER}
 * @param match the match of an accepted or duplicate text, if near-duplicates are duplicates; null
 *     otherwise
 */
@TypeInfo(OutcomeSerializer.InfoFactory.class)
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record Outcome(
    Kind kind,
    byte @Nullable [] canonicalKey,
    SourceEvent event,
    @Nullable String reason,
    @Nullable NearMatch match) {

  /** The kind of result. */
  public enum Kind {
    /** An add of a key that was not live. */
    ACCEPTED,
    /** A delete of a live key. */
    REMOVED,
    /** An add of a live key, or of a key that the filter reports as live. */
    DUPLICATE,
    /** A delete of a key that was not live. */
    UNKNOWN_DELETE,
    /** The event cannot be used. */
    DEAD_LETTER,
    /**
     * An add of a key that was not live, which the filter reported as a duplicate; found by the
     * audit.
     */
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

  /** Returns the outcome of an event with a usable key. */
  public static Outcome of(Kind kind, byte[] canonicalKey, SourceEvent event) {
    return of(kind, canonicalKey, event, null);
  }

  /** Returns the outcome of an event with a usable key, with a match. */
  public static Outcome of(
      Kind kind, byte[] canonicalKey, SourceEvent event, @Nullable NearMatch match) {
    return new Outcome(kind, canonicalKey, event, null, match);
  }

  /** Returns the outcome of an event that could not be used. */
  public static Outcome deadLetter(SourceEvent event, String reason) {
    return new Outcome(Kind.DEAD_LETTER, null, event, reason, null);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Outcome that
        && kind == that.kind
        && Arrays.equals(canonicalKey, that.canonicalKey)
        && event.equals(that.event)
        && Objects.equals(reason, that.reason)
        && Objects.equals(match, that.match);
  }

  @Override
  public int hashCode() {
    return Objects.hash(kind, Arrays.hashCode(canonicalKey), event, reason, match);
  }

  @Override
  public String toString() {
    return reason == null ? kind + ": " + event : kind + " (" + reason + "): " + event;
  }
}
