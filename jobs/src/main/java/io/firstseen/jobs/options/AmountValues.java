package io.firstseen.jobs.options;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Converters of amounts with an optional SI prefix ({@code 10G}) or exponent ({@code 1e12}). */
public final class AmountValues {
  private static final Pattern AMOUNT =
      Pattern.compile(
          "([0-9][0-9_]*(?:\\.[0-9]+)?(?:[eE]\\+?[0-9]{1,2})?)\\s*([kKmMgGtT]?)(i?[bB])?");
  private static final String PREFIXES = "kmgt";
  private static final BigDecimal MAX = BigDecimal.valueOf(Long.MAX_VALUE);

  private AmountValues() {}

  private static BigDecimal read(String value, boolean bytes, String forms) {
    Matcher matcher = AMOUNT.matcher(value.strip());
    if (matcher.matches() && (bytes || matcher.group(3) == null)) {
      BigDecimal number = new BigDecimal(matcher.group(1).replace("_", ""));
      String prefix = matcher.group(2).toLowerCase(Locale.ROOT);
      int power = prefix.isEmpty() ? 0 : PREFIXES.indexOf(prefix) + 1;
      BigDecimal amount = number.multiply(BigDecimal.valueOf(bytes ? 1024 : 1000).pow(power));
      if (amount.compareTo(MAX) > 0) {
        throw OptionValues.mustBe("a number up to " + MAX, value);
      }
      return amount;
    }
    throw OptionValues.mustBe("a number such as " + forms, value);
  }

  private static long readWhole(String value) {
    BigDecimal amount = read(value, false, "1000000, 1e12 or 10G");
    return amount.stripTrailingZeros().scale() > 0 ? 0 : amount.longValueExact();
  }

  /** A whole number of at least 1: {@code 1000000}, {@code 1e12}, {@code 10G}. */
  public static final class Count extends OptionValues.Value<Long> {
    Count() {
      super(AmountValues::readWhole, count -> count >= 1, "a whole number of at least 1");
    }
  }

  /** A number of more than 0: {@code 5e6}, {@code 2.5M}, {@code 0.3}. */
  public static final class PositiveNumber extends OptionValues.Value<Double> {
    PositiveNumber() {
      super(
          value -> read(value, false, "5000000, 5e6 or 2.5M").doubleValue(),
          number -> number > 0,
          "more than 0");
    }
  }

  /** A number of bytes of at least 1: {@code 4g}, {@code 512MiB}; units are powers of 1024. */
  public static final class ByteCount extends OptionValues.Value<Long> {
    ByteCount() {
      super(
          value -> read(value, true, "4g, 512m or 1e9").longValue(),
          bytes -> bytes >= 1,
          "at least 1 byte");
    }
  }
}
