package io.firstseen.events;

import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.io.Serializable;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Parses values of any structure into events, by the fields that options name. Like {@link
 * EventParser}, the parser does not throw for any value. An exception fails the task only if the
 * schema registry does not respond, or if the task lacks the credentials for it.
 */
public final class FieldParser implements Serializable {
  private static final long serialVersionUID = 1;

  private static final Logger LOG = LoggerFactory.getLogger(FieldParser.class);

  private static final String SCALAR = " must be a string, number or boolean, it ";

  private final EventFields fields;
  private final ValueFields values;
  private final EventRules rules;
  private final MissingFieldAlarm operationAlarm;
  private final MissingFieldAlarm scopeAlarm;

  private FieldParser(EventFields fields, ValueFields values, Duration maxAhead, Clock clock) {
    this.fields = fields;
    this.values = values;
    this.rules = new EventRules(maxAhead, clock);
    this.operationAlarm =
        new MissingFieldAlarm("--operation-field", "no event is a delete", fields.operation());
    this.scopeAlarm = new MissingFieldAlarm("--scope-field", "no key has a scope", fields.scope());
  }

  /**
   * Creates a parser of values in JSON, or in the format of a schema.
   *
   * @param schema the source of the schema; {@link ValueSchema#NONE} for JSON
   * @param maxAhead the maximum time by which an event may be ahead of the system clock
   * @param clock the clock, which must be serializable
   * @throws UserErrorException if the schema is unusable
   */
  public static FieldParser of(
      EventFields fields, ValueSchema schema, Duration maxAhead, Clock clock) {
    ValueFields values;
    if (schema.equals(ValueSchema.NONE)) {
      values = new JsonFields(fields.all());
    } else if (schema.message() == null) {
      values = new AvroFields(fields.all(), AvroSchemas.from(schema, clock), schema.hasHeader());
    } else {
      values = new ProtobufFields(fields.all(), schema);
    }
    return new FieldParser(fields, values, maxAhead, clock);
  }

  /**
   * Parses a record. The payload of the event is the unchanged value.
   *
   * @param recordMillis the record's time, -1 if it has none
   */
  public SourceEvent parse(byte[] value, long recordMillis, Place place) {
    try {
      return event(value, recordMillis, place);
    } catch (MalformedEventException e) {
      return SourceEvent.malformed(e.getMessage(), value, place);
    }
  }

  private SourceEvent event(byte[] value, long recordMillis, Place place)
      throws MalformedEventException {
    FieldValue[] found = values.read(value);
    int next = fields.key().size();
    byte[] key = next == 1 ? key(fields.key().get(0), found[0]) : compositeKey(found);
    EventRules.checkKey(key);
    long millis = fields.time() == null ? recordMillis : millis(fields.time(), found[next++]);
    if (fields.time() == null && millis == -1) {
      throw new MalformedEventException("time is missing");
    }
    rules.checkTime(millis);
    Operation operation =
        fields.operation() != null && isDelete(found[next++]) ? Operation.DELETE : Operation.ADD;
    byte[] scope = fields.scope() == null ? null : scope(fields.scope(), found[next]);
    EventRules.checkLength("scope", scope == null ? 0 : scope.length);
    return SourceEvent.of(operation, scope, key, value, millis, place);
  }

  private boolean isDelete(FieldValue operation) {
    operationAlarm.take(operation).ifPresent(LOG::warn);
    return !operation.kind().isNothing()
        && !operation.kind().isStructure()
        && fields.deleteValues().contains(text(operation));
  }

  private byte @Nullable [] scope(FieldPointer field, FieldValue value)
      throws MalformedEventException {
    scopeAlarm.take(value).ifPresent(LOG::warn);
    if (value.kind().isNothing()) {
      return null;
    }
    byte[] scope = scalar("scope", field, value);
    return scope.length == 0 ? null : scope;
  }

  private static byte[] key(FieldPointer field, FieldValue value) throws MalformedEventException {
    if (value.kind().isNothing()) {
      throw new MalformedEventException("key field " + field + " " + value.kind().words());
    }
    return scalar("key", field, value);
  }

  private static byte[] scalar(String what, FieldPointer field, FieldValue value)
      throws MalformedEventException {
    if (value.kind().isStructure()) {
      throw new MalformedEventException(what + " field " + field + SCALAR + value.kind().words());
    }
    return value.bytes() != null ? value.bytes() : EventRules.encode(what, value.text());
  }

