package io.firstseen.jobs.events;

import org.jspecify.annotations.Nullable;

/**
 * What a value has at a pointer.
 *
 * @param kind what it is
 * @param text the text of a string, number or boolean; empty for all others
 * @param bytes the bytes of {@link Kind#BYTES}; null for all others
 * @param millis the time that it is by its type, in milliseconds since the epoch; null for none
 */
// Never compared.
@SuppressWarnings("ArrayRecordComponent")
record FieldValue(Kind kind, String text, byte @Nullable [] bytes, @Nullable Long millis) {

  static final FieldValue MISSING = new FieldValue(Kind.MISSING, "", null, null);
  static final FieldValue NULL = new FieldValue(Kind.NULL, "", null, null);
  static final FieldValue OBJECT = new FieldValue(Kind.OBJECT, "", null, null);
  static final FieldValue ARRAY = new FieldValue(Kind.ARRAY, "", null, null);

  enum Kind {
    MISSING("is missing"),
    NULL("is null"),
    STRING("is a string"),
    /** A number that is not whole, or not written so. */
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

    /** For an error message. */
    String words() {
      return words;
    }

    /** Whether there is nothing. */
    boolean isNothing() {
      return this == MISSING || this == NULL;
    }

    /** Whether the value has parts. */
    boolean isStructure() {
      return this == OBJECT || this == ARRAY;
    }
  }

  static FieldValue string(String text) {
    return new FieldValue(Kind.STRING, text, null, null);
  }

  static FieldValue number(String text) {
    return new FieldValue(Kind.NUMBER, text, null, null);
  }

  static FieldValue wholeNumber(String text) {
    return new FieldValue(Kind.WHOLE_NUMBER, text, null, null);
  }

  static FieldValue bool(boolean value) {
    return new FieldValue(Kind.BOOLEAN, Boolean.toString(value), null, null);
  }

  static FieldValue bytes(byte[] bytes) {
    return new FieldValue(Kind.BYTES, "", bytes, null);
  }

  /** A copy that is a time. */
  FieldValue at(long newMillis) {
    return new FieldValue(kind, text, bytes, newMillis);
  }
}
