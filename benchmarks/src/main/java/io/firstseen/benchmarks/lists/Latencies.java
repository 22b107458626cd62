package io.firstseen.benchmarks.lists;

import java.util.Arrays;

/** Durations of calls, in nanoseconds. */
final class Latencies {
  private long[] nanos = new long[1 << 16];
  private int count;

  /** Adds a duration. */
  void add(long duration) {
    if (count == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * count);
    }
    nanos[count++] = duration;
  }

  /**
   * The duration that a share of all calls do not exceed.
   *
   * @param share in (0, 1]
   */
  double quantile(double share) {
    long[] sorted = Arrays.copyOf(nanos, count);
    Arrays.sort(sorted);
    return sorted[(int) Math.ceil(share * count) - 1];
  }

  double median() {
    return quantile(0.5);
  }

  double mean() {
    return Arrays.stream(nanos, 0, count).average().orElse(Double.NaN);
  }
}
