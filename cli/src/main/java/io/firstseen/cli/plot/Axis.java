package io.firstseen.cli.plot;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * A scale from values to positions in a picture.
 *
 * @param from the value at {@code start}; its logarithm on a logarithmic axis
 * @param to the value at {@code end}, or its logarithm; greater than {@code from}
 */
record Axis(boolean logarithmic, double from, double to, double start, double end) {
  private static final int MAX_TICKS = 8;
  private static final int MAX_POWERS_WITH_STEPS = 5;
  private static final int[] STEPS = {1, 2, 5};

  /** A scale from 0 to slightly above the largest value. */
  static Axis linear(double greatest, double start, double end) {
    return new Axis(false, 0, greatest * 1.05, start, end);
  }

  /**
   * A logarithmic scale from the smallest value to slightly above the largest value; both must be
   * positive.
   */
  static Axis logarithmic(double least, double greatest, double start, double end) {
    double to = Math.max(Math.log10(greatest), Math.log10(least) + 0.1);
    return new Axis(true, Math.log10(least), to + 0.05, start, end);
  }

  /** The position of a value; the start of a logarithmic scale for smaller values. */
  double at(double value) {
    double place = logarithmic ? Math.max(from, Math.log10(value)) : value;
    return start + (place - from) / (to - from) * (end - start);
  }

  /** Round values for ticks. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    if (logarithmic) {
      for (int power = (int) Math.floor(from); power <= to; power++) {
        for (int step : to - from > MAX_POWERS_WITH_STEPS ? new int[] {1} : STEPS) {
          double value = BigDecimal.valueOf(step).scaleByPowerOfTen(power).doubleValue();
          if (Math.log10(value) >= from && Math.log10(value) <= to) {
            ticks.add(value);
          }
        }
      }
      return ticks;
    }
    double step = stepFor((to - from) / MAX_TICKS);
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
