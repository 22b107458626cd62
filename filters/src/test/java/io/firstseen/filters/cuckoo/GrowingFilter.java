package io.firstseen.filters.cuckoo;

/** What the tests ask of a cuckoo filter, so that a broken one can stand in its place. */
interface GrowingFilter {
  InsertionResult insert(long hash);

  InsertionResult insertIfAbsent(long hash);

  boolean mightContain(long hash);

  boolean delete(long hash);

  long count();

  /** Slots for identities, used or not. */
  long slots();

  double predictedFalsePositiveRate();

  GrowingFilter copy();

  /** All that a replay of the same operations must repeat. */
  byte[] toBytes();

  /** The filter that these bytes were made from, by one of this kind and size. */
  GrowingFilter read(byte[] bytes);

  /** Whether nothing is stored, not even a forgotten bit. */
  boolean isAllZero();
}
