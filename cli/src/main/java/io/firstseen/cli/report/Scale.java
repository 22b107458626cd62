package io.firstseen.cli.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A linear scale from values to positions in a picture.
 *
 * @param from the value at {@code start}
 * @param to the value at {@code end}, greater than {@code from}
 */
record Scale(double from, double to, double start, double end) {
  private static final int[] STEPS = {1, 2, 5};

  double at(double value) {
    return start + (value - from) / (to - from) * (end - start);
  }

  /**
   * The ticks: multiples of the smallest step (1, 2 or 5 times a power of ten) that gives at most
   * {@code most} of them.
   */
  List<Double> ticks(int most) {
    double step = stepFor((to - from) / most);
    List<Double> ticks = new ArrayList<>();
    for (double i = Math.ceil(from / step); i * step <= to; i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  private static double stepFor(double least) {
    double power = Math.pow(10, Math.floor(Math.log10(least)));
    for (int step : STEPS) {
      if (step * power >= least) {
        return step * power;
      }
    }
    return 10 * power;
  }
}
