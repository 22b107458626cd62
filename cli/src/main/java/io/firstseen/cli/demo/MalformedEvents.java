package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.key.Keys;
import java.util.List;

/** Malformed events, one of each kind. */
final class MalformedEvents {
  private static final List<byte[]> KINDS =
      List.of(
          // Truncated JSON.
          "{\"ts\":1775403029000,\"op\":\"add\",\"key\":\"exam".getBytes(UTF_8),
          // An unknown operation.
          event("1775403029000", "upsert", "example.org"),
          // An empty key.
          event("1775403029000", "add", ""),
          // A key that is too long.
          event("1775403029000", "add", "a".repeat(Keys.MAX_KEY_BYTES + 1)),
          // No time.
          "{\"op\":\"add\",\"key\":\"example.org\"}".getBytes(UTF_8),
          // A negative time.
          event("-1", "add", "example.org"),
          // A time too far ahead: the year 2286.
          event("9999999999999", "add", "example.org"),
          // Not UTF-8.
          "{\"ts\":1775403029000,\"op\":\"add\",\"key\":\"caf\u00e9\"}".getBytes(ISO_8859_1),
          // Well-formed, but its key is not a URL.
          event("1775403029000", "add", "mailto:postmaster@example.org"));

  private MalformedEvents() {}

  /** The bytes of a malformed event; the index cycles through the kinds. */
  static byte[] get(int index) {
    return KINDS.get(Math.floorMod(index, KINDS.size()));
  }

  static int kinds() {
    return KINDS.size();
  }

  private static byte[] event(String ts, String op, String key) {
    return "{\"ts\":%s,\"op\":\"%s\",\"key\":\"%s\"}".formatted(ts, op, key).getBytes(UTF_8);
  }
}
