package io.firstseen.benchmarks;

import java.util.Locale;

/**
 * The bound that a figure must meet.
 *
 * @param sense which side of the value meets the bound
 * @param value the limit, which itself meets the bound
 */
public record Bound(Sense sense, double value) {
  private enum Sense {
    AT_LEAST,
    AT_MOST,
    NONE
  }

  public static Bound atLeast(double value) {
    return new Bound(Sense.AT_LEAST, value);
  }

  public static Bound atMost(double value) {
    return new Bound(Sense.AT_MOST, value);
  }

  public static Bound none() {
    return new Bound(Sense.NONE, Double.NaN);
  }

  /** Whether a figure meets the bound; NaN does not, unless there is no bound. */
  public boolean holds(double figure) {
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
