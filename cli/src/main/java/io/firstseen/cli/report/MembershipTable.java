package io.firstseen.cli.report;

import io.firstseen.filters.WilsonInterval;
import java.util.Locale;

/** The comparison as text: a table of at most 100 columns, and an explanation of its terms. */
public final class MembershipTable {
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

  private MembershipTable() {}

  /** The lines, each terminated by a line feed. */
  public static String of(MembershipReport report) {
    StringBuilder text = new StringBuilder();
    text.append(
        format(
            INTRODUCTION,
            report.keys(),
            (double) report.keyBytes() / report.keys(),
            report.probes(),
            report.hashAlgorithm().id(),
            report.hashNanos(),
            Runtime.version().feature(),
            Runtime.getRuntime().availableProcessors()));
    text.append(HEADINGS);
    double requestedRate = 0;
    for (SetFigures set : report.sets()) {
      if (set.requestedRate() != requestedRate) {
        requestedRate = set.requestedRate();
        text.append(format("configured for %s %%\n", Percent.chosen(requestedRate)));
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
        Percent.rounded(set.predictedRate(), SIGNIFICANT_DIGITS),
        Percent.rounded(set.measuredRate(), SIGNIFICANT_DIGITS),
        Percent.rounded(interval.low(), INTERVAL_DIGITS),
        Percent.rounded(interval.high(), INTERVAL_DIGITS),
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
}
