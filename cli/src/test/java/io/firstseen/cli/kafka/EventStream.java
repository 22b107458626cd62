package io.firstseen.cli.kafka;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Events in JSON, generated from a seed, and the outcomes of an exact dedup. */
final class EventStream {
  private static final long START_MILLIS = 1_700_000_000_000L;
  private static final Pattern KEY = Pattern.compile("\"key\":\"([^\"]*)\"");

  private final Random random;
  private final int keys;
  private long nowMillis = START_MILLIS;

  EventStream(long seed, int keys) {
    this.random = new Random(seed);
    this.keys = keys;
  }

  /** The next events: adds, one delete in seven, one malformed record in a hundred. */
  List<String> next(int count) {
    List<String> events = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      nowMillis += 1_000;
      String key = "http://example.com/" + random.nextInt(keys);
      if (random.nextInt(100) == 0) {
        events.add("{\"broken\":\"" + key);
      } else {
        events.add(event(random.nextInt(7) == 0 ? "delete" : "add", key));
      }
    }
    return events;
  }

  /** An add of each key. */
  List<String> adds(Iterable<String> addedKeys) {
    List<String> events = new ArrayList<>();
    for (String key : addedKeys) {
      nowMillis += 1_000;
      events.add(event("add", key));
    }
    return events;
  }

  private String event(String op, String key) {
    return "{\"ts\":%d,\"op\":\"%s\",\"key\":\"%s\",\"n\":%d}"
        .formatted(nowMillis, op, key, random.nextInt());
  }

  /** The key of an event, the event itself if it is malformed. */
  static String keyOf(String event) {
    Matcher matcher = KEY.matcher(event);
    return matcher.find() ? matcher.group(1) : event;
  }

  /** The outcomes of events. */
  static final class Model {
    final Set<String> live = new LinkedHashSet<>();
    int accepted;
    int repeats;
    int deadLetters;

    Model apply(List<String> events) {
      for (String event : events) {
        String key = keyOf(event);
        if (key.equals(event)) {
          deadLetters++;
        } else if (event.contains("\"op\":\"add\"") ? live.add(key) : live.remove(key)) {
          accepted++;
        } else {
          repeats++;
        }
      }
      return this;
    }
  }
}
