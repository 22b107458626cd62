package io.firstseen.cli.report;

/**
 * One of the compared kinds of sets, which contains all keys.
 *
 * <p>Every implementation has a separate loop. The JIT would compile a shared loop for the mix of
 * implementations, which would slow down each of them.
 *
 * @param <K> an array of query arguments: keys, or hashes of keys
 */
interface ComparedSet<K> {
  /** The number of probes for which the set returns present. */
  int claimed(K probes);

  /** The size of the whole set in bytes. */
  long sizeBytes();

  /** The probability, in [0, 1], that the set returns present for an absent key. */
  double predictedFalsePositiveRate();
}
