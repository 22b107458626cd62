package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.io.Serializable;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parses records, one at a time. The parser never throws: a malformed record becomes an event with
 * a {@link SourceEvent#problem() problem}, the raw bytes and the place.
 *
 * <p>A key has 1 to 65,536 bytes; a time is not negative and not too far ahead of the system clock;
 * lines and JSON are strict UTF-8. Keys of Kafka records may be any bytes.
 */
public final class EventParser implements Serializable {
  private static final long serialVersionUID = 1;

  private static final long MAX_SECONDS = Long.MAX_VALUE / 1000;

  private final EventRules rules;
  private final Canonicaliser canonicaliser;

  /**
   * @param maxAhead the maximum time by which an event may be ahead of the system clock
   * @param clock the clock, which must be serializable ({@link Clock#systemUTC()} is)
   */
  public EventParser(Duration maxAhead, Clock clock) {
    this(maxAhead, clock, Canonicaliser.NONE);
  }

  /**
   * @param canonicaliser the canonicaliser, from which {@link #parseLine} derives whether a key may
   *     contain tabs
   */
  public EventParser(Duration maxAhead, Clock clock, Canonicaliser canonicaliser) {
    this.rules = new EventRules(maxAhead, clock);
    this.canonicaliser = canonicaliser;
  }

  /** Parses a line that is a key into an add at the current time. See {@link KeyLine}. */
  public SourceEvent parseLine(byte[] line, Place place) {
    try {
      EventRules.checkUtf8(line);
      EventRules.checkKey(line);
      Optional<String> problem = KeyLine.problem(line, canonicaliser);
      if (problem.isPresent()) {
        return SourceEvent.malformed(problem.get(), line, place);
      }
      return SourceEvent.of(Operation.ADD, null, line, null, rules.nowMillis(), place);
    } catch (MalformedEventException e) {
      return SourceEvent.malformed(e.getMessage(), line, place);
    }
  }

  /**
   * Parses a line {@code epochSeconds TAB add|del TAB key}; {@code delete} is a synonym of {@code
   * del}. The key is the rest of the line and may contain tabs.
   */
  public SourceEvent parseTsv(byte[] line, Place place) {
    try {
      EventRules.checkUtf8(line);
      int firstTab = tab(line, 0);
      int secondTab = tab(line, firstTab + 1);
      long timestampMillis = seconds(line, firstTab) * 1000;
      String op = new String(line, firstTab + 1, secondTab - firstTab - 1, UTF_8);
      Operation operation = EventRules.operation(op, "add or del");
      byte[] key = Arrays.copyOfRange(line, secondTab + 1, line.length);
      EventRules.checkKey(key);
      rules.checkTime(timestampMillis);
      return SourceEvent.of(operation, null, key, null, timestampMillis, place);
    } catch (MalformedEventException e) {
      return SourceEvent.malformed(e.getMessage(), line, place);
    }
  }

  /**
   * Parses a JSON object with {@code ts} (whole milliseconds), {@code op} ({@code add}, {@code
   * delete} or {@code del}), {@code key} and an optional {@code scope}, both strings. The payload
   * is the unchanged object.
   */
  public SourceEvent parseJson(byte[] json, Place place) {
    try {
      JsonEvent event = JsonEvent.read(json);
      EventRules.checkKey(event.key());
      EventRules.checkLength("scope", event.scope() == null ? 0 : event.scope().length);
      EventRules.checkNotSeconds("ts", event.timestampMillis());
      rules.checkTime(event.timestampMillis());
      return SourceEvent.of(
          event.operation(), event.scope(), event.key(), json, event.timestampMillis(), place);
    } catch (MalformedEventException e) {
      return SourceEvent.malformed(e.getMessage(), json, place);
    }
  }

  /**
   * Parses a record whose key is the key and whose value is the payload; a null value is a delete.
   *
   * @param key the record's key, null if it has none
   * @param value the record's value, null if it has none
   * @param timestampMillis the record's time, -1 if it has none
   */
  public SourceEvent parseKeyed(
      byte @Nullable [] key, byte @Nullable [] value, long timestampMillis, Place place) {
    try {
      if (key != null) {
        EventRules.checkKey(key);
      }
      return change(key, value, value, timestampMillis, place);
    } catch (MalformedEventException e) {
      // The raw bytes should identify the record: use the value, or the key if the value is null.
      return SourceEvent.malformed(e.getMessage(), value == null ? key : value, place);
    }
  }

  /**
   * Parses a record of an accepted topic. The record's key is the canonical key prefixed with its
   * scope; a null value deletes the key. The payload is dropped, even if the record is malformed.
   *
   * @param key the record's key, null if it has none
   * @param value the record's value, null if it has none
   * @param timestampMillis the record's time, negative if it has none
   */
  public SourceEvent parseChange(
      byte @Nullable [] key, byte @Nullable [] value, long timestampMillis, Place place) {
    try {
      return change(key, value, null, timestampMillis, place);
    } catch (MalformedEventException e) {
      return SourceEvent.malformed(e.getMessage(), null, place);
    }
  }

  private SourceEvent change(
      byte @Nullable [] key,
      byte @Nullable [] value,
      byte @Nullable [] payload,
      long timestampMillis,
      Place place)
      throws MalformedEventException {
    if (key == null || key.length == 0) {
      throw new MalformedEventException("key is missing");
    }
    if (timestampMillis == -1) {
      throw new MalformedEventException("time is missing");
    }
    rules.checkTime(timestampMillis);
    Operation operation = value == null ? Operation.DELETE : Operation.ADD;
    return SourceEvent.of(operation, null, key, payload, timestampMillis, place);
  }

  private static int tab(byte[] line, int from) throws MalformedEventException {
    for (int i = from; i < line.length; i++) {
      if (line[i] == '\t') {
        return i;
      }
    }
    throw new MalformedEventException("line is not: epochSeconds TAB add|del TAB key");
  }

  private static long seconds(byte[] line, int end) throws MalformedEventException {
    if (end == 0) {
      throw new MalformedEventException("time is missing");
    }
    long seconds = 0;
    boolean negative = line[0] == '-' && end > 1;
    for (int i = negative ? 1 : 0; i < end; i++) {
      int digit = line[i] - '0';
      if (digit < 0 || digit > 9) {
        throw new MalformedEventException("time must be a whole number of seconds");
      }
      seconds = seconds * 10 + digit;
      if (seconds > MAX_SECONDS) {
        throw new MalformedEventException("time must be at most " + MAX_SECONDS + " seconds");
      }
    }
    return negative ? -seconds : seconds;
  }
}
