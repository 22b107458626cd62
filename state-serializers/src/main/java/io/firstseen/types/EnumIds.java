package io.firstseen.types;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The names of constants in options and in state: in lower case, with hyphens. */
final class EnumIds {
  private EnumIds() {}

  static String idOf(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Returns the constant with an id.
   *
   * @param what what the constants are, for the message
   * @throws IllegalArgumentException if no constant has this id
   */
  static <E extends Enum<E>> E constant(String what, Class<E> type, String id) {
    for (E constant : type.getEnumConstants()) {
      if (idOf(constant).equals(id)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(
        "%s must be one of %s, got '%s'"
            .formatted(
                what,
                Arrays.stream(type.getEnumConstants())
                    .map(EnumIds::idOf)
                    .collect(Collectors.joining(", ")),
                id));
  }
}
