package io.firstseen.cli.demo;

import io.firstseen.serializers.Outcome;
import io.firstseen.types.Operation;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongToDoubleFunction;

/** The expected results of an exact pipeline for the demo's stream. */
final class ExactModel {
  /** The events, indexed by number. */
  final List<DemoEvent> events;

  private final Map<Outcome.Kind, Long> counts = new EnumMap<>(Outcome.Kind.class);

  /** The numbers of the events that add a key that is not live. */
  final BitSet firstSeen = new BitSet();

  /** The keys that are live at the end. */
  final Set<String> live = new HashSet<>();

  /** The keys that were live once but not at the end. */
  final Set<String> removed = new HashSet<>();

  /** The expected number of new keys that a filter with the given rate drops. */
  double expectedDrops;

  /**
   * Computes the model after all events.
   *
   * @param falsePositiveRate the rate of the filter, as a function of its number of keys
   */
  ExactModel(List<DemoEvent> events, LongToDoubleFunction falsePositiveRate) {
    this.events = events;
    for (DemoEvent event : events) {
      Outcome.Kind fate = fate(event);
      counts.merge(fate, 1L, Long::sum);
      if (fate == Outcome.Kind.ACCEPTED) {
        firstSeen.set(event.number());
        expectedDrops += falsePositiveRate.applyAsDouble(live.size() - 1);
      }
    }
  }

  private Outcome.Kind fate(DemoEvent event) {
    if (event.isMalformed()) {
      return Outcome.Kind.DEAD_LETTER;
    }
    String url = event.url();
    if (event.operation() == Operation.ADD) {
      removed.remove(url);
      return live.add(url) ? Outcome.Kind.ACCEPTED : Outcome.Kind.DUPLICATE;
    }
    if (!live.remove(url)) {
      return Outcome.Kind.UNKNOWN_DELETE;
    }
    removed.add(url);
    return Outcome.Kind.REMOVED;
  }

  long count(Outcome.Kind kind) {
    return counts.getOrDefault(kind, 0L);
  }
}
