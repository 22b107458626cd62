package io.firstseen.types;

/** How a dedup decides whether it has seen a key; fixed for the life of its state. */
public enum DedupMode {
  /**
   * Only a cuckoo filter decides. It reports a key seen for the first time as a duplicate at the
   * false-positive rate, and needs one to three bytes per key.
   */
  APPROXIMATE,

  /**
   * The filter is backed by the exact set of the live keys' 64-bit hashes. A key that the filter
   * does not hold is new; other keys are looked up in the set. A new key is dropped only if another
   * live key has the same hash: with n live keys, the probability is n / 2^64 for one new key, and
   * n^2 / 2^65 that it happens to any of n keys (0.03 % for 100 million keys, 2.7 % for a billion).
   */
  EXACT,

  /**
   * Like {@link #EXACT}, but the set holds the keys as well as their hashes: no new key is dropped,
   * and each key's bytes are kept.
   */
  EXACT_KEYS;

  /** Returns the name in options and in state. */
  public String id() {
    return EnumIds.idOf(this);
  }

  /** Returns whether the filter is backed by a set of the live keys. */
  public boolean isExact() {
    return this != APPROXIMATE;
  }

  /**
   * Returns the mode with an id.
   *
   * @throws IllegalArgumentException if no mode has this id
   */
  public static DedupMode of(String id) {
    return EnumIds.constant("mode", DedupMode.class, id);
  }
}
