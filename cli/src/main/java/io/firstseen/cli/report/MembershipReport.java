package io.firstseen.cli.report;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.WilsonInterval;
import io.firstseen.filters.key.KeyHash;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;

/**
 * The results of the comparison.
 *
 * @param keys the number of distinct keys
 * @param keyBytes their total size
 * @param probes the number of absent keys per set
 * @param hashAlgorithm the hash of all sets except the exact set
 * @param hashNanos nanoseconds to hash a key
 * @param sets the exact set, followed by the other sets, rate by rate
 */
public record MembershipReport(
    int keys,
    long keyBytes,
    int probes,
    KeyHash.Algorithm hashAlgorithm,
    double hashNanos,
    List<SetFigures> sets) {
  private static final String INTRODUCTION =
      """
      keys       %,d, of %.1f bytes on average
      probes     %,d keys that are in no set
      hash       %s, %.0f ns a key, added to each operation except those of the exact set
      machine    Java %d, %d processors

      """;
  private static final String HEADINGS =
      """
                                    bits   over  false-positive rate, %                       ns/operation
                                   a key  bound predicted  measured  99 % from       to    add   hit  miss
      """;
  private static final String ROW = "%-26s%8s%7s%10s%10s%11s%9s%7.0f%6.0f%6.0f\n";
  private static final String LEGEND =
      """
      sets        exact: java.util.HashSet of strings; shortened keys: codes of a few bits in a table
                  (the first method of Bloom, 1970); Golomb-coded: a snapshot with its header
      a key       bits of the whole set
      over bound  bits above log2(1 / predicted rate), the least that a set of that rate takes
      99 %        where the rate lies by the measurement alone (Wilson's score interval)
      add         the mean over filling the set: the exact one and the cuckoo filter grow from empty,
                  the Golomb-coded one is made of all keys at once, the others have room for all
      hit, miss   a look-up of a key, in random order, and of an absent key
      """;

  private static final int SIGNIFICANT_DIGITS = 4;
  private static final int INTERVAL_DIGITS = 3;

  /** Below this percentage, leading zeros would be hard to count. */
  private static final double MIN_PLAIN = 1e-4;

  /** The exact set. */
  public SetFigures exactSet() {
    return sets.get(0);
  }

  /** Adds all figures as JSON; rates are shares, times are nanoseconds. */
  void addTo(ObjectNode json) {
    json.put("keys", keys)
        .put("keyBytes", keyBytes)
        .put("probes", probes)
        .put("hash", hashAlgorithm.id())
        .put("hashNanos", hashNanos)
        .put("interval", "wilson")
        .put("confidence", WilsonInterval.CONFIDENCE)
        .put("java", Runtime.version().toString())
        .put("processors", Runtime.getRuntime().availableProcessors());
    ArrayNode all = json.putArray("sets");
    sets.forEach(set -> set.addTo(all.addObject()));
  }

  /** A table of at most 100 columns and an explanation of its terms, each line with a line feed. */
  String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        format(
            INTRODUCTION,
            keys,
            (double) keyBytes / keys,
            probes,
            hashAlgorithm.id(),
            hashNanos,
            Runtime.version().feature(),
            Runtime.getRuntime().availableProcessors()));
    text.append(HEADINGS);
    double requestedRate = 0;
    for (SetFigures set : sets) {
      if (set.requestedRate() != requestedRate) {
        requestedRate = set.requestedRate();
        text.append(format("configured for %s %%\n", percent(requestedRate)));
      }
      text.append(row(set));
    }
    return text.append('\n').append(LEGEND).toString();
  }

  private static String row(SetFigures set) {
    WilsonInterval interval = set.interval();
    return format(
        ROW,
        set.isExact() ? set.title() : "  " + set.title(),
        bits(set.bitsPerKey()),
        set.isExact() ? "-" : bits(set.bitsPerKey() - set.boundBitsPerKey()),
        percent(set.predictedRate(), SIGNIFICANT_DIGITS),
        percent(set.measuredRate(), SIGNIFICANT_DIGITS),
        percent(interval.low(), INTERVAL_DIGITS),
        percent(interval.high(), INTERVAL_DIGITS),
        set.addNanos(),
        set.hitNanos(),
        set.missNanos());
  }

  private static String bits(double bits) {
    return format(bits < 1_000 ? "%.2f" : "%.0f", bits);
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }

  /** A measured rate in percent, without the sign, with the given number of significant digits. */
  static String percent(double rate, int digits) {
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

  /** A configured rate in percent, without the sign, with all its digits. */
  static String percent(double rate) {
    BigDecimal percent = BigDecimal.valueOf(rate).movePointRight(2).stripTrailingZeros();
    return percent.doubleValue() < MIN_PLAIN
        ? percent.unscaledValue() + "e" + -percent.scale()
        : percent.toPlainString();
  }
}
