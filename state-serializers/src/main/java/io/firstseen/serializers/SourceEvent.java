package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.types.Operation;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * One record of a source: an operation on a key, or bytes that could not be parsed.
 *
 * @param operation the requested operation; {@link Operation#ADD} if there is a problem
 * @param scope the tenant that the key belongs to, null for none
 * @param key the key as given by the source; empty if there is a problem
 * @param payload the original record value (with a problem: the raw bytes), null for none
 * @param timestampMillis event time in milliseconds since the epoch; 0 if there is a problem
 * @param place the place of the record in the source
 * @param problem why the record cannot be used, null if it is well-formed
 * @param record the Kafka record if it is to be forwarded; null otherwise
 */
@TypeInfo(SourceEventSerializer.InfoFactory.class)
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record SourceEvent(
    Operation operation,
    byte @Nullable [] scope,
    byte[] key,
    byte @Nullable [] payload,
    long timestampMillis,
    Place place,
    @Nullable String problem,
    @Nullable SourceRecord record) {

  private static final byte[] NO_KEY = {};

  public SourceEvent {
    Objects.requireNonNull(operation, "operation");
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(place, "place");
  }

  /** Creates a usable record. {@code scope} and {@code payload} may be null. */
  public static SourceEvent of(
      Operation operation,
      byte @Nullable [] scope,
      byte[] key,
      byte @Nullable [] payload,
      long timestampMillis,
      Place place) {
    return new SourceEvent(operation, scope, key, payload, timestampMillis, place, null, null);
  }

  /** Creates an unusable record, with the reason and its raw bytes (null if there are none). */
  public static SourceEvent malformed(String problem, byte @Nullable [] raw, Place place) {
    Objects.requireNonNull(problem, "problem");
    return new SourceEvent(Operation.ADD, null, NO_KEY, raw, 0, place, problem, null);
  }

  /** Returns a copy with a different scope. */
  public SourceEvent withScope(byte @Nullable [] newScope) {
    return new SourceEvent(
        operation, newScope, key, payload, timestampMillis, place, problem, record);
  }

  /** Returns a copy with the record from which it was created. */
  public SourceEvent withRecord(SourceRecord newRecord) {
    return new SourceEvent(
        operation, scope, key, payload, timestampMillis, place, problem, newRecord);
  }

  /** Returns whether the record can be used. */
  public boolean isWellFormed() {
    return problem == null;
  }

  private Object[] fields() {
    return new Object[] {operation, scope, key, payload, timestampMillis, place, problem, record};
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SourceEvent that && Arrays.deepEquals(fields(), that.fields());
  }

  @Override
  public int hashCode() {
    return Arrays.deepHashCode(fields());
  }

  @Override
  public String toString() {
    return problem == null
        ? "%s %s at %d (%s)".formatted(operation, new String(key, UTF_8), timestampMillis, place)
        : "malformed: %s (%s)".formatted(problem, place);
  }
}
