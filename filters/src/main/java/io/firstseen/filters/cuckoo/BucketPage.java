package io.firstseen.filters.cuckoo;

/**
 * A page as a cuckoo hash table of 512 buckets of {@code width} slots.
 *
 * <p>A slot holds the bits of an identity between the page's prefix and the bucket; 0 is a free
 * slot, which no identity can look like, as its core is never 0. The used slots of a bucket stand
 * before its free ones.
 */
final class BucketPage extends CuckooPage {
  static final int MIN_WIDTH = 2;

  /** A page of this width splits instead of widening, as long as it has a bit to split by. */
  static final int SPLIT_WIDTH = 8;

  /**
   * No page can grow beyond this width: with no tag bits left, a bucket can be asked to hold 8
   * copies of each of 255 cores.
   */
  static final int MAX_WIDTH = MAX_COPIES * CuckooShape.CORE_MASK;

  /** A table is not tried at a load above this, which breadth-first insertion does not reach. */
  private static final double MAX_LOAD = 0.99;

  /** For each slot size, a 1 in the lowest bit of every slot that one word holds. */
  private static final long[] LOWEST_BITS = new long[BitFields.MAX_BITS + 1];

  static {
    for (int bits = CuckooShape.CORE_BITS; bits <= BitFields.MAX_BITS; bits++) {
      for (int slot = 0; slot < BitFields.MAX_BITS / bits; slot++) {
        LOWEST_BITS[bits] |= 1L << (slot * bits);
      }
    }
  }

  private final int width;
  private final int slotBits;
  private final int slotsPerWord;

  BucketPage(CuckooShape shape, int depth, int prefix, int width) {
    this(
        shape,
        depth,
        prefix,
        width,
        0,
        new byte[bodyBytes(shape, depth, width) + BitFields.SPARE_BYTES]);
  }

  BucketPage(CuckooShape shape, int depth, int prefix, int width, int count, byte[] body) {
    super(shape, depth, prefix, count, body);
    this.width = width;
    this.slotBits = shape.slotBits(depth);
    this.slotsPerWord = BitFields.MAX_BITS / slotBits;
  }

  static int bodyBytes(CuckooShape shape, int depth, int width) {
    return CuckooShape.BUCKETS / Byte.SIZE * width * shape.slotBits(depth);
  }

  static int narrowestFor(int count) {
    return Math.max(MIN_WIDTH, (int) Math.ceil(count / (CuckooShape.BUCKETS * MAX_LOAD)));
  }

  int width() {
    return width;
  }

  @Override
  public int slots() {
    return CuckooShape.BUCKETS * width;
  }

  @Override
  public int bodyBytes() {
    return bodyBytes(shape, depth, width);
  }

  @Override
  CuckooPage sharing() {
    return new BucketPage(shape, depth, prefix, width, count, body);
  }

