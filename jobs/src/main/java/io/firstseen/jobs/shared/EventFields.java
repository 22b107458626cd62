package io.firstseen.jobs.shared;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a value that make it an event.
 *
 * @param key the fields of the key, at least one
 * @param time the field of event time; null if that is the record's
 * @param timeUnit the unit of whole numbers in it
 * @param operation the field that says whether the key is deleted; null if it never is
 * @param deleteValues the texts of that field that delete the key
 * @param scope the field of the scope; null if there is none
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
      throw new IllegalArgumentException("there must be a field of the key");
    }
  }

  /** All fields: those of the key, then time, operation and scope as far as there are any. */
  public List<FieldPointer> all() {
    List<FieldPointer> all = new ArrayList<>(key);
    for (FieldPointer field : new FieldPointer[] {time, operation, scope}) {
      if (field != null) {
        all.add(field);
      }
    }
    return all;
  }
}
