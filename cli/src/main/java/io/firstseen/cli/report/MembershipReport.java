package io.firstseen.cli.report;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.WilsonInterval;
import io.firstseen.filters.key.KeyHash;
import java.util.List;

/**
 * The results of the comparison.
 *
 * @param keys the number of distinct keys
 * @param keyBytes the total size of the keys in bytes
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

  public MembershipReport {
    sets = List.copyOf(sets);
  }

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
}
