package io.firstseen.events;

import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a value that form an event.
 *
 * @param key the fields of the key, at least one
 * @param time the field of the event time; null for the record's time
 * @param timeUnit the unit of whole numbers in the field of the event time
 * @param operation the field that selects the operation; null if all events are adds
 * @param deleteValues the values of the operation field that delete the key
 * @param scope the field of the scope; null for no scope
 */
public record EventFields(
    List<FieldPointer> key,
    @Nullable FieldPointer time,
    TimeUnit timeUnit,
    @Nullable FieldPointer operation,
    Set<String> deleteValues,
    @Nullable FieldPointer scope)
    implements Serializable {
  public EventFields {
    key = List.copyOf(key);
    Objects.requireNonNull(timeUnit, "timeUnit");
    deleteValues = Set.copyOf(deleteValues);
    if (key.isEmpty()) {
      throw new IllegalArgumentException("there must be a key field");
    }
  }

  /** All fields: the key fields, followed by the time, operation and scope fields that are set. */
  public List<FieldPointer> all() {
    return Stream.concat(key.stream(), Stream.of(time, operation, scope))
        .filter(Objects::nonNull)
        .toList();
  }
}