  /** The text of a scalar; base64 for bytes. */
  private static String text(FieldValue value) {
    return value.bytes() != null ? Base64.getEncoder().encodeToString(value.bytes()) : value.text();
  }

  /** The key fields as a JSON array, see {@code docs/format/records-v1.md}. */
  private byte[] compositeKey(FieldValue[] found) throws MalformedEventException {
    StringBuilder array = new StringBuilder();
    for (int i = 0; i < fields.key().size(); i++) {
      FieldValue value = found[i];
      if (value.kind().isNothing() || value.kind().isStructure()) {
        // Throws the error.
        key(fields.key().get(i), value);
      }
      array.append(i == 0 ? '[' : ',');
      if (value.kind() == FieldValue.Kind.STRING || value.kind() == FieldValue.Kind.BYTES) {
        quote(text(value), array);
      } else {
        refuseNoJson(fields.key().get(i), value);
        array.append(value.text());
      }
    }
    return EventRules.encode("key", array.append(']').toString());
  }

  private static void refuseNoJson(FieldPointer field, FieldValue value)
      throws MalformedEventException {
    if (value.kind() == FieldValue.Kind.NUMBER
        && (value.text().equals("NaN") || value.text().endsWith("Infinity"))) {
      throw new MalformedEventException(
          "key field %s must be a finite number in a key of several fields, it is %s"
              .formatted(field, value.text()));
    }
  }

  /** Writes a JSON string with the minimum of escapes, like RFC 8785. */
  private static void quote(String text, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      int shortEscape = "\b\t\n\f\r\"\\".indexOf(c);
      if (shortEscape >= 0) {
        out.append('\\').append("btnfr\"\\".charAt(shortEscape));
      } else if (c < ' ') {
        out.append("\\u%04x".formatted((int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  private long millis(FieldPointer field, FieldValue value) throws MalformedEventException {
    if (value.millis() != null) {
      return value.millis();
    }
    return switch (value.kind()) {
      case MISSING, NULL ->
          throw new MalformedEventException("time field " + field + " " + value.kind().words());
      case WHOLE_NUMBER -> millisOfNumber(field, value);
      case STRING -> millisOfText(field, value);
      default -> throw noTime(field, value);
    };
  }

  private long millisOfNumber(FieldPointer field, FieldValue value) throws MalformedEventException {
    long number;
    try {
      number = Long.parseLong(value.text());
    } catch (NumberFormatException e) {
      throw timeOutOfBounds(field, value);
    }
    if (number > maxTime() || number < -maxTime()) {
      throw timeOutOfBounds(field, value);
    }
    if (fields.timeUnit() == TimeUnit.MILLISECONDS) {
      EventRules.checkNotSeconds("time field " + field, number);
    }
    long millis = fields.timeUnit().toMillis(number);
    // Rounding must not make a negative time zero.
    return number < 0 ? Math.min(-1, millis) : millis;
  }

  private long millisOfText(FieldPointer field, FieldValue value) throws MalformedEventException {
    try {
      return OffsetDateTime.parse(value.text()).toInstant().toEpochMilli();
    } catch (DateTimeException | ArithmeticException e) {
      throw noTime(field, value);
    }
  }

  /** The largest number whose time in milliseconds fits into a long. */
  private long maxTime() {
    return fields.timeUnit() == TimeUnit.SECONDS ? Long.MAX_VALUE / 1000 : Long.MAX_VALUE;
  }

  private MalformedEventException timeOutOfBounds(FieldPointer field, FieldValue value) {
    return new MalformedEventException(
        "time field %s must be between -%d and %<d %s, it is '%s'"
            .formatted(
                field,
                maxTime(),
                fields.timeUnit().name().toLowerCase(Locale.ROOT),
                EventRules.excerpt(value.text())));
  }

  private MalformedEventException noTime(FieldPointer field, FieldValue value) {
    return new MalformedEventException(
        "time field %s must be a whole number of %s or a date-time with an offset, it %s%s"
            .formatted(
                field,
                fields.timeUnit().name().toLowerCase(Locale.ROOT),
                value.kind().words(),
                value.text().isEmpty() ? "" : ", '" + EventRules.excerpt(value.text()) + "'"));
  }
}
