package io.firstseen.filters.cuckoo;

/**
 * The division of a table's buckets into slots, and how they are read: as words of whole slots, all
 * of which are compared at once. Separate from the page, so that a look-up only needs this object
 * and the page's body.
 */
final class BucketLayout {
  /** The page already holds the identity. */
  static final int HELD = -1;

  /** The page does not hold the identity, and both of its buckets are full. */
  static final int FULL = -2;

  /** The page is not a table, or cannot be written to immediately. */
  static final int UNDECIDED = -3;

  /** The layouts of tables with 0, 1, … slots per bucket that split before they widen further. */
  private static final BucketLayout[][] COMMON = common(false);

  private static final BucketLayout[][] COMMON_WITH_EPOCHS = common(true);

  /** The number of slots per bucket. */
  final int width;

  final int slotBits;

  /**
   * The number of bits per bucket: its slots, followed by the numbers of their epochs if keys
   * expire.
   */
  final int bucketBits;

  /** The number of bits of a bucket's slots. */
  final int slotsBits;

  /** The number of bits of a word. A word contains the whole slots that are read at once. */
  private final int wordBits;

  /** The offset of the second word in a bucket; it overlaps the first if two words are too long. */
  private final int second;

  /** The offset of the last word, which can be the second or the first. */
  private final int last;

  private final long slotMask;
  private final long lowestBits;
  private final long highestBits;

  private BucketLayout(int slotBits, int width, boolean withEpochs) {
    this.slotBits = slotBits;
    this.width = width;
    this.slotsBits = width * slotBits;
    this.bucketBits = bucketBits(slotBits, width, withEpochs);
    int slotsOfWord = Math.min(width, BitFields.MAX_BITS / slotBits);
    this.wordBits = slotsOfWord * slotBits;
    this.last = slotsBits - wordBits;
    this.second = Math.min(wordBits, last);
    this.slotMask = BitFields.mask(slotBits);
    long lowest = 0;
    for (int slot = 0; slot < slotsOfWord; slot++) {
      lowest |= 1L << (slot * slotBits);
    }
    this.lowestBits = lowest;
    this.highestBits = lowest << (slotBits - 1);
  }

  private static BucketLayout[][] common(boolean withEpochs) {
    BucketLayout[][] layouts = new BucketLayout[BitFields.MAX_BITS + 1][BucketPage.SPLIT_WIDTH + 1];
    for (int slotBits = CuckooShape.CORE_BITS; slotBits <= BitFields.MAX_BITS; slotBits++) {
      for (int width = 1; width <= BucketPage.SPLIT_WIDTH; width++) {
        layouts[slotBits][width] = new BucketLayout(slotBits, width, withEpochs);
      }
    }
    return layouts;
  }

  static BucketLayout of(int slotBits, int width, boolean withEpochs) {
    if (width > BucketPage.SPLIT_WIDTH) {
      return new BucketLayout(slotBits, width, withEpochs);
    }
    return (withEpochs ? COMMON_WITH_EPOCHS : COMMON)[slotBits][width];
  }

  static int bucketBits(int slotBits, int width, boolean withEpochs) {
    return width * slotBits + (withEpochs ? EpochNumbers.bits(width) : 0);
  }

  /** Returns the bits of an identity that a slot holds. */
  long slotOf(long identity) {
    return (identity >>> CuckooShape.BUCKET_BITS) & slotMask;
  }

