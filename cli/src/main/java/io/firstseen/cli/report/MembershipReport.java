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
 * @param probes the number of absent keys per set
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
  private static final String ROW = "%-26s%8.2f%7s%10.4g%10.4g%11.3g%9.3g%7.0f%6.0f%6.0f\n";
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
        text.append("configured for %s %%\n".formatted(percent(requestedRate)));
      }
      text.append(
          format(
              ROW,
              set.isExact() ? set.title() : "  " + set.title(),
              set.bitsPerKey(),
              set.isExact() ? "-" : format("%.2f", set.bitsPerKey() - set.boundBitsPerKey()),
              100 * set.predictedRate(),
              100 * set.measuredRate(),
              100 * set.interval().low(),
              100 * set.interval().high(),
              set.addNanos(),
              set.hitNanos(),
              set.missNanos()));
    }
    return text.append(LEGEND).toString();
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }

  /** A configured rate in percent, without the sign, with all its digits. */
  static String percent(double rate) {
    return BigDecimal.valueOf(rate).movePointRight(2).stripTrailingZeros().toPlainString();
  }
}
