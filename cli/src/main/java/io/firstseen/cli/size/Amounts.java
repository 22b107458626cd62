package io.firstseen.cli.size;

import java.util.Locale;

/** Formats rates, durations and sizes. */
final class Amounts {
  private Amounts() {}

  /** {@code 5.2 M/s}. */
  static String rate(double perSecond) {
    return perSecond >= 1e6
        ? String.format(Locale.ROOT, "%,.2f M/s", perSecond / 1e6)
        : String.format(Locale.ROOT, "%,.0f/s", perSecond);
  }

  /** {@code 12.3 s}, {@code 4 min}, {@code 3.2 h}, {@code 5 days}, {@code 3 years}. */
  static String seconds(double seconds) {
    if (seconds < 120) {
      return String.format(Locale.ROOT, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    }
    if (seconds < 120 * 60) {
      return String.format(Locale.ROOT, "%.0f min", seconds / 60);
    }
    double hours = seconds / 3600;
    if (hours < 48) {
      return String.format(Locale.ROOT, "%.1f h", hours);
    }
    double days = hours / 24;
    return days < 730
        ? String.format(Locale.ROOT, "%.0f days", days)
        : String.format(Locale.ROOT, "%,.0f years", days / 365.25);
  }

  /** A size in the syntax of the options of the jobs and of Flink, rounded up to MiB. */
  static String mebibytes(double bytes) {
    return (long) Math.ceil(bytes / (1 << 20)) + "m";
  }
}
