package io.firstseen.benchmarks.cuckoo;

/**
 * A page of sorted fingerprints: the bucket (quotient) of each is coded by the lengths of the runs
 * of equal buckets, the rest (remainder) stands in a slot. A spike of what docs/adr/0017 describes;
 * only one thread, no checkpoint, no expiry.
 *
 * <p>Body: for every 64 buckets the number of slots before them (16 bits); then for each bucket as
 * many ones as it has slots, and a zero; then, from a multiple of 64 bits on, the slots. Slots are
 * in the order of the buckets, and of their values within one, without gaps.
 */
final class QuotientPage {
  /** Buckets for which one number of slots before them is stored. */
  static final int BLOCK = 64;

  private static final int UNARY_BITS = BitVector.MAX_BITS - 1;
  private static final long UNARY_MASK = (1L << UNARY_BITS) - 1;

  /** Of the slots, that are free when a page has got a larger body. */
  private static final int SPARE_DIVISOR = 32;

  private static final int FEWEST_SPARE = 16;

  final int depth;
  final int prefix;
  private final int buckets;
  private final int slotBits;
  private final long slotMask;
  private final long lowestBits;
  private final long highestBits;
  private final int unaryFrom;
  private int slotsFrom;
  private int capacity;
  private int count;
  private byte[] body;

  QuotientPage(int depth, int prefix, int buckets, int slotBits, int keys) {
    this.depth = depth;
    this.prefix = prefix;
    this.buckets = buckets;
    this.slotBits = slotBits;
    this.slotMask = (1L << slotBits) - 1;
    long ones = 0;
    for (int i = 0; i < BitVector.MAX_BITS / slotBits; i++) {
      ones |= 1L << (i * slotBits);
    }
    this.lowestBits = ones;
    this.highestBits = ones << (slotBits - 1);
    this.unaryFrom = buckets / BLOCK * Short.SIZE;
    allocate(keys);
  }

  /** Bytes of the body of a page that just got room for some more keys than it has. */
  static int bodyBytes(int buckets, int slotBits, int keys) {
    int capacity = capacity(slotBits, keys);
    return (slotsFrom(buckets, capacity) + words(capacity * slotBits)) / Byte.SIZE
        + BitVector.SPARE;
  }

  private static int capacity(int slotBits, int keys) {
    return words((keys + Math.max(FEWEST_SPARE, keys / SPARE_DIVISOR)) * slotBits) / slotBits;
  }

  private static int slotsFrom(int buckets, int capacity) {
    return words(buckets / BLOCK * Short.SIZE + buckets + capacity);
  }

  /** Bits rounded up to whole words. */
  private static int words(int bits) {
    return (bits + Long.SIZE - 1) / Long.SIZE * Long.SIZE;
  }

  private void allocate(int keys) {
    capacity = capacity(slotBits, keys);
    slotsFrom = slotsFrom(buckets, capacity);
    body = new byte[bodyBytes(buckets, slotBits, keys)];
  }

  int count() {
    return count;
  }

  /** Bytes on the heap, for compressed object pointers: fields, array header, array. */
  int heapBytes() {
    return 72 + 16 + (body.length + 7) / 8 * 8;
  }

  /** Where the run of a bucket starts among the unary bits. */
  private int run(int bucket) {
    int before = (int) BitVector.get(body, bucket / BLOCK * Short.SIZE, Short.SIZE);
    int position = unaryFrom + bucket / BLOCK * BLOCK + before;
    int skip = bucket % BLOCK;
    if (skip == 0) {
      return position;
    }
    while (true) {
      long zeros = ~BitVector.word(body, position) & UNARY_MASK;
      int found = Long.bitCount(zeros);
      if (found >= skip) {
        return position + BitVector.select(zeros, skip - 1) + 1;
      }
      skip -= found;
      position += UNARY_BITS;
    }
  }

  private boolean isInRun(int position) {
    return (BitVector.word(body, position) & 1) != 0;
  }

