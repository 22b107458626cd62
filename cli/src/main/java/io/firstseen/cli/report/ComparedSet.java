package io.firstseen.cli.report;

/**
 * A set of all keys, in one of the ways that are compared.
 *
 * <p>Every implementation has a loop of its own: one loop for all would be compiled for the mix of
 * them, and each would pay for the others.
 *
 * @param <K> an array of what the set is asked by: keys, or hashes of keys
 */
interface ComparedSet<K> {
  /** How many of these the set claims to hold. */
  int claimed(K probes);

  /** The bytes of the whole set. */
  long sizeBytes();

  /** The probability, in [0, 1], that it claims a stranger. */
  double predictedFalsePositiveRate();
}
