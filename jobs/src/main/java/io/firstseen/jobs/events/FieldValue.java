package io.firstseen.jobs.events;

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

  static final FieldValue MISSING = new FieldValue(Kind.MISSING, "", null, null);
  static final FieldValue NULL = new FieldValue(Kind.NULL, "", null, null);
  static final FieldValue OBJECT = new FieldValue(Kind.OBJECT, "", null, null);
  static final FieldValue ARRAY = new FieldValue(Kind.ARRAY, "", null, null);

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

  FieldValue at(long newMillis) {
    return new FieldValue(kind, text, bytes, newMillis);
  }
}
