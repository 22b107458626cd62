package io.firstseen.filters.cuckoo;

import java.util.Arrays;

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

  /**
   * Loads that tables of 0, 1, … 8 slots a bucket are sure to reach, or nearly: the least at which
   * any of 200 first refused a key ({@code GeometryReport} in module benchmarks). Repacking tries
   * no table above its load, as that would cost the most and hardly ever succeed.
   */
  private static final double[] SURE_LOAD = {0, 0.25, 0.86, 0.94, 0.97, 0.98, 0.985, 0.99, 0.99};

  /** Most insertions that wait; about as many bytes as a small part of a body. */
  private static final int MAX_WAITING = 16;

  /** Where the number of an epoch stands above its identity or slot, outside the body. */
  private static final int NUMBER_SHIFT = CuckooShape.MAX_IDENTITY_BITS;

  /**
   * A page becomes narrower when keys have expired only if as many more as this part of them will
   * find room: the keys of an epoch go at once, and as many come again during the next one.
   */
  private static final int SPARE_DIVISOR = 4;

  private final BucketLayout layout;

  /**
   * Identities inserted while the page was lent, in the order they came, with the numbers of their
   * epochs. Kept for the next time when all are in their place, as a store of a new one into an old
   * object costs the collector more than its bytes.
   */
  private long[] waiting;

  private byte waitingCount;

  BucketPage(CuckooShape shape, int depth, int prefix, int width, Epochs epochs) {
    this(
        shape,
        depth,
        prefix,
        width,
        0,
        new byte[bodyBytes(shape, depth, width, epochs != null) + BitFields.SPARE_BYTES],
        epochs);
  }

  BucketPage(
      CuckooShape shape, int depth, int prefix, int width, int count, byte[] body, Epochs epochs) {
    super(shape, depth, prefix, count, body, epochs);
    this.layout = BucketLayout.of(shape.slotBits(depth), width, epochs != null);
  }

  static int bodyBytes(CuckooShape shape, int depth, int width, boolean withEpochs) {
    int bucketBits = BucketLayout.bucketBits(shape.slotBits(depth), width, withEpochs);
    return CuckooShape.BUCKETS / Byte.SIZE * bucketBits;
  }

  static int narrowestFor(int count) {
    int width = MIN_WIDTH;
    while (count > SURE_LOAD[Math.min(width, SPLIT_WIDTH)] * width * CuckooShape.BUCKETS) {
      width++;
    }
    return width;
  }

  /**
   * Slots a bucket of a page that takes this many keys of a filter with little chance that it must
   * widen: keys spread over pages by chance, so that some pages get more than their share.
   */
  static int widthFor(long keys) {
    double most = keys + 3 * Math.sqrt((double) keys);
    return (int) Math.max(MIN_WIDTH, Math.ceil(most / (CuckooShape.BUCKETS * 0.96)));
  }

  int width() {
    return layout.width;
  }

  @Override
  BucketLayout layout() {
    return layout;
  }

  @Override
  public int slots() {
    return CuckooShape.BUCKETS * layout.width;
  }

  @Override
  public int bodyBytes() {
    return bodyBytes(shape, depth, layout.width, hasEpochs());
  }

  @Override
  int objectBytes() {
    return 48;
  }

  @Override
  CuckooPage sharing() {
    BucketPage page = new BucketPage(shape, depth, prefix, layout.width, count, body, epochs);
    if (waits()) {
      page.waiting = waiting.clone();
      page.waitingCount = waitingCount;
    }
    return page;
  }

  @Override
  CuckooPage unlent() {
    BucketPage page = (BucketPage) super.unlent();
    waitingCount = 0;
    waiting = null;
    return page;
  }

  @Override
  boolean contains(long identity) {
    return layout.contains(body, identity) || (waits() && waitingCopies(identity) > 0);
  }

  @Override
  public long touch(long identity) {
    int bucket = BucketPairs.bucket(identity);
    int alternate = BucketPairs.alternate(bucket, BucketPairs.core(identity));
    return touch(bucket) + touch(alternate) + (waits() ? waiting[0] : 0);
  }

  private long touch(int bucket) {
    return layout.touch(body, bucket);
  }

  @Override
  int copies(long identity) {
    int bucket = BucketPairs.bucket(identity);
    long slot = slotOf(identity);
    int alternate = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK);
    int copies = 0;
    for (int i = 0; i < layout.width; i++) {
      copies += get(bucket, i) == slot ? 1 : 0;
      copies += get(alternate, i) == slot ? 1 : 0;
    }
    return copies + waitingCopies(identity);
  }

  private int waitingCopies(long identity) {
    long lower = BucketPairs.lower(identity);
    int copies = 0;
    for (int i = 0; i < waitingCount; i++) {
      copies += BucketPairs.lower(waitingIdentity(i)) == lower ? 1 : 0;
    }
    return copies;
  }

  private long waitingIdentity(int i) {
    return waiting[i] & BitFields.mask(NUMBER_SHIFT);
  }

  private int waitingNumber(int i) {
    return (int) (waiting[i] >>> NUMBER_SHIFT);
  }

  private void setWaiting(int i, long identity, int number) {
    waiting[i] = (long) number << NUMBER_SHIFT | identity;
  }

  @Override
  public boolean waits() {
    return waitingCount > 0;
  }

  @Override
  public int count() {
    return count + waitingCount;
  }

  @Override
  boolean canAwait(Expiry expiry) {
    return waitingCount < MAX_WAITING
        && (expiry == null || epochs.numberOf(expiry.endMillis()) >= 0);
  }

  @Override
  boolean insert(long identity, int number, PathSearch search) {
    if (isLent()) {
      await(identity, number);
      return true;
    }
    if (!settle(search) || !place(identity, number, search)) {
      return false;
    }
    count++;
    return true;
  }

  private void await(long identity, int number) {
    if (waiting == null) {
      waiting = new long[MAX_WAITING / 4];
    } else if (waitingCount == waiting.length) {
      waiting = Arrays.copyOf(waiting, 2 * waitingCount);
    }
    setWaiting(waitingCount++, identity, number);
  }

  @Override
  boolean settle(PathSearch search) {
    int placed = 0;
    while (placed < waitingCount && place(waitingIdentity(placed), waitingNumber(placed), search)) {
      placed++;
    }
    waitingCount -= (byte) placed;
    count += placed;
    if (waitingCount > 0) {
      System.arraycopy(waiting, placed, waiting, 0, waitingCount);
    }
    return waitingCount == 0;
  }

  private boolean place(long identity, int number, PathSearch search) {
    int bucket = BucketPairs.bucket(identity);
    long slot = slotOf(identity);
    int alternate = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK);
    int room = bucket;
    int free = firstFree(bucket);
    if (free < 0) {
      room = alternate;
      free = firstFree(alternate);
    }
    if (free < 0) {
      room = search.makeRoom(this, bucket, alternate);
      if (room < 0) {
        return false;
      }
      free = firstFree(room);
    }
    own();
    set(room, free, slot);
    setNumber(room, free, number);
    return true;
  }

  @Override
  boolean remove(long identity) {
    long at = find(identity);
    if (at < 0) {
      return false;
    }
    own();
    take(bucketAt(at), slotAt(at));
    count--;
    return true;
  }

  /** Where an identity stands, of several copies the oldest, or -1; what waits is not looked at. */
  private long find(long identity) {
    int bucket = BucketPairs.bucket(identity);
    long slot = slotOf(identity);
    int alternate = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK);
    int i = indexOf(bucket, slot);
    int other = i >= 0 && epochs == null ? -1 : indexOf(alternate, slot);
    if (epochs == null) {
      return i >= 0 ? at(bucket, i) : other >= 0 ? at(alternate, other) : -1;
    }
    long found = i >= 0 ? oldest(bucket, i, slot) : -1;
    long foundOther = other >= 0 ? oldest(alternate, other, slot) : -1;
    return found < 0 || (foundOther >= 0 && end(foundOther) < end(found)) ? foundOther : found;
  }

  private long oldest(int bucket, int first, long slot) {
    long oldest = at(bucket, first);
    for (int i = first + 1; i < layout.width; i++) {
      if (get(bucket, i) == slot && end(at(bucket, i)) < end(oldest)) {
        oldest = at(bucket, i);
      }
    }
    return oldest;
  }

  private static long at(int bucket, int i) {
    return (long) bucket << Integer.SIZE | i;
  }

  private static int bucketAt(long at) {
    return (int) (at >>> Integer.SIZE);
  }

  private static int slotAt(long at) {
    return (int) at;
  }

  private long end(long at) {
    return epochs.end(number(bucketAt(at), slotAt(at)));
  }

  @Override
  CuckooPage renew(long identity, Expiry expiry) {
    long end = expiry.endMillis();
    long at = find(identity);
    int waits = oldestWaiting(identity);
    boolean waitingIsOlder = waits >= 0 && (at < 0 || epochs.end(waitingNumber(waits)) < end(at));
    long oldest = waitingIsOlder ? epochs.end(waitingNumber(waits)) : end(at);
    if (oldest >= end) {
      return null;
    }
    if (isLent()) {
      return unlent().renew(identity, expiry);
    }
    int number = number(expiry);
    if (waitingIsOlder) {
      setWaiting(waits, waitingIdentity(waits), number);
    } else {
      own();
      setNumber(bucketAt(at), slotAt(at), number);
    }
    return this;
  }

  private int oldestWaiting(long identity) {
    long lower = BucketPairs.lower(identity);
    int oldest = -1;
    for (int i = 0; i < waitingCount; i++) {
      if (BucketPairs.lower(waitingIdentity(i)) == lower
          && (oldest < 0 || epochs.end(waitingNumber(i)) < epochs.end(waitingNumber(oldest)))) {
        oldest = i;
      }
    }
    return oldest;
  }

  @Override
  void renumber(int from, int to) {
    byte[] numbers = numbers();
    for (int at = 0; at < numbers.length; at++) {
      // A free slot's number is 0, and stays so.
      if (numbers[at] == from && get(at / layout.width, at % layout.width) != 0) {
        numbers[at] = (byte) to;
      }
    }
    setNumbers(numbers);
    for (int i = 0; i < waitingCount; i++) {
      if (waitingNumber(i) == from) {
        setWaiting(i, waitingIdentity(i), to);
      }
    }
  }

  @Override
  CuckooPage expire(Expiry expiry, PathSearch search) {
    int due = epochs.endedBy(expiry.dueMillis());
    own();
    byte[] numbers = new byte[layout.width];
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      Arrays.fill(numbers, (byte) 0);
      EpochNumbers.getAll(body, layout.numbersFrom(bucket), layout.width, numbers, 0);
      int anyDue = 0;
      for (byte number : numbers) {
        anyDue |= due >>> number;
      }
      if ((anyDue & 1) != 0) {
        expire(bucket, numbers, due);
      }
    }
    int kept = 0;
    for (int i = 0; i < waitingCount; i++) {
      if ((due >>> waitingNumber(i) & 1) == 0) {
        waiting[kept++] = waiting[i];
      }
    }
    waitingCount = (byte) kept;
    epochs = epochs.without(due);
    return narrowed(search);
  }

  /** Forgets the slots of a bucket whose epochs are due. */
  private void expire(int bucket, byte[] numbers, int due) {
    int last = layout.width - 1;
    while (last >= 0 && get(bucket, last) == 0) {
      last--;
    }
    for (int i = last; i >= 0; i--) {
      if ((due >>> numbers[i] & 1) != 0) {
        set(bucket, i, get(bucket, last));
        numbers[i] = numbers[last];
        set(bucket, last, 0);
        numbers[last] = 0;
        last--;
        count--;
      }
    }
    EpochNumbers.setAll(body, layout.numbersFrom(bucket), layout.width, numbers, 0);
  }

  /** The same identities in the narrowest buckets that leave room for more, or this page. */
  private BucketPage narrowed(PathSearch search) {
    int narrow = narrowestFor(count() + count() / SPARE_DIVISOR);
    if (narrow >= layout.width) {
      return this;
    }
    BucketPage packed = new BucketPage(shape, depth, prefix, narrow, epochs);
    if (!packed.take(0, numberedSlots(), count, search)) {
      return this;
    }
    packed.waiting = waiting;
    packed.waitingCount = waitingCount;
    packed.count = count;
    return packed;
  }

  /** The same slots with one more a bucket. */
  BucketPage widened() {
    if (layout.width == MAX_WIDTH) {
      throw new IllegalStateException("a page cannot be wider than " + MAX_WIDTH + " slots");
    }
    BucketPage wider = new BucketPage(shape, depth, prefix, layout.width + 1, epochs);
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int from = bucket * layout.bucketBits;
      int to = bucket * wider.layout.bucketBits;
      for (int left = layout.slotsBits; left > 0; left -= layout.wordBits) {
        int bits = Math.min(left, layout.wordBits);
        BitFields.set(wider.body, to, bits, BitFields.get(body, from, bits));
        from += bits;
        to += bits;
      }
    }
    if (epochs != null) {
      byte[] numbers = new byte[wider.slots()];
      byte[] own = numbers();
      for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
        System.arraycopy(
            own, bucket * layout.width, numbers, bucket * wider.layout.width, layout.width);
      }
      wider.setNumbers(numbers);
    }
    wider.count = count;
    wider.waiting = waiting;
    wider.waitingCount = waitingCount;
    return wider;
  }

  /**
   * The two pages that this one splits into by the leading bit of its slots, each in the narrowest
   * buckets that take its slots; in buckets as wide as these all stay where they are, which cannot
   * fail.
   */
  BucketPage[] halves(PathSearch search) {
    long[] numbered = numberedSlots();
    int ones = 0;
    for (long slot : numbered) {
      ones += (int) (slot >>> (layout.slotBits - 1)) & 1;
    }
    BucketPage[] halves = {
      half(0, numbered, count - ones, search), half(1, numbered, ones, search)
    };
    for (int i = 0; i < waitingCount; i++) {
      BucketPage half = halves[shape.prefix(waitingIdentity(i), depth + 1) & 1];
      half.await(waitingIdentity(i), waitingNumber(i));
    }
    return halves;
  }

  /** All slots, free ones too, the numbers of their epochs above them. */
  private long[] numberedSlots() {
    long[] slots = new long[slots()];
    for (int bucket = 0, at = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      for (int i = 0; i < layout.width; i++) {
        slots[at++] = get(bucket, i);
      }
    }
    if (epochs != null) {
      byte[] numbers = numbers();
      for (int i = 0; i < slots.length; i++) {
        slots[i] |= (long) numbers[i] << NUMBER_SHIFT;
      }
    }
    return slots;
  }

  private BucketPage half(int side, long[] numbered, int used, PathSearch search) {
    int narrow = narrowestFor(used);
    BucketPage half;
    do {
      half =
          new BucketPage(
              shape, depth + 1, prefix << 1 | side, Math.min(narrow, layout.width), epochs);
      narrow++;
    } while (!half.take(side, numbered, used, search));
    return half;
  }

  /**
   * Takes over the slots of a page: each stays in its bucket, and those that find no room there are
   * inserted then.
   *
   * @param side the bit above the bits of a slot of this page that the slots must have: one half of
   *     a page that splits, or, with 0, all of a page as deep as this one
   * @param numbered the slots of that page, the numbers of their epochs above them
   * @param used how many of them it takes
   * @return whether all found room
   */
  private boolean take(int side, long[] numbered, int used, PathSearch search) {
    int slotsOfBucket = numbered.length / CuckooShape.BUCKETS;
    long[] inBucket = new long[slotsOfBucket + 1];
    long[] moving = new long[used];
    int movingCount = 0;
    byte[] numbers = epochs == null ? null : new byte[slots()];
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int ofBucket = 0;
      for (int i = bucket * slotsOfBucket; i < (bucket + 1) * slotsOfBucket; i++) {
        long slot = numbered[i];
        // Written whether it counts or not: which half a slot goes to is a coin toss.
        inBucket[ofBucket] = slot;
        ofBucket += slot != 0 && (slot >>> layout.slotBits & 1) == side ? 1 : 0;
      }
      int staying = Math.min(ofBucket, layout.width);
      for (int i = 0; i < staying; i++) {
        set(bucket, i, inBucket[i] & BitFields.mask(layout.slotBits));
        if (numbers != null) {
          numbers[bucket * layout.width + i] = (byte) (inBucket[i] >>> NUMBER_SHIFT);
        }
      }
      for (int i = staying; i < ofBucket; i++) {
        long slot = inBucket[i] & BitFields.mask(layout.slotBits);
        long number = inBucket[i] >>> NUMBER_SHIFT << NUMBER_SHIFT;
        moving[movingCount++] = number | slot << CuckooShape.BUCKET_BITS | bucket;
      }
    }
    if (numbers != null) {
      setNumbers(numbers);
    }
    for (int i = 0; i < movingCount; i++) {
      long identity = moving[i] & BitFields.mask(NUMBER_SHIFT);
      if (!place(identity, (int) (moving[i] >>> NUMBER_SHIFT), search)) {
        return false;
      }
    }
    count = used;
    return true;
  }

  @Override
  public void verify() throws MalformedFilterException {
    int used = 0;
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      boolean free = false;
      for (int i = 0; i < layout.width; i++) {
        long slot = get(bucket, i);
        if (slot == 0) {
          free = true;
        } else if (free || (slot & CuckooShape.CORE_MASK) == 0) {
          throw new MalformedFilterException(
              "slot " + i + " of bucket " + bucket + " is not well formed");
        } else {
          used++;
        }
        if (epochs != null) {
          verifyNumber(bucket, i, slot);
        }
      }
      if (epochs != null
          && !EpochNumbers.areWellFormed(body, layout.numbersFrom(bucket), layout.width)) {
        throw new MalformedFilterException(
            "the numbers of the epochs of bucket " + bucket + " are not well formed");
      }
    }
    if (used != count) {
      throw new MalformedFilterException("count must be " + used + ", got " + count);
    }
  }

  private void verifyNumber(int bucket, int i, long slot) throws MalformedFilterException {
    int number = number(bucket, i);
    if (slot == 0 ? number != 0 : epochs.end(number) == Epochs.UNUSED) {
      throw new MalformedFilterException(
          "slot " + i + " of bucket " + bucket + " has no epoch " + number);
    }
  }

  long get(int bucket, int i) {
    return layout.get(body, bucket, i);
  }

  /** Moves a slot into another bucket that has room, and closes the gap. */
  void move(int from, int i, int to) {
    int free = firstFree(to);
    set(to, free, get(from, i));
    setNumber(to, free, number(from, i));
    take(from, i);
  }

  /** Takes a slot out of a bucket and closes the gap. */
  private void take(int bucket, int i) {
    int last = layout.width - 1;
    while (get(bucket, last) == 0) {
      last--;
    }
    if (i < last) {
      set(bucket, i, get(bucket, last));
      setNumber(bucket, i, number(bucket, last));
    }
    set(bucket, last, 0);
    setNumber(bucket, last, 0);
  }

  private void set(int bucket, int i, long slot) {
    layout.set(body, bucket, i, slot);
  }

  /** The number of a slot's epoch; 0 if keys do not expire. */
  private int number(int bucket, int i) {
    return epochs == null ? 0 : layout.number(body, bucket, i);
  }

  private void setNumber(int bucket, int i, int number) {
    if (epochs != null) {
      layout.setNumber(body, bucket, i, number);
    }
  }

  private byte[] numbers() {
    byte[] numbers = new byte[slots()];
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int from = layout.numbersFrom(bucket);
      EpochNumbers.getAll(body, from, layout.width, numbers, bucket * layout.width);
    }
    return numbers;
  }

  private void setNumbers(byte[] numbers) {
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int from = layout.numbersFrom(bucket);
      EpochNumbers.setAll(body, from, layout.width, numbers, bucket * layout.width);
    }
  }

  private long slotOf(long identity) {
    return layout.slotOf(identity);
  }

  /** The first free slot of a bucket, or -1 if it is full. */
  private int firstFree(int bucket) {
    return indexOf(bucket, 0);
  }

  /** The first place of a bucket that holds the slot, or -1. */
  private int indexOf(int bucket, long slot) {
    return layout.indexOf(body, bucket, slot);
  }
}
