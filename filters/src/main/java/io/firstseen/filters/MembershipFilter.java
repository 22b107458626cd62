package io.firstseen.filters;

/**
 * An approximate set of keys, known by their 64-bit hashes: it may claim a key that was never put
 * in, at a known rate, and never denies one that was.
 */
public interface MembershipFilter {
  /**
   * Whether the key with this hash may be in the set; false means that it is not. Allocates
   * nothing.
   */
  boolean mightContain(long hash);

  /**
   * The probability, in [0, 1], that {@link #mightContain} answers true for a key that was never
   * put in, as the filter stands now.
   */
  double predictedFalsePositiveRate();

  /** The bytes that the set takes in memory; whether object headers count, a filter says. */
  long sizeBytes();
}
