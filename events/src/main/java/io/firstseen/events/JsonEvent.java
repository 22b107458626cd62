package io.firstseen.events;

import io.firstseen.types.Operation;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An event as a JSON object; the last of repeated fields counts, and a null scope is none. */
// Never compared.
@SuppressWarnings("ArrayRecordComponent")
record JsonEvent(Operation operation, byte @Nullable [] scope, byte[] key, long timestampMillis) {
  private static final JsonFields FIELDS =
      new JsonFields(
          Stream.of("", "/op", "/key", "/scope", "/ts").map(FieldPointer::parse).toList());

  static JsonEvent read(byte[] utf8) throws MalformedEventException {
    JsonEvent flat = FlatJson.read(utf8);
    return flat == null ? readAny(utf8) : flat;
  }

  static JsonEvent readAny(byte[] utf8) throws MalformedEventException {
    FieldValue[] found = FIELDS.read(utf8);
    if (found[0].kind() != FieldValue.Kind.OBJECT) {
      throw new MalformedEventException("JSON is not an object");
    }
    Operation operation = EventRules.operation(text("op", found[1]), "add or delete");
    String key = text("key", found[2]);
    FieldValue scope = found[3];
    String scopeText = scope.kind().isNothing() ? "" : text("scope", scope);
    return new JsonEvent(
        operation,
        scopeText.isEmpty() ? null : EventRules.encode("scope", scopeText),
        EventRules.encode("key", key),
        millis(found[4]));
  }

  private static String text(String name, FieldValue value) throws MalformedEventException {
    if (value.kind() != FieldValue.Kind.STRING) {
      throw new MalformedEventException(
          name + (value.kind() == FieldValue.Kind.MISSING ? " is missing" : " must be a string"));
    }
    return value.text();
  }

  private static long millis(FieldValue ts) throws MalformedEventException {
    if (ts.kind() == FieldValue.Kind.MISSING) {
      throw new MalformedEventException("ts is missing");
    }
    if (ts.kind() != FieldValue.Kind.WHOLE_NUMBER) {
      throw new MalformedEventException("ts must be a whole number of milliseconds");
    }
    try {
      return Long.parseLong(ts.text());
    } catch (NumberFormatException e) {
      throw new MalformedEventException(
          "ts must have at most 64 bits, got " + EventRules.excerpt(ts.text()));
    }
  }
}
