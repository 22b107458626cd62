package io.firstseen.filters.cuckoo;

import java.util.Arrays;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A page as a cuckoo hash table of 512 buckets of {@code width} slots.
 *
 * <p>A slot holds the bits of an identity (fingerprint) between the page's prefix and the bucket. A
 * free slot is 0, which no identity has, because its core is never 0. The used slots of a bucket
 * come before its free ones.
 */
final class BucketPage extends CuckooPage {
  static final int MIN_WIDTH = 2;

  /** A page of this width splits instead of widening, as long as it has a bit to split by. */
  static final int SPLIT_WIDTH = 8;

  /**
   * No page can grow beyond this width: with no tag bits left, a bucket has to hold at most 8
   * copies of each of 255 cores.
   */
  static final int MAX_WIDTH = MAX_COPIES * CuckooShape.CORE_MASK;

  private final BucketLayout layout;

  /** The identities that were inserted while the page was frozen. */
  PendingInsertions pending = PendingInsertions.NONE;

  BucketPage(CuckooShape shape, int depth, int prefix, int width, @Nullable Epochs epochs) {
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
      CuckooShape shape,
      int depth,
      int prefix,
      int width,
      int count,
      byte[] body,
      @Nullable Epochs epochs) {
    super(shape, depth, prefix, count, body, epochs);
    this.layout = BucketLayout.of(shape.slotBits(depth), width, epochs != null);
  }

  static int bodyBytes(CuckooShape shape, int depth, int width, boolean withEpochs) {
    int bucketBits = BucketLayout.bucketBits(shape.slotBits(depth), width, withEpochs);
    return CuckooShape.BUCKETS / Byte.SIZE * bucketBits;
  }

