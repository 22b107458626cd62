package io.firstseen.benchmarks.shared;

import java.util.Arrays;

/** The median of some figures. */
public final class Median {
  private Median() {}

  /** The median of at least one figure. */
  public static double of(double... figures) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }
}
