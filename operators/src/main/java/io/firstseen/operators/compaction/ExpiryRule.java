package io.firstseen.operators.compaction;

/**
 * When keys of a live set are forgotten. Of a key's time all that is kept is the end of its epoch;
 * epochs end at the multiples of an eighth of the ttl.
 *
 * @param ttlMillis the ttl, at least 1
 */
record ExpiryRule(long ttlMillis) {

  long epochMillis() {
    return (ttlMillis + 7) / 8;
  }

  /** The end of the epoch that ends at an instant or next after it. */
  long epochEndingFrom(long instantMillis) {
    return -Math.floorDiv(-instantMillis, epochMillis()) * epochMillis();
  }

  /**
   * The instant from which on an epoch is due: a set at the end of a window has its keys no more.
   */
  long dueMillis(long epochEndMillis) {
    return epochEndMillis + ttlMillis;
  }

  /** The epochs that a live set can have keys of at the end of a window. */
  EpochTable tableAt(long windowEndMillis) {
    return new EpochTable(this, windowEndMillis);
  }
}
