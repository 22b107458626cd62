package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.serializers.Outcome;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The pipeline's results for the demo's stream, read from its topics. */
final class ObservedOutcomes {
  /** The numbers of the events that were accepted. */
  final BitSet accepted = new BitSet();

  /** The numbers of the events whose key was accepted while it was live. */
  final BitSet acceptedTwice = new BitSet();

  /** The live keys according to the changelog. */
  final Set<String> live = new HashSet<>();

  /**
   * The number of tombstones of keys that had not been accepted. Each of these deletes removed the
   * fingerprint of another key from the filter, so the other key may be accepted a second time.
   */
  long strayRemovals;

  private final Map<Outcome.Kind, Long> counts = new EnumMap<>(Outcome.Kind.class);

  /** Adds a record of the changelog; records of one key must be added in order. */
  void changelog(byte[] key, byte @Nullable [] value) {
    String url = new String(key, UTF_8);
    if (value == null) {
      add(Outcome.Kind.REMOVED);
      if (!live.remove(url)) {
        strayRemovals++;
      }
    } else {
      add(Outcome.Kind.ACCEPTED);
      int number = DemoEvent.numberIn(value);
      accepted.set(number);
      if (!live.add(url)) {
        acceptedTwice.set(number);
      }
    }
  }

  /** Adds a record of another topic. */
  void add(Outcome.Kind kind) {
    counts.merge(kind, 1L, Long::sum);
  }

  /** The number of records with that outcome. */
  long count(Outcome.Kind kind) {
    return counts.getOrDefault(kind, 0L);
  }

  /** The number of outcomes. */
  long outcomes() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }
}
