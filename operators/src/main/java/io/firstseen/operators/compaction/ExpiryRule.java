package io.firstseen.operators.compaction;

/**
 * Decides when keys of a live set are forgotten. Only the end of a key's expiry window is stored,
 * not its time. Expiry windows end at the multiples of an eighth of the ttl, rounded up to whole
 * milliseconds.
 *
 * @param ttlMillis the ttl, at least 1
 */
record ExpiryRule(long ttlMillis) {

  long expiryWindowMillis() {
    return (ttlMillis + 7) / 8;
  }

  /** Returns the end of the first expiry window that ends at or after an instant. */
  long expiryWindowEndFrom(long instantMillis) {
    return -Math.floorDiv(-instantMillis, expiryWindowMillis()) * expiryWindowMillis();
  }

  /**
   * Returns the instant from which an expiry window is due: a window that ends then or later
   * forgets its keys.
   */
  long dueMillis(long expiryWindowEndMillis) {
    return expiryWindowEndMillis + ttlMillis;
  }
}
