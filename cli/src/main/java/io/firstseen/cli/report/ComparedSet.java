package io.firstseen.cli.report;

/**
 * One of the compared kinds of set, with all keys in it.
 *
 * <p>Every implementation has a loop of its own. The JIT would compile a shared loop for the mix of
 * implementations, which would make each of them slower.
 *
 * @param <K> an array of what the set is queried with: keys, or hashes of keys
 */
interface ComparedSet<K> {
  /** How many of the probes the set answers by 'present'. */
  int claimed(K probes);

  /** The bytes of the whole set. */
  long sizeBytes();

  /** The probability, in [0, 1], that it answers an absent key by 'present'. */
  double predictedFalsePositiveRate();
}
