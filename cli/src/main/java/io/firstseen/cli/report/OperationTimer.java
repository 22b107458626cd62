package io.firstseen.cli.report;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Times operations by rounds of many: first some that let the JVM compile, then those that count,
 * of which the median is taken.
 */
record OperationTimer(int warmUpRounds, int rounds) {

  /**
   * Nanoseconds an operation.
   *
   * @param operations in a round
   * @param preparation makes what a round works on; not timed
   * @param round does the operations; must use what they give
   */
  <T> double medianNanos(int operations, Supplier<T> preparation, Consumer<T> round) {
    double[] nanos = new double[rounds];
    for (int i = -warmUpRounds; i < rounds; i++) {
      T prepared = preparation.get();
      long start = System.nanoTime();
      round.accept(prepared);
      long elapsed = System.nanoTime() - start;
      if (i >= 0) {
        nanos[i] = (double) elapsed / operations;
      }
    }
    Arrays.sort(nanos);
    return (nanos[(rounds - 1) / 2] + nanos[rounds / 2]) / 2;
  }
}
