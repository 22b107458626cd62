package io.firstseen.benchmarks.shared;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Measures subjects interleaved, so that changes of the machine's speed affect all of them, and
 * gives medians of the rounds.
 */
public final class Turns {
  private Turns() {}

  /**
   * One measurement.
   *
   * @param <S> what is measured
   * @param <R> the result
   */
  @FunctionalInterface
  public interface Measurement<S, R> {
    /** Measures a subject in a round: from 1 on, or at most 0 in the warm-up. */
    R measure(S subject, int round) throws Exception;
  }

  /** Measures each subject once per round; the results of the warm-up rounds do not count. */
  public static <S, R> Map<S, List<R>> measure(
      Collection<S> subjects, int warmUps, int rounds, Measurement<S, R> measurement)
      throws Exception {
    Map<S, List<R>> results = new LinkedHashMap<>();
    for (int round = 1 - warmUps; round <= rounds; round++) {
      for (S subject : subjects) {
        R result = measurement.measure(subject, round);
        if (round > 0) {
          results.computeIfAbsent(subject, unused -> new ArrayList<>()).add(result);
        }
      }
    }
    return results;
  }

  /** The medians of a figure that is measured in turns. */
  public static <S> Map<S, Double> medians(
      Collection<S> subjects, int warmUps, int rounds, Measurement<S, Double> measurement)
      throws Exception {
    Map<S, Double> medians = new LinkedHashMap<>();
    measure(subjects, warmUps, rounds, measurement)
        .forEach((subject, figures) -> medians.put(subject, median(figures, Double::doubleValue)));
    return medians;
  }

  /** The median of at least one figure. */
  public static double median(double... figures) {
    double[] sorted = figures.clone();
    Arrays.sort(sorted);
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }

  /** The median of a figure of all results; NaN if there are none. */
  public static <R> double median(Collection<R> results, ToDoubleFunction<R> figure) {
    return results.isEmpty() ? Double.NaN : median(results.stream().mapToDouble(figure).toArray());
  }

  /** The median of the rounds' ratios of a figure. */
  public static <R> double ratio(List<R> above, List<R> below, ToDoubleFunction<R> figure) {
    double[] ratios = new double[above.size()];
    Arrays.setAll(
        ratios,
        round -> figure.applyAsDouble(above.get(round)) / figure.applyAsDouble(below.get(round)));
    return median(ratios);
  }

  /** The milliseconds that some work takes. */
  public static double millis(Runnable work) {
    long start = System.nanoTime();
    work.run();
    return (System.nanoTime() - start) / 1e6;
  }
}