  int width() {
    return layout.width;
  }

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
    return 48 + pending.heapBytes();
  }

  @Override
  CuckooPage sharingBody() {
    BucketPage page = new BucketPage(shape, depth, prefix, layout.width, count, body, epochs);
    page.pending = pending.copy();
    return page;
  }

  @Override
  CuckooPage writableCopy() {
    BucketPage page =
        new BucketPage(shape, depth, prefix, layout.width, count, body.clone(), epochs);
    page.pending = pending;
    pending = PendingInsertions.NONE;
    return page;
  }

  @Override
  boolean contains(long identity) {
    return layout.contains(body, identity) || (hasPending() && pending.copies(identity) > 0);
  }

  /**
   * Returns the position in the body, in bits, at which a new identity can be written immediately;
   * {@link BucketLayout#HELD}, {@link BucketLayout#FULL} or {@link BucketLayout#UNDECIDED}.
   */
  int roomFor(long identity) {
    return isPlain() ? layout.room(body, identity) : BucketLayout.UNDECIDED;
  }

  /** Writes an identity at the position that {@link #roomFor} returned. */
  void insertAt(int room, long identity) {
    BitFields.flip(body, room, layout.slotOf(identity));
    count++;
  }

  /**
   * Moves slots so that an identity whose buckets are full has room.
   *
   * @return as {@link #roomFor}; {@link BucketLayout#FULL}, without a change, if no moves give room
   */
  int makeRoom(long identity, PathSearch search) {
    int bucket = BucketPairs.bucket(identity);
    int alternate = BucketPairs.alternate(bucket, BucketPairs.core(identity));
    int freed = search.makeRoom(this, bucket, alternate);
    return freed < 0 ? BucketLayout.FULL : layout.lastPlace(freed);
  }

  /**
   * Removes one copy of an identity if that is possible in a few steps. False, without a change, if
   * the identity is not held or needs {@link #remove}.
   */
  boolean removeInPlace(long identity) {
    if (!isPlain() || !layout.remove(body, identity)) {
      return false;
    }
    count--;
    return true;
  }

  /** Returns whether the body is the page's whole content and may be written to. */
  private boolean isPlain() {
    return epochs == null && isWritable() && !hasPending();
  }

  @Override
  public long touch(long identity) {
    int bucket = BucketPairs.bucket(identity);
    int alternate = BucketPairs.alternate(bucket, BucketPairs.core(identity));
    return touch(bucket) + touch(alternate) + pending.count();
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
    return copies + pending.copies(identity);
  }

  @Override
  void textTags(long identity, int tagBits, IntConsumer found) {
    int bucket = BucketPairs.bucket(identity);
    long slot = slotOf(identity);
    int alternate = BucketPairs.alternate(bucket, (int) slot & CuckooShape.CORE_MASK);
    long wanted = slot << CuckooShape.BUCKET_BITS;
    long tag = BitFields.mask(tagBits) << CuckooShape.CORE_BITS;
    int slots = layout.containsSimilar(body, identity, tag) ? layout.width : 0;
    for (int i = 0; i < slots; i++) {
      textTag(get(bucket, i) << CuckooShape.BUCKET_BITS, wanted, tagBits, found);
      textTag(get(alternate, i) << CuckooShape.BUCKET_BITS, wanted, tagBits, found);
    }
    pending.textTags(identity, tagBits, found);
  }

  @Override
  public boolean hasPending() {
    return pending.count() > 0;
  }

  @Override
  public int count() {
    return count + pending.count();
  }

  @Override
  boolean canAddPending(@Nullable Expiry expiry) {
    return !pending.isFull() && (expiry == null || epochs.numberOf(expiry.endMillis()) >= 0);
  }

  @Override
  boolean insert(long identity, int number, PathSearch search) {
    if (isFrozen()) {
      addPending(identity, number);
      return true;
    }
    if (!insertPending(search) || !place(identity, number, search)) {
      return false;
    }
    count++;
    return true;
  }

  void addPending(long identity, int number) {
    addPending(identity, number, PendingInsertions.MAX);
  }

  private void addPending(long identity, int number, int max) {
    if (pending == PendingInsertions.NONE) {
      pending = PendingInsertions.empty(max);
    }
    pending.add(identity, number);
  }

  /** Adds an insertion of a log to the pending insertions; see {@link #canDefer}. */
  void defer(long identity) {
    addPending(identity, 0, PendingInsertions.MAX_LOGGED);
  }

  @Override
  public boolean canDefer() {
    return deferrable() > 0;
  }

  @Override
  int deferrable() {
    int room = Repacking.sureCount(layout.width) - count();
    int pendingRoom = PendingInsertions.MAX_LOGGED - pending.count();
    return epochs == null ? Math.max(0, Math.min(room, pendingRoom)) : 0;
  }

  void forEachIdentity(LongConsumer action) {
    long first = firstIdentity();
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      for (int i = 0; i < layout.width; i++) {
        long slot = get(bucket, i);
        if (slot == 0) {
          break;
        }
        action.accept(first | slot << CuckooShape.BUCKET_BITS | bucket);
      }
    }
    for (int i = 0; i < pending.count(); i++) {
      action.accept(pending.identity(i));
    }
  }

  @Override
  boolean insertPending(PathSearch search) {
    int placed = 0;
    while (placed < pending.count()
        && place(pending.identity(placed), pending.number(placed), search)) {
      placed++;
    }
    if (placed > 0) {
      pending.removeFirst(placed);
      count += placed;
      if (!hasPending()) {
        pending = PendingInsertions.NONE;
      }
    }
    return !hasPending();
  }

  /** Writes an identity into one of its buckets, or returns false; does not count it. */
  boolean place(long identity, int number, PathSearch search) {
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
      free = layout.width - 1;
    }
    unshareBody();
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
    unshareBody();
    removeAt(bucketAt(at), slotAt(at));
    count--;
    return true;
  }

  /** Returns the place of an identity in the table, of several copies the oldest, or -1. */
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
  @Nullable CuckooPage renew(long identity, Expiry expiry) {
    long end = expiry.endMillis();
    long at = find(identity);
    int inPending = pending.oldest(identity, epochs);
    boolean pendingIsOlder =
        inPending >= 0 && (at < 0 || epochs.end(pending.number(inPending)) < end(at));
    long oldest = pendingIsOlder ? epochs.end(pending.number(inPending)) : end(at);
    if (oldest >= end) {
      return null;
    }
    if (isFrozen()) {
      return writableCopy().renew(identity, expiry);
    }
    int number = number(expiry);
    if (pendingIsOlder) {
      pending.setNumber(inPending, number);
    } else {
      unshareBody();
      setNumber(bucketAt(at), slotAt(at), number);
    }
    return this;
  }

  @Override
  void renumber(int from, int to) {
    byte[] numbers = numbers();
    for (int at = 0; at < numbers.length; at++) {
      // A free slot's number is 0 and must stay 0.
      if (numbers[at] == from && get(at / layout.width, at % layout.width) != 0) {
        numbers[at] = (byte) to;
      }
    }
    setNumbers(numbers);
    pending.renumber(from, to);
  }

  @Override
  CuckooPage expire(Expiry expiry, PathSearch search) {
    int due = epochs.endedBy(expiry.dueMillis());
    unshareBody();
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
    pending.removeEnded(due);
    epochs = epochs.without(due);
    return Repacking.narrowed(this, search);
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
    removeAt(from, i);
  }

  /** Removes a slot from a bucket and closes the gap. */
  private void removeAt(int bucket, int i) {
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

  void set(int bucket, int i, long slot) {
    layout.set(body, bucket, i, slot);
  }

  /** Returns the number of a slot's epoch; 0 if keys do not expire. */
  private int number(int bucket, int i) {
    return epochs == null ? 0 : layout.number(body, bucket, i);
  }

  private void setNumber(int bucket, int i, int number) {
    if (epochs != null) {
      layout.setNumber(body, bucket, i, number);
    }
  }

  byte[] numbers() {
    byte[] numbers = new byte[slots()];
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int from = layout.numbersFrom(bucket);
      EpochNumbers.getAll(body, from, layout.width, numbers, bucket * layout.width);
    }
    return numbers;
  }

  void setNumbers(byte[] numbers) {
    for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
      int from = layout.numbersFrom(bucket);
      EpochNumbers.setAll(body, from, layout.width, numbers, bucket * layout.width);
    }
  }

  private long slotOf(long identity) {
    return layout.slotOf(identity);
  }

  /** Returns the first free slot of a bucket, or -1 if it is full. */
  private int firstFree(int bucket) {
    return indexOf(bucket, 0);
  }

  /** Returns the first place of a bucket that holds the slot, or -1. */
  private int indexOf(int bucket, long slot) {
    return layout.indexOf(body, bucket, slot);
  }
}
