package io.firstseen.filters;

/**
 * An approximate set of keys, identified by their 64-bit hashes. It never misses a key that is in
 * the set. For a key that is not, it may answer 'present', at a known rate.
 */
public interface MembershipFilter {
  /**
   * Whether the key with this hash may be in the set; false means that it is certainly not.
   * Allocates nothing.
   */
  boolean mightContain(long hash);

  /**
   * The probability, in [0, 1], that {@link #mightContain} is now true for a key that is not in the
   * set.
   */
  double predictedFalsePositiveRate();

  /** The bytes of the set in memory. Each filter says whether object headers are included. */
  long sizeBytes();
}
