package io.firstseen.cli.report;

import io.firstseen.filters.key.KeyHash;
import java.util.List;

/**
 * The results of the comparison.
 *
 * @param keys the number of distinct keys
 * @param keyBytes the bytes of all of them
 * @param probes how many strangers each set was queried for
 * @param hashAlgorithm the hash of all sets but the exact one
 * @param hashNanos nanoseconds to hash a key
 * @param sets the exact set first, then all others, rate by rate
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
}
