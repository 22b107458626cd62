package io.firstseen.events;

import org.jspecify.annotations.Nullable;

/**
 * The part of a value at a pointer.
 *
 * @param kind the type of the part
 * @param text the text of a string, number or boolean; empty for all other kinds
 * @param bytes the bytes of {@link Kind#BYTES}; null for all other kinds
 * @param millis the time in milliseconds since the epoch, if the type is a time; otherwise null
 */
// Never compared.
@SuppressWarnings("ArrayRecordComponent")
record FieldValue(Kind kind, String text, byte @Nullable [] bytes, @Nullable Long millis) {

  static final FieldValue MISSING = of(Kind.MISSING, "");
  static final FieldValue NULL = of(Kind.NULL, "");
  static final FieldValue OBJECT = of(Kind.OBJECT, "");
  static final FieldValue ARRAY = of(Kind.ARRAY, "");

  enum Kind {
    MISSING("is missing"),
    NULL("is null"),
    STRING("is a string"),
    /** A number that is not written as a whole number. */
    NUMBER("is a number"),
    WHOLE_NUMBER("is a whole number"),
    BOOLEAN("is a boolean"),
    BYTES("is bytes"),
    OBJECT("is an object"),
    ARRAY("is an array");

    private final String words;

    Kind(String words) {
      this.words = words;
    }

    String words() {
      return words;
    }

    boolean isNothing() {
      return this == MISSING || this == NULL;
    }

    boolean isStructure() {
      return this == OBJECT || this == ARRAY;
    }
  }

  static FieldValue of(Kind kind, Object text) {
    return new FieldValue(kind, text.toString(), null, null);
  }

  static FieldValue bytes(byte[] bytes) {
    return new FieldValue(Kind.BYTES, "", bytes, null);
  }

  FieldValue at(long newMillis) {
    return new FieldValue(kind, text, bytes, newMillis);
  }
}
