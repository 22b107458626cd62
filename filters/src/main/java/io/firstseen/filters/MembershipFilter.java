package io.firstseen.filters;

/**
 * An approximate set of keys, identified by their 64-bit hashes. A lookup of a key in the set
 * always returns true. A lookup of any other key may also return true, at a known rate.
 */
public interface MembershipFilter {
  /**
   * Returns whether the key with this hash may be in the set; false means that the set does not
   * contain it. Allocates nothing.
   */
  boolean mightContain(long hash);

  /**
   * Returns the probability, in [0, 1], that {@link #mightContain} currently returns true for a key
   * that is not in the set.
   */
  double predictedFalsePositiveRate();

  /**
   * Returns the size of the set in memory, in bytes. Each filter documents whether this includes
   * object headers.
   */
  long sizeBytes();
}
