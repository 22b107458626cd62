package io.firstseen.cli.size;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses and formats numbers and sizes. */
public final class Amounts {
  private static final Pattern AMOUNT =
      Pattern.compile(
          "([0-9][0-9_]*(?:\\.[0-9]+)?(?:[eE]\\+?[0-9]{1,2})?)\\s*([kKmMgGtT]?)(i?[bB])?");
  private static final String PREFIXES = "kmgt";
  private static final BigDecimal MAX = BigDecimal.valueOf(Long.MAX_VALUE);

  private Amounts() {}

  private static BigDecimal read(String value, boolean bytes, String forms) {
    Matcher matcher = AMOUNT.matcher(value.strip());
    if (matcher.matches() && (bytes || matcher.group(3) == null)) {
      BigDecimal number = new BigDecimal(matcher.group(1).replace("_", ""));
      String prefix = matcher.group(2).toLowerCase(Locale.ROOT);
      int power = prefix.isEmpty() ? 0 : PREFIXES.indexOf(prefix) + 1;
      BigDecimal amount = number.multiply(BigDecimal.valueOf(bytes ? 1024 : 1000).pow(power));
      if (amount.compareTo(MAX) > 0) {
        throw new TypeConversionException(
            "must be a number up to " + MAX + ", got '" + value + "'");
      }
      return amount;
    }
    throw new TypeConversionException(
        "must be a number such as " + forms + ", got '" + value + "'");
  }

  /** A whole number of at least 1: {@code 1000000}, {@code 1e12}, {@code 10G}. */
  public static final class Count implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      BigDecimal amount = read(value, false, "1000000, 1e12 or 10G");
      if (amount.signum() == 0 || amount.stripTrailingZeros().scale() > 0) {
        throw new TypeConversionException(
            "must be a whole number of at least 1, got '" + value + "'");
      }
      return amount.longValueExact();
    }
  }

  /** A number of more than 0: {@code 5e6}, {@code 2.5M}, {@code 0.3}. */
  static final class PositiveNumber implements ITypeConverter<Double> {
    @Override
    public Double convert(String value) {
      double amount = read(value, false, "5000000, 5e6 or 2.5M").doubleValue();
      if (!(amount > 0)) {
        throw new TypeConversionException("must be more than 0, got '" + value + "'");
      }
      return amount;
    }
  }

  /** A number of bytes of at least 1: {@code 4g}, {@code 512MiB}; units are powers of 1024. */
  static final class ByteCount implements ITypeConverter<Long> {
    @Override
    public Long convert(String value) {
      long bytes = read(value, true, "4g, 512m or 1e9").longValue();
      if (bytes < 1) {
        throw new TypeConversionException("must be at least 1 byte, got '" + value + "'");
      }
      return bytes;
    }
  }

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
