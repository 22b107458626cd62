package io.firstseen.filters.cuckoo;

import java.util.Arrays;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Moves the slots of a page into tables of another width: wider ones when a page is full, the two
 * halves of a page that splits, narrower ones and merged ones when keys were removed.
 */
final class Repacking {
  /**
   * Load factors that tables with 0, 1, … 8 slots per bucket reach almost certainly: the lowest at
   * which the first insertion into any of 200 tables failed (ADR 2). A table above its load factor
   * is not tried, because that costs the most and rarely succeeds.
   */
  private static final double[] SURE_LOAD = {0, 0.25, 0.86, 0.94, 0.97, 0.98, 0.985, 0.99, 0.99};

  /** The difference between a load that is almost certainly reached and one that always is. */
  private static final double SURE_MARGIN = 0.01;

  /**
   * After keys were removed, a page becomes narrower only if it then has room for a quarter more
   * keys than it holds: the keys of an epoch expire at once, and as many arrive during the next
   * one.
   */
  private static final int SPARE_DIVISOR = 4;

  /**
   * Two siblings with at most this many keys together are merged. The half of a page that was split
   * rarely has fewer, and a page with twice as many keys is not split yet.
   */
  private static final int MERGED_KEYS = 1792;

  /** A table with at most this many keys becomes a list if it is the only page. */
  private static final int LISTED_KEYS = IdentityListPage.MAX_COUNT * 3 / 4;

  private Repacking() {}

  /**
   * Returns the width, in slots per bucket, of the narrowest table that almost certainly has room
   * for a number of keys.
   */
  static int narrowestFor(int count) {
    int width = BucketPage.MIN_WIDTH;
    while (count
        > SURE_LOAD[Math.min(width, BucketPage.SPLIT_WIDTH)] * width * CuckooShape.BUCKETS) {
      width++;
    }
    return width;
  }

  /** Returns the number of keys for which a table of a width does not become wider. */
  static int sureCount(int width) {
    double load = SURE_LOAD[Math.min(width, BucketPage.SPLIT_WIDTH)] - SURE_MARGIN;
    return (int) (load * width * CuckooShape.BUCKETS);
  }

  /**
   * Returns the slots per bucket with which a page for this many keys rarely has to widen. Keys are
   * spread over pages at random, so some pages have more than the mean.
   */
  static int widthFor(long keys) {
    double most = keys + 3 * Math.sqrt((double) keys);
    return (int) Math.max(BucketPage.MIN_WIDTH, Math.ceil(most / (CuckooShape.BUCKETS * 0.96)));
  }

  /** Returns the same identities in a table. */
  static BucketPage toTable(IdentityListPage list, PathSearch search) {
    for (int width = narrowestFor(list.count); ; width++) {
      BucketPage page = new BucketPage(list.shape, list.depth, list.prefix, width, list.epochs);
      int stored = 0;
      while (stored < list.count
          && page.insert(list.identity(stored), list.number(stored), search)) {
        stored++;
      }
      if (stored == list.count) {
        return page;
      }
    }
  }

