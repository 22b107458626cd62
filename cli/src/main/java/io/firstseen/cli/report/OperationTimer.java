package io.firstseen.cli.report;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Times operations in rounds: first warm-up rounds for the JIT, then measured rounds. The result is
 * the median.
 */
record OperationTimer(int warmUpRounds, int rounds) {

  /**
   * Nanoseconds per operation.
   *
   * @param operations the number of operations in a round
   * @param preparation creates the input of a round; not timed
   * @param round runs the operations; must use their results
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
