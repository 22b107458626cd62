package io.firstseen.cli.report;

import java.math.BigDecimal;
import java.util.Locale;

/** Formats rates in percent, without the percent sign. */
final class Percent {
  /** Below this percentage, leading zeros would be hard to count. */
  private static final double MIN_PLAIN = 1e-4;

  private Percent() {}

  /** A measured rate, with the given number of significant digits. */
  static String rounded(double rate, int digits) {
    double percent = 100 * rate;
    if (percent == 0) {
      return "0";
    }
    if (percent < MIN_PLAIN) {
      return String.format(Locale.ROOT, "%." + (digits - 1) + "e", percent);
    }
    int leading = (int) Math.floor(Math.log10(percent)) + 1;
    return String.format(Locale.ROOT, "%." + Math.max(0, digits - leading) + "f", percent);
  }

  /** A configured rate, with all its digits. */
  static String chosen(double rate) {
    BigDecimal percent = BigDecimal.valueOf(rate).movePointRight(2).stripTrailingZeros();
    return percent.doubleValue() < MIN_PLAIN
        ? percent.unscaledValue() + "e" + -percent.scale()
        : percent.toPlainString();
  }
}