  /** Returns the same slots in a table with one more slot per bucket. */
  static BucketPage widened(BucketPage page) {
    int width = page.width();
    if (width == BucketPage.MAX_WIDTH) {
      throw new IllegalStateException(
          "a page cannot be wider than " + BucketPage.MAX_WIDTH + " slots");
    }
    BucketPage wider = new BucketPage(page.shape, page.depth, page.prefix, width + 1, page.epochs);
    BucketLayout from = page.layout();
    BucketLayout to = wider.layout();
    BitFields.Writer writer = new BitFields.Writer(wider.body);
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int at = bucket * from.bucketBits;
      int end = at + from.slotsBits;
      while (at < end) {
        int bits = Math.min(end - at, BitFields.Writer.MAX_BITS);
        writer.write(BitFields.get(page.body, at, bits), bits);
        at += bits;
      }
      writer.skip(to.bucketBits - from.slotsBits);
    }
    if (page.hasEpochs()) {
      byte[] numbers = page.numbers();
      byte[] wide = new byte[wider.slots()];
      for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
        System.arraycopy(numbers, bucket * width, wide, bucket * to.width, width);
      }
      wider.setNumbers(wide);
    }
    wider.count = page.count;
    wider.pending = page.pending;
    return wider;
  }

  /**
   * Splits a page into two by the leading bit of its slots. Each half has the narrowest buckets
   * with room for its slots. This cannot fail: in buckets as wide as the page's, all slots stay in
   * their place.
   *
   * @param keeps as {@link PageStore#keeps}; a half that is not kept is empty
   */
  static BucketPage[] halves(BucketPage page, IntPredicate keeps, PathSearch search) {
    long[] slots = numberedSlots(page);
    int ones = 0;
    for (long slot : slots) {
      ones += (int) (slot >>> (page.layout().slotBits - 1)) & 1;
    }
    BucketPage[] halves = {
      half(page, 0, keeps, slots, page.count - ones, search),
      half(page, 1, keeps, slots, ones, search)
    };
    for (int i = 0; i < page.pending.count(); i++) {
      long identity = page.pending.identity(i);
      BucketPage half = halves[page.shape.prefix(identity, page.depth + 1) & 1];
      half.addPending(identity, page.pending.number(i));
    }
    return halves;
  }

  private static BucketPage half(
      BucketPage page, int side, IntPredicate keeps, long[] slots, int used, PathSearch search) {
    boolean kept = keeps.test(page.id() << 1 | side);
    int narrow = kept ? narrowestFor(used) : BucketPage.MIN_WIDTH;
    BucketPage half;
    do {
      half =
          new BucketPage(
              page.shape,
              page.depth + 1,
              page.prefix << 1 | side,
              Math.min(narrow, page.width()),
              page.epochs);
      narrow++;
    } while (kept && !fill(half, side, slots, used, search));
    return half;
  }

  /**
   * Returns the same identities in the narrowest buckets that leave room for more, or the page
   * itself.
   */
  static BucketPage narrowed(BucketPage page, PathSearch search) {
    int narrow = narrowestFor(page.count() + page.count() / SPARE_DIVISOR);
    if (narrow >= page.width()) {
      return page;
    }
    BucketPage packed = new BucketPage(page.shape, page.depth, page.prefix, narrow, page.epochs);
    if (!fill(packed, 0, numberedSlots(page), page.count, search)) {
      return page;
    }
    packed.pending = page.pending;
    return packed;
  }

  /** Returns whether a table uses at most half of its slots, or may be merged. */
  static boolean isSparse(BucketPage page) {
    return 2 * page.count() <= Math.max(page.slots(), MERGED_KEYS);
  }

  /** Returns whether a table has few enough keys to become a list. */
  static boolean fitsList(BucketPage page) {
    return page.depth == 0 && page.count() <= LISTED_KEYS;
  }

  /**
   * Returns whether a table may be merged with its sibling. Of two pages to be merged, at least the
   * page with fewer keys satisfies this, so a page with more keys does not have to read its
   * sibling.
   */
  static boolean mayMerge(BucketPage page) {
    return page.depth > 0 && 2 * page.count() <= MERGED_KEYS;
  }

  /**
   * Returns whether a page and its sibling have few enough keys to be merged.
   *
   * @param other the sibling, or a page below it
   */
  static boolean fitMerged(BucketPage page, CuckooPage other) {
    return page.depth == other.depth && page.count() + other.count() <= MERGED_KEYS;
  }

  /** Returns the same identities in a list. */
  static IdentityListPage toList(BucketPage page, PathSearch search) {
    long[] identities = new long[page.count];
    int found = 0;
    long[] numbered = numberedSlots(page);
    for (int i = 0; i < numbered.length; i++) {
      long slot = NumberedIdentity.identity(numbered[i]);
      if (slot != 0) {
        long identity = slot << CuckooShape.BUCKET_BITS | i / page.width();
        // The number is below the identity, so that they can be sorted.
        identities[found++] =
            BucketPairs.lower(identity) << IdentityListPage.NUMBER_BITS
                | NumberedIdentity.number(numbered[i]);
      }
    }
    Arrays.sort(identities);
    // An empty list is the page of an empty filter.
    Epochs epochs = page.hasEpochs() && found == 0 ? Epochs.NONE : page.epochs;
    IdentityListPage list = new IdentityListPage(page.shape, epochs);
    for (long identity : identities) {
      int number = (int) identity & (1 << IdentityListPage.NUMBER_BITS) - 1;
      boolean unused = list.insert(identity >>> IdentityListPage.NUMBER_BITS, number, search);
    }
    return list;
  }

  /**
   * Returns the identities of two siblings in one table, whose slots have the bit by which the
   * siblings differ; null if the two have too many epochs.
   */
  static @Nullable BucketPage merged(BucketPage low, BucketPage high, PathSearch search) {
    Epochs epochs = low.epochs;
    int[] numbers = new int[Epochs.MAX];
    for (int number = 0; epochs != null && number < high.epochs.size(); number++) {
      long end = high.epochs.end(number);
      if (end != Epochs.UNUSED) {
        int known = epochs.numberOf(end);
        numbers[number] = known >= 0 ? known : epochs.unused();
        if (numbers[number] < 0) {
          return null;
        }
        epochs = epochs.with(numbers[number], end);
      }
    }
    int width = low.width() + high.width();
    long[] both = new long[CuckooShape.BUCKETS * width];
    long[] lowSlots = numberedSlots(low);
    long[] highSlots = numberedSlots(high);
    long bit = 1L << low.layout().slotBits;
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int to = bucket * width;
      System.arraycopy(lowSlots, bucket * low.width(), both, to, low.width());
      to += low.width();
      for (int i = bucket * high.width(); i < (bucket + 1) * high.width(); i++) {
        long slot = NumberedIdentity.identity(highSlots[i]);
        int number = numbers[NumberedIdentity.number(highSlots[i])];
        both[to++] = slot == 0 ? 0 : NumberedIdentity.of(slot | bit, number);
      }
    }
    int count = low.count + high.count;
    for (int narrow = narrowestFor(count + count / SPARE_DIVISOR); ; narrow++) {
      BucketPage page = new BucketPage(low.shape, low.depth - 1, low.prefix >>> 1, narrow, epochs);
      if (fill(page, 0, both, count, search)) {
        return page;
      }
    }
  }

  /** Returns all slots, free ones too, with the numbers of their epochs above them. */
  private static long[] numberedSlots(BucketPage page) {
    long[] slots = new long[page.slots()];
    for (int bucket = 0, at = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      for (int i = 0; i < page.width(); i++) {
        slots[at++] = page.get(bucket, i);
      }
    }
    if (page.hasEpochs()) {
      byte[] numbers = page.numbers();
      for (int i = 0; i < slots.length; i++) {
        slots[i] = NumberedIdentity.of(slots[i], numbers[i]);
      }
    }
    return slots;
  }

  /**
   * Fills an empty page with slots of another. Each stays in its bucket; those without room there
   * are inserted afterwards.
   *
   * @param side the required value of the bit above the target's slot bits: it selects one half of
   *     a page that splits; 0 selects all slots if both pages have the same depth
   * @param numbered slots of the other page, with the numbers of their epochs above them
   * @param used how many of them belong to the target
   * @return whether there was room for all
   */
  private static boolean fill(
      BucketPage target, int side, long[] numbered, int used, PathSearch search) {
    BucketLayout layout = target.layout();
    long slotMask = BitFields.mask(layout.slotBits);
    int slotsOfBucket = numbered.length / CuckooShape.BUCKETS;
    long[] inBucket = new long[Math.max(slotsOfBucket, layout.width) + 1];
    long[] moving = new long[used];
    int movingCount = 0;
    byte[] numbers = target.hasEpochs() ? new byte[target.slots()] : null;
    BitFields.Writer writer = new BitFields.Writer(target.body);
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int ofBucket = 0;
      for (int i = bucket * slotsOfBucket; i < (bucket + 1) * slotsOfBucket; i++) {
        long slot = numbered[i];
        // No branch on whether a slot counts, because it would be unpredictable.
        inBucket[ofBucket] = slot;
        ofBucket += Long.signum(slot) & (int) ((slot >>> layout.slotBits) ^ side ^ 1);
      }
      int staying = Math.min(ofBucket, layout.width);
      for (int i = 0; i < layout.width; i++) {
        int maskIfUsed = (i - ofBucket) >> 31;
        writer.write(inBucket[i] & slotMask & maskIfUsed, layout.slotBits);
      }
      writer.skip(layout.bucketBits - layout.slotsBits);
      if (numbers != null) {
        for (int i = 0; i < staying; i++) {
          numbers[bucket * layout.width + i] = (byte) NumberedIdentity.number(inBucket[i]);
        }
      }
      for (int i = staying; i < ofBucket; i++) {
        long identity = (inBucket[i] & slotMask) << CuckooShape.BUCKET_BITS | bucket;
        moving[movingCount++] = NumberedIdentity.of(identity, NumberedIdentity.number(inBucket[i]));
      }
    }
    if (numbers != null) {
      target.setNumbers(numbers);
    }
    for (int i = 0; i < movingCount; i++) {
      if (!target.place(
          NumberedIdentity.identity(moving[i]), NumberedIdentity.number(moving[i]), search)) {
        return false;
      }
    }
    target.count = used;
    return true;
  }
}
