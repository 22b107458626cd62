package io.firstseen.events;

import java.io.Serializable;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Detects when the first {@value #VALUES} values of a task lack an optional field, which usually
 * means that its pointer is misspelt.
 */
final class MissingFieldAlarm implements Serializable {
  static final int VALUES = 100;

  private static final long serialVersionUID = 1;

  private final String option;
  private final String effect;
  private final @Nullable FieldPointer field;
  private transient int lacking;
  private transient boolean isOver;

  MissingFieldAlarm(String option, String effect, @Nullable FieldPointer field) {
    this.option = option;
    this.effect = effect;
    this.field = field;
  }

  /** Checks the field of the next value; returns a warning at most once. */
  Optional<String> take(FieldValue value) {
    if (isOver) {
      return Optional.empty();
    }
    isOver = value.kind() != FieldValue.Kind.MISSING || ++lacking == VALUES;
    return lacking < VALUES
        ? Optional.empty()
        : Optional.of(
            "the first %d values have no field %s, so %s: check the spelling of %s"
                .formatted(VALUES, field, effect, option));
  }
}
