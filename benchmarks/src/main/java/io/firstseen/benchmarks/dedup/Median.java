package io.firstseen.benchmarks.dedup;

import java.util.Arrays;

/** The median of some figures. */
final class Median {
  private Median() {}

  /** The median of at least one figure. */
  static double of(double... figures) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }
}
