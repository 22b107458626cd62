package io.firstseen.filters.cuckoo;

/** The operations of a cuckoo filter that the tests use, so that a broken filter can replace it. */
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
