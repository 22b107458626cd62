package io.firstseen.operators.compaction;

/**
 * When keys of a live set are forgotten. Of a key's time, only the end of its expiry window is
 * kept. Expiry windows end at the multiples of an eighth of the ttl, rounded up to whole
 * milliseconds.
 *
 * @param ttlMillis the ttl, at least 1
 */
record ExpiryRule(long ttlMillis) {

  long expiryWindowMillis() {
    return (ttlMillis + 7) / 8;
  }

  /** The end of the first expiry window that ends at or after an instant. */
  long expiryWindowEndFrom(long instantMillis) {
    return -Math.floorDiv(-instantMillis, expiryWindowMillis()) * expiryWindowMillis();
  }

  /**
   * The instant from which an expiry window is due: a window that ends then or later forgets its
   * keys.
   */
  long dueMillis(long expiryWindowEndMillis) {
    return expiryWindowEndMillis + ttlMillis;
  }

  /** The expiry windows that the keys of a live set can have at the end of a window. */
  ExpiryWindowTable tableAt(long windowEndMillis) {
    return new ExpiryWindowTable(this, windowEndMillis);
  }
}
