package io.firstseen.benchmarks;

import java.util.Locale;
import java.util.function.DoublePredicate;

/**
 * The bound that a figure must meet.
 *
 * @param text what is printed
 * @param holds whether a figure meets the bound; NaN does not, unless there is no bound
 */
public record Bound(String text, DoublePredicate holds) {
  /** The limit itself meets the bound. */
  public static Bound atLeast(double value) {
    return new Bound(String.format(Locale.ROOT, "at least %.3g", value), figure -> figure >= value);
  }

  /** The limit itself meets the bound. */
  public static Bound atMost(double value) {
    return new Bound(String.format(Locale.ROOT, "at most %.3g", value), figure -> figure <= value);
  }

  public static Bound none() {
    return new Bound("reported", figure -> true);
  }
}