  private int slotAt(int index) {
    return slotsFrom + index * slotBits;
  }

  boolean contains(int bucket, long slot) {
    int position = run(bucket);
    int length = Long.numberOfTrailingZeros(~BitVector.word(body, position));
    if (length == 0) {
      return false;
    }
    int at = slotAt(position - unaryFrom - bucket);
    if (length * slotBits <= BitVector.MAX_BITS) {
      long differences = BitVector.word(body, at) ^ slot * lowestBits;
      long marks = (differences - lowestBits) & ~differences & highestBits;
      return (marks & (1L << (length * slotBits)) - 1) != 0;
    }
    while (isInRun(position)) {
      if (BitVector.get(body, at, slotBits) == slot) {
        return true;
      }
      position++;
      at += slotBits;
    }
    return false;
  }

  void insert(int bucket, long slot) {
    if (count == capacity) {
      enlarge();
    }
    int position = run(bucket);
    int at = slotAt(position - unaryFrom - bucket);
    while (isInRun(position) && BitVector.get(body, at, slotBits) < slot) {
      position++;
      at += slotBits;
    }
    BitVector.moveUp(body, at, slotAt(count), slotBits);
    BitVector.set(body, at, slotBits, slot);
    BitVector.moveUp(body, position, unaryFrom + buckets + count, 1);
    BitVector.set(body, position, 1, 1);
    moveBlocks(bucket, 1);
    count++;
  }

  /** Removes one copy, or returns false. */
  boolean remove(int bucket, long slot) {
    int position = run(bucket);
    int at = slotAt(position - unaryFrom - bucket);
    while (isInRun(position)) {
      if (BitVector.get(body, at, slotBits) == slot) {
        BitVector.moveDown(body, at, slotAt(count), slotBits);
        BitVector.moveDown(body, position, unaryFrom + buckets + count, 1);
        moveBlocks(bucket, -1);
        count--;
        return true;
      }
      position++;
      at += slotBits;
    }
    return false;
  }

  private void moveBlocks(int bucket, int slots) {
    BitVector.addTo16Bits(body, (bucket / BLOCK + 1) * Short.BYTES, unaryFrom / Byte.SIZE, slots);
  }

  private void enlarge() {
    byte[] from = body;
    int slots = slotsFrom;
    allocate(count);
    System.arraycopy(from, 0, body, 0, (unaryFrom + buckets + count + 7) / Byte.SIZE);
    System.arraycopy(
        from, slots / Byte.SIZE, body, slotsFrom / Byte.SIZE, (count * slotBits + 7) / Byte.SIZE);
  }

  /** The two halves by the leading bit of the slots. */
  QuotientPage[] halves() {
    int ones = 0;
    for (int i = 0; i < count; i++) {
      ones += (int) (BitVector.word(body, slotAt(i)) >>> (slotBits - 1)) & 1;
    }
    QuotientPage[] halves = new QuotientPage[2];
    for (int side = 0; side < 2; side++) {
      int keys = side == 0 ? count - ones : ones;
      halves[side] = new QuotientPage(depth + 1, prefix << 1 | side, buckets, slotBits - 1, keys);
    }
    int position = unaryFrom;
    int at = slotsFrom;
    for (int bucket = 0; bucket < buckets; bucket++) {
      if (bucket % BLOCK == 0) {
        halves[0].startBlock(bucket);
        halves[1].startBlock(bucket);
      }
      for (; isInRun(position); position++) {
        long slot = BitVector.get(body, at, slotBits);
        halves[(int) (slot >>> (slotBits - 1))].append(bucket, slot & slotMask >>> 1);
        at += slotBits;
      }
      position++;
    }
    return halves;
  }

  private void startBlock(int bucket) {
    BitVector.set(body, bucket / BLOCK * Short.SIZE, Short.SIZE, count);
  }

  private void append(int bucket, long slot) {
    BitVector.set(body, unaryFrom + bucket + count, 1, 1);
    BitVector.set(body, slotAt(count), slotBits, slot);
    count++;
  }
}