  /**
   * Returns whether one of an identity's two buckets holds its slot.
   *
   * <p>Always reads two words of each bucket. A branch on whether the first word holds the slot, or
   * whether there is a second one, would be unpredictable.
   */
  boolean contains(byte[] body, long identity) {
    long slot = slotOf(identity);
    long pattern = slot * lowestBits;
    int bucket = BucketPairs.bucket(identity);
    int alternate = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK);
    int at = bucket * bucketBits;
    int other = alternate * bucketBits;
    long borrows =
        borrows(BitFields.word(body, at) ^ pattern)
            | borrows(BitFields.word(body, at + second) ^ pattern)
            | borrows(BitFields.word(body, other) ^ pattern)
            | borrows(BitFields.word(body, other + second) ^ pattern);
    for (int word = second; word < last; ) {
      word = Math.min(word + wordBits, last);
      borrows |= borrows(BitFields.word(body, at + word) ^ pattern);
      borrows |= borrows(BitFields.word(body, other + word) ^ pattern);
    }
    return (borrows & highestBits) != 0;
  }

  /** As {@link #contains}, for any slot that differs only in the bits of {@code ignored}. */
  boolean containsSimilar(byte[] body, long identity, long ignored) {
    long slot = slotOf(identity);
    long pattern = slot * lowestBits;
    long compared = ~(ignored * lowestBits);
    int bucket = BucketPairs.bucket(identity);
    int at = bucket * bucketBits;
    int other = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK) * bucketBits;
    long borrows = 0;
    for (int word = 0; ; word = Math.min(word + wordBits, last)) {
      borrows |= borrows((BitFields.word(body, at + word) ^ pattern) & compared);
      borrows |= borrows((BitFields.word(body, other + word) ^ pattern) & compared);
      if (word == last) {
        return (borrows & highestBits) != 0;
      }
    }
  }

  /**
   * Returns the position in the body, in bits, at which the slot of a new identity would be stored;
   * {@link #HELD} or {@link #FULL} if it cannot be stored.
   *
   * <p>Uses few instructions and few unpredictable branches: in a filter larger than the
   * processor's caches, this decides how many operations can wait for memory at the same time.
   */
  int room(byte[] body, long identity) {
    if (second != last) {
      return roomInLongBucket(body, identity);
    }
    long pattern = slotOf(identity) * lowestBits;
    int bucket = BucketPairs.bucket(identity);
    int at = bucket * bucketBits;
    int other = BucketPairs.alternate(bucket, BucketPairs.core(identity)) * bucketBits;
    long word = BitFields.word(body, at);
    long next = BitFields.word(body, at + second);
    long otherWord = BitFields.word(body, other);
    long otherNext = BitFields.word(body, other + second);
    long held =
        borrows(word ^ pattern)
            | borrows(next ^ pattern)
            | borrows(otherWord ^ pattern)
            | borrows(otherNext ^ pattern);
    if ((held & highestBits) != 0) {
      return HELD;
    }
    if (marks(next) == 0) {
      at = other;
      word = otherWord;
      next = otherNext;
    }
    long free = marks(word);
    if (free == 0) {
      free = marks(next);
      at += second;
    }
    return free == 0 ? FULL : at + start(free);
  }

  private int roomInLongBucket(byte[] body, long identity) {
    if (contains(body, identity)) {
      return HELD;
    }
    int bucket = BucketPairs.bucket(identity);
    int room = placeOf(body, bucket, 0);
    if (room < 0) {
      room = placeOf(body, BucketPairs.alternate(bucket, BucketPairs.core(identity)), 0);
    }
    return room < 0 ? FULL : room;
  }

  /**
   * Removes one slot of an identity and closes the gap. Returns false, without a change, if the
   * page does not hold the identity or if a bucket has more than two words.
   */
  boolean remove(byte[] body, long identity) {
    if (second != last) {
      return false;
    }
    long pattern = slotOf(identity) * lowestBits;
    int bucket = BucketPairs.bucket(identity);
    int at = bucket * bucketBits;
    int other = BucketPairs.alternate(bucket, BucketPairs.core(identity)) * bucketBits;
    long word = BitFields.word(body, at);
    long next = BitFields.word(body, at + second);
    long otherWord = BitFields.word(body, other);
    long otherNext = BitFields.word(body, other + second);
    long found = marks(word ^ pattern);
    long foundNext = marks(next ^ pattern);
    if ((found | foundNext) == 0) {
      at = other;
      word = otherWord;
      next = otherNext;
      found = marks(word ^ pattern);
      foundNext = marks(next ^ pattern);
      if ((found | foundNext) == 0) {
        return false;
      }
    }
    int place = at;
    if (found == 0) {
      found = foundNext;
      place += second;
    }
    int free = at;
    long unused = marks(word);
    if (unused == 0) {
      unused = marks(next);
      free += second;
    }
    int lastUsed = unused == 0 ? at + slotsBits - slotBits : free + start(unused) - slotBits;
    long moved = get(body, lastUsed);
    BitFields.flip(body, place + start(found), moved ^ slotOf(identity));
    BitFields.flip(body, lastUsed, moved);
    return true;
  }

  /** Returns the offset of the first marked slot of a word. */
  private int start(long marks) {
    return Long.numberOfTrailingZeros(marks) - slotBits + 1;
  }

  /** Returns the index of the first slot of a bucket with this value, or -1. */
  int indexOf(byte[] body, int bucket, long slot) {
    int place = placeOf(body, bucket, slot);
    return place < 0 ? -1 : (place - bucket * bucketBits) / slotBits;
  }

  /** Returns the position of the first slot of a bucket with this value, or -1. */
  private int placeOf(byte[] body, int bucket, long slot) {
    long pattern = slot * lowestBits;
    int at = bucket * bucketBits;
    for (int word = 0; ; word = Math.min(word + wordBits, last)) {
      long marks = marks(BitFields.word(body, at + word) ^ pattern);
      if (marks != 0) {
        return at + word + start(marks);
      }
      if (word == last) {
        return -1;
      }
    }
  }

  /** Returns the position of the last slot of a bucket. */
  int lastPlace(int bucket) {
    return bucket * bucketBits + slotsBits - slotBits;
  }

  long get(byte[] body, int bucket, int i) {
    return get(body, bucket * bucketBits + i * slotBits);
  }

  long get(byte[] body, int place) {
    return BitFields.word(body, place) & slotMask;
  }

  void set(byte[] body, int place, long slot) {
    BitFields.set(body, place, slotBits, slot);
  }

  void set(byte[] body, int bucket, int i, long slot) {
    set(body, bucket * bucketBits + i * slotBits, slot);
  }

  /** Reads where a bucket starts and where it ends. */
  long touch(byte[] body, int bucket) {
    int from = bucket * bucketBits;
    return BitFields.word(body, from) + BitFields.word(body, from + bucketBits - 1);
  }

  /** Returns the number of a slot's epoch. */
  int number(byte[] body, int bucket, int i) {
    return EpochNumbers.get(body, numbersFrom(bucket), width, i);
  }

  void setNumber(byte[] body, int bucket, int i, int number) {
    EpochNumbers.set(body, numbersFrom(bucket), width, i, number);
  }

  /** Returns the position of the epoch numbers of a bucket's slots. */
  int numbersFrom(int bucket) {
    return bucket * bucketBits + slotsBits;
  }

  /**
   * Subtracting 1 from every slot of a word sets the highest bit of a slot that is 0. The borrow
   * may also mark slots above it, so only the lowest mark, and whether there is one, are valid.
   */
  private long borrows(long word) {
    return (word - lowestBits) & ~word;
  }

  private long marks(long word) {
    return borrows(word) & highestBits;
  }
}
