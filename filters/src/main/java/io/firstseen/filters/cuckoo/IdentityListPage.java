package io.firstseen.filters.cuckoo;

import java.util.Arrays;

/**
 * The page of a small filter: its identities in ascending order, each in the form of {@link
 * BucketPairs#lower} so that the false-positive rate follows the same law as in buckets.
 */
final class IdentityListPage extends CuckooPage {
  /** A list of this many identities becomes a table of buckets at the next insertion. */
  static final int MAX_COUNT = 512;

  private static final int COUNT_STEP = 32;

  IdentityListPage(CuckooShape shape) {
    this(shape, 0, new byte[BitFields.SPARE_BYTES]);
  }

  IdentityListPage(CuckooShape shape, int count, byte[] body) {
    super(shape, 0, 0, count, body);
  }

  static int bodyBytes(CuckooShape shape, int count) {
    return (count * shape.identityBits() + Byte.SIZE - 1) / Byte.SIZE;
  }

  @Override
  public int slots() {
    return count;
  }

  @Override
  public int bodyBytes() {
    return bodyBytes(shape, count);
  }

  @Override
  int objectBytes() {
    return 40;
  }

  @Override
  long layout() {
    return 0;
  }

  @Override
  CuckooPage sharing() {
    return new IdentityListPage(shape, count, body);
  }

  @Override
  boolean contains(long identity) {
    long lower = BucketPairs.lower(identity);
    int at = firstNotBelow(lower);
    return at < count && get(at) == lower;
  }

  @Override
  int copies(long identity) {
    long lower = BucketPairs.lower(identity);
    int from = firstNotBelow(lower);
    int to = from;
    while (to < count && get(to) == lower) {
      to++;
    }
    return to - from;
  }

  @Override
  boolean insert(long identity, PathSearch search) {
    if (count == MAX_COUNT) {
      return false;
    }
    if (bodyBytes(shape, count + 1) + BitFields.SPARE_BYTES > body.length) {
      body = Arrays.copyOf(body, bodyBytes(shape, count + COUNT_STEP) + BitFields.SPARE_BYTES);
    }
    own();
    long lower = BucketPairs.lower(identity);
    int at = firstNotBelow(lower);
    for (int i = count; i > at; i--) {
      set(i, get(i - 1));
    }
    set(at, lower);
    count++;
    return true;
  }

  @Override
  boolean remove(long identity) {
    long lower = BucketPairs.lower(identity);
    int at = firstNotBelow(lower);
    if (at == count || get(at) != lower) {
      return false;
    }
    own();
    count--;
    for (int i = at; i < count; i++) {
      set(i, get(i + 1));
    }
    set(count, 0);
    return true;
  }

  /** The same identities in the narrowest buckets that take them. */
  BucketPage toBuckets(PathSearch search) {
    for (int width = BucketPage.narrowestFor(count); ; width++) {
      BucketPage page = new BucketPage(shape, depth, prefix, width);
      int stored = 0;
      while (stored < count && page.insert(get(stored), search)) {
        stored++;
      }
      if (stored == count) {
        return page;
      }
    }
  }

  @Override
  public void verify() throws MalformedFilterException {
    for (int i = 0; i < count; i++) {
      long identity = get(i);
      if (BucketPairs.core(identity) == 0
          || BucketPairs.lower(identity) != identity
          || (i > 0 && get(i - 1) > identity)) {
        throw new MalformedFilterException("identity " + i + " of the list is not well formed");
      }
    }
    for (int bit = count * shape.identityBits(); bit < bodyBytes() * Byte.SIZE; bit++) {
      if (BitFields.get(body, bit, 1) != 0) {
        throw new MalformedFilterException("the bits behind the last identity must be 0");
      }
    }
  }

  private long get(int i) {
    return BitFields.get(body, i * shape.identityBits(), shape.identityBits());
  }

  private void set(int i, long identity) {
    BitFields.set(body, i * shape.identityBits(), shape.identityBits(), identity);
  }

  private int firstNotBelow(long identity) {
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (get(middle) < identity) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