  @Override
  boolean contains(long identity) {
    int bucket = BucketPairs.bucket(identity);
    long slot = slotOf(identity);
    return holds(bucket, slot)
        || holds(BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK), slot);
  }

  @Override
  int copies(long identity) {
    int bucket = BucketPairs.bucket(identity);
    long slot = slotOf(identity);
    int alternate = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK);
    int copies = 0;
    for (int i = 0; i < width; i++) {
      copies += get(bucket, i) == slot ? 1 : 0;
      copies += get(alternate, i) == slot ? 1 : 0;
    }
    return copies;
  }

  @Override
  boolean insert(long identity, PathSearch search) {
    int bucket = BucketPairs.bucket(identity);
    long slot = slotOf(identity);
    int alternate = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK);
    int room;
    if (hasRoom(bucket)) {
      room = bucket;
    } else if (hasRoom(alternate)) {
      room = alternate;
    } else {
      room = search.makeRoom(this, bucket, alternate);
      if (room < 0) {
        return false;
      }
    }
    own();
    append(room, slot);
    count++;
    return true;
  }

  @Override
  boolean remove(long identity) {
    int bucket = BucketPairs.bucket(identity);
    long slot = slotOf(identity);
    if (!holds(bucket, slot)) {
      bucket = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK);
      if (!holds(bucket, slot)) {
        return false;
      }
    }
    int i = 0;
    while (get(bucket, i) != slot) {
      i++;
    }
    own();
    take(bucket, i);
    count--;
    return true;
  }

  /** The same slots with one more a bucket. */
  BucketPage widened() {
    if (width == MAX_WIDTH) {
      throw new IllegalStateException("a page cannot be wider than " + MAX_WIDTH + " slots");
    }
    BucketPage wider = new BucketPage(shape, depth, prefix, width + 1);
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      for (int i = 0; i < width; i++) {
        wider.set(bucket, i, get(bucket, i));
      }
    }
    wider.count = count;
    return wider;
  }

  /**
   * One of the two pages that this one splits into by the leading bit of its slots: repacked into
   * the narrowest buckets that take its slots, or else slot for slot, which cannot fail.
   *
   * @param side 0 or 1
   */
  BucketPage half(int side, PathSearch search) {
    BucketPage half = new BucketPage(shape, depth + 1, prefix << 1 | side, width);
    int childBits = slotBits - 1;
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int used = 0;
      for (int i = 0; i < width; i++) {
        long slot = get(bucket, i);
        if (slot != 0 && slot >>> childBits == side) {
          half.set(bucket, used++, slot & BitFields.mask(childBits));
        }
      }
      half.count += used;
    }
    for (int narrow = narrowestFor(half.count); narrow < width; narrow++) {
      BucketPage repacked = half.repacked(narrow, search);
      if (repacked != null) {
        return repacked;
      }
    }
    return half;
  }

  private BucketPage repacked(int narrow, PathSearch search) {
    BucketPage page = new BucketPage(shape, depth, prefix, narrow);
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      for (int i = 0; i < width; i++) {
        long slot = get(bucket, i);
        if (slot != 0 && !page.insert(slot << CuckooShape.BUCKET_BITS | bucket, search)) {
          return null;
        }
      }
    }
    return page;
  }

  @Override
  public void verify() throws MalformedFilterException {
    int used = 0;
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      boolean free = false;
      for (int i = 0; i < width; i++) {
        long slot = get(bucket, i);
        if (slot == 0) {
          free = true;
        } else if (free || (slot & CuckooShape.CORE_MASK) == 0) {
          throw new MalformedFilterException(
              "slot " + i + " of bucket " + bucket + " is not well formed");
        } else {
          used++;
        }
      }
    }
    if (used != count) {
      throw new MalformedFilterException("count must be " + used + ", got " + count);
    }
  }

  boolean hasRoom(int bucket) {
    return get(bucket, width - 1) == 0;
  }

  long get(int bucket, int i) {
    return BitFields.get(body, (bucket * width + i) * slotBits, slotBits);
  }

  /** Puts a slot into a bucket that has room. */
  void append(int bucket, long slot) {
    int i = 0;
    while (get(bucket, i) != 0) {
      i++;
    }
    set(bucket, i, slot);
  }

  /** Takes a slot out of a bucket and closes the gap. */
  long take(int bucket, int i) {
    long taken = get(bucket, i);
    int last = width - 1;
    while (get(bucket, last) == 0) {
      last--;
    }
    set(bucket, i, get(bucket, last));
    set(bucket, last, 0);
    return taken;
  }

  private void set(int bucket, int i, long slot) {
    BitFields.set(body, (bucket * width + i) * slotBits, slotBits, slot);
  }

  private long slotOf(long identity) {
    return (identity >>> CuckooShape.BUCKET_BITS) & BitFields.mask(slotBits);
  }

  /**
   * Compares as many slots at a time as fit a word: a slot that equals the sought one becomes 0
   * under XOR, and subtracting 1 from every slot then borrows from its top bit.
   */
  private boolean holds(int bucket, long slot) {
    int bit = bucket * width * slotBits;
    for (int left = width; left > 0; left -= slotsPerWord) {
      int bits = Math.min(left, slotsPerWord) * slotBits;
      long lowest = LOWEST_BITS[slotBits] & BitFields.mask(bits);
      long difference = (BitFields.word(body, bit) & BitFields.mask(bits)) ^ (slot * lowest);
      if (((difference - lowest) & ~difference & (lowest << (slotBits - 1))) != 0) {
        return true;
      }
      bit += bits;
    }
    return false;
  }
}
