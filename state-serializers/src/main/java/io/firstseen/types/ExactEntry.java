package io.firstseen.types;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The entry of an exact set under one 64-bit hash: a live key, and a list of further live keys with
 * the same hash. Immutable.
 *
 * @param endMillis with a ttl, the end of the epoch that the key's time lies in, in milliseconds; 0
 *     without one
 * @param key the key, joined with its scope; null if only hashes are kept
 * @param next the next key with the same hash, or null; always null if only hashes are kept
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record ExactEntry(long endMillis, byte @Nullable [] key, @Nullable ExactEntry next) {
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
