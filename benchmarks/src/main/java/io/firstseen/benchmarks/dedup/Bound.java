package io.firstseen.benchmarks.dedup;

import java.util.Locale;

/**
 * What a figure is to reach.
 *
 * @param sense which side of the value is good
 * @param value the last good one
 */
record Bound(Sense sense, double value) {
  private enum Sense {
    AT_LEAST,
    AT_MOST,
    NONE
  }

  static Bound atLeast(double value) {
    return new Bound(Sense.AT_LEAST, value);
  }

  static Bound atMost(double value) {
    return new Bound(Sense.AT_MOST, value);
  }

  static Bound none() {
    return new Bound(Sense.NONE, Double.NaN);
  }

  /** Whether a figure is good; one that is not a number is not, where there is a bound. */
  boolean holds(double figure) {
    return switch (sense) {
      case AT_LEAST -> figure >= value;
      case AT_MOST -> figure <= value;
      case NONE -> true;
    };
  }

  @Override
  public String toString() {
    return switch (sense) {
      case AT_LEAST -> String.format(Locale.ROOT, "at least %.3g", value);
      case AT_MOST -> String.format(Locale.ROOT, "at most %.3g", value);
      case NONE -> "reported";
    };
  }
}
