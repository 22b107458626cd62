package io.firstseen.types;

import java.util.Arrays;

/**
 * What the set of an exact dedup holds under one 64-bit hash: a live key, and those after it that
 * have the same hash. Never changes.
 *
 * @param endMillis with a ttl, the end of the epoch that the key's time lies in, in milliseconds; 0
 *     without one
 * @param key the key, joined with its scope; null where hashes alone are kept
 * @param next the next key of the same hash, or null; always null where hashes alone are kept
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record ExactEntry(long endMillis, byte[] key, ExactEntry next) {
  /** A hash without a key and without a time. */
  public static final ExactEntry HASH = new ExactEntry(0, null, null);

  @Override
  public boolean equals(Object other) {
    return other instanceof ExactEntry that
        && endMillis == that.endMillis
        && Arrays.equals(key, that.key)
        && (next == null ? that.next == null : next.equals(that.next));
  }

  @Override
  public int hashCode() {
    return (Long.hashCode(endMillis) * 31 + Arrays.hashCode(key)) * 31
        + (next == null ? 0 : next.hashCode());
  }
}
