package io.firstseen.filters.cuckoo;

/**
 * An identity, or a slot, with the number of its epoch in the bits above, outside a page's body.
 */
final class NumberedIdentity {
  private static final int NUMBER_SHIFT = CuckooShape.MAX_IDENTITY_BITS;

  private NumberedIdentity() {}

  static long of(long identity, int number) {
    return (long) number << NUMBER_SHIFT | identity;
  }

  static long identity(long numbered) {
    return numbered & BitFields.mask(NUMBER_SHIFT);
  }

  static int number(long numbered) {
    return (int) (numbered >>> NUMBER_SHIFT);
  }
}
