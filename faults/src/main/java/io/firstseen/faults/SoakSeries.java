package io.firstseen.faults;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What was measured of one thing again and again. The first third of a run is for warming up, the
 * last one is compared with the middle one.
 *
 * @param name of what was measured
 * @param kind what was counted
 * @param values in order
 */
record SoakSeries(String name, Kind kind, List<Double> values) {

  /** What was counted. */
  enum Kind {
    /** Bytes of live objects after a collection: flat within 5 percent. */
    HEAP("heap, MB", 1e6),
    THREADS("threads", 1),
    FILES("open files", 1),
    RESIDENT("resident, MB", 1e6),
    TOPIC("topic, MB", 1e6);

    private final String title;
    private final double unit;

    Kind(String title, double unit) {
      this.title = title;
      this.unit = unit;
    }
  }

  private static final double FLAT = 1.05;
  private static final double UNCLEANED = 64e6;

  private double[] third(int number) {
    int size = values.size();
    return values.subList(number * size / 3, (number + 1) * size / 3).stream()
        .mapToDouble(Double::doubleValue)
        .sorted()
        .toArray();
  }

  /** The median of a third, from 0. */
  double median(int number) {
    double[] sorted = third(number);
    return sorted.length == 0 ? Double.NaN : sorted[sorted.length / 2];
  }

  /** Why it is not as it should be. */
  Optional<String> growth() {
    double[] middle = third(1);
    double[] last = third(2);
    if (middle.length == 0 || last.length == 0) {
      return Optional.empty();
    }
    boolean isHigher = median(2) > FLAT * median(1);
    // A value that grows indefinitely is always above its earlier values; a value that goes up and
    // down is not.
    boolean isAlwaysMore = last[0] > middle[middle.length - 1];
    boolean grew =
        switch (kind) {
          case HEAP -> isHigher;
          case THREADS, FILES -> isAlwaysMore;
          case RESIDENT -> isAlwaysMore && isHigher;
          // Kafka cleans only what is behind the newest segment.
          case TOPIC -> isAlwaysMore && isHigher && median(2) > UNCLEANED;
        };
    return grew
        ? Optional.of(
            "%s, %s: grew from %.1f (at most %.1f) to %.1f (at least %.1f)"
                .formatted(
                    name,
                    kind.title,
                    median(1) / kind.unit,
                    middle[middle.length - 1] / kind.unit,
                    median(2) / kind.unit,
                    last[0] / kind.unit))
        : Optional.empty();
  }

  /** A line of a table. */
  String line() {
    return String.format(
        Locale.ROOT,
        "| %s | %s | %.1f | %.1f | %.1f | %.1f |%n",
        name,
        kind.title,
        median(0) / kind.unit,
        median(1) / kind.unit,
        median(2) / kind.unit,
        values.stream().mapToDouble(Double::doubleValue).max().orElse(0) / kind.unit);
  }
}
