package io.firstseen.operators.compaction;

import java.io.Serializable;
import java.util.Optional;

/**
 * Bounds on the change of the number of live keys from one published manifest to the next. After a
 * larger change, publication is on hold until an operator releases it.
 *
 * @param maxFall the share of the keys that may disappear, in [0, 1]
 * @param maxGrowth the factor by which the number may grow, at least 1, or infinite
 * @param floor a decrease from fewer keys than this is always published; growth from fewer keys is
 *     measured from this number; at least 0
 */
public record ChangeBounds(double maxFall, double maxGrowth, long floor) implements Serializable {

  /** Allows every change. */
  public static final ChangeBounds NONE = new ChangeBounds(1, Double.POSITIVE_INFINITY, 0);

  /** Rejects values that are out of bounds with {@link IllegalArgumentException}. */
  public ChangeBounds {
    if (!(maxFall >= 0 && maxFall <= 1)) {
      throw new IllegalArgumentException("maxFall must be in [0, 1], got " + maxFall);
    }
    if (!(maxGrowth >= 1)) {
      throw new IllegalArgumentException("maxGrowth must be at least 1, got " + maxGrowth);
    }
    if (floor < 0) {
      throw new IllegalArgumentException("floor must be at least 0, got " + floor);
    }
  }

  /**
   * Returns a description of the bound that a change exceeds, as the end of a sentence; empty if
   * the change is within the bounds.
   *
   * @param published live keys of the last manifest that was published
   * @param count live keys now
   */
  public Optional<String> breach(long published, long count) {
    double least = published < floor ? 0 : published * (1 - maxFall);
    if (count < least) {
      return Optional.of(
          "a fall by at most %s (--max-fall) would leave at least %.0f"
              .formatted(maxFall, Math.ceil(least)));
    }
    double most = Math.max(published, floor) * maxGrowth;
    if (count > most) {
      return Optional.of(
          "a growth to at most %s times as many (--max-growth) would give at most %.0f"
              .formatted(maxGrowth, Math.floor(most)));
    }
    return Optional.empty();
  }
}
