package io.firstseen.events;

import io.firstseen.filters.key.Keys;
import io.firstseen.types.Operation;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;

/** The rules for every event, in any format. */
final class EventRules implements Serializable {
  /** The start of a problem that reports the limit of the time; it does not contain input text. */
  static final String TIME_AT_MOST = "time must be at most ";

  /** Part of a problem that starts with {@link #TIME_AT_MOST} if the time is too far ahead. */
  static final String AHEAD_OF_THE_CLOCK = " ahead of the clock";

  private static final long serialVersionUID = 1;

  /** 2001 and 2100 in seconds; read as milliseconds both are in 1970. */
  private static final long MIN_SECONDS = 978_307_200;

  private static final long MAX_SECONDS = 4_102_444_800L;

  private static final int MAX_EXCERPT_CHARS = 120;

  private final long maxAheadMillis;
  private final Clock clock;

  EventRules(Duration maxAhead, Clock clock) {
    this.maxAheadMillis = maxAhead.toMillis();
    this.clock = clock;
  }

  long nowMillis() {
    return clock.millis();
  }

  void checkTime(long timestampMillis) throws MalformedEventException {
    if (timestampMillis < 0) {
      throw new MalformedEventException(
          "time must not be negative, got " + timestampMillis + " ms");
    }
    long aheadMillis = timestampMillis - clock.millis();
    if (aheadMillis > maxAheadMillis) {
      throw new MalformedEventException(
          "%s%s ms%s, got %s ms ahead"
              .formatted(TIME_AT_MOST, maxAheadMillis, AHEAD_OF_THE_CLOCK, aheadMillis));
    }
  }

  /** Rejects a time in 1970 in milliseconds that is between 2001 and 2100 in seconds. */
  static void checkNotSeconds(String what, long millis) throws MalformedEventException {
    if (millis >= MIN_SECONDS && millis < MAX_SECONDS) {
      throw new MalformedEventException(
          ("%s must be in milliseconds, %s looks like seconds: multiply it by 1000, or with "
                  + "--time-field add --time-unit seconds")
              .formatted(what, millis));
    }
  }

  static void checkKey(byte[] key) throws MalformedEventException {
    if (key.length == 0) {
      throw new MalformedEventException("key is empty");
    }
    checkLength("key", key.length);
  }

  static void checkLength(String what, int bytes) throws MalformedEventException {
    if (bytes > Keys.MAX_KEY_BYTES) {
      throw new MalformedEventException(
          "%s must be at most %d bytes, got %d".formatted(what, Keys.MAX_KEY_BYTES, bytes));
    }
  }

  static Operation operation(String op, String names) throws MalformedEventException {
    return switch (op) {
      case "add" -> Operation.ADD;
      case "delete", "del" -> Operation.DELETE;
      default ->
          throw new MalformedEventException(
              "op must be %s, got '%s'".formatted(names, excerpt(op)));
    };
  }

  static void checkUtf8(byte[] bytes) throws MalformedEventException {
    int ascii = 0;
    while (ascii < bytes.length && bytes[ascii] >= 0) {
      ascii++;
    }
    if (ascii == bytes.length) {
      return;
    }
    CharBuffer unused = decode(ByteBuffer.wrap(bytes, ascii, bytes.length - ascii));
  }

  static CharBuffer decode(ByteBuffer utf8) throws MalformedEventException {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(utf8);
    } catch (CharacterCodingException e) {
      throw new MalformedEventException("not UTF-8: malformed at byte " + utf8.position());
    }
  }

  /** Encodes a string as UTF-8. Rejects unpaired surrogates, which UTF-8 cannot encode. */
  static byte[] encode(String what, String text) throws MalformedEventException {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new MalformedEventException(what + " has an unpaired surrogate");
    }
  }

  /** Cuts input text for an error message: short, on one line, without control characters. */
  static String excerpt(String text) {
    StringBuilder excerpt = new StringBuilder();
    text.chars()
        .limit(MAX_EXCERPT_CHARS)
        .map(c -> Character.isISOControl(c) || Character.isSurrogate((char) c) ? '?' : c)
        .forEach(c -> excerpt.append((char) c));
    return text.length() > MAX_EXCERPT_CHARS ? excerpt + "..." : excerpt.toString();
  }
}
