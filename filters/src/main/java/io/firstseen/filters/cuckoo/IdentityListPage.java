package io.firstseen.filters.cuckoo;

import java.util.Arrays;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The page of a small filter: its identities in ascending order, each in the form of {@link
 * BucketPairs#lower} so that the formula for the false-positive rate is the same as for buckets.
 */
final class IdentityListPage extends CuckooPage {
  /** A list of this many identities becomes a table of buckets at the next insertion. */
  static final int MAX_COUNT = 512;

  /** Bits of the number of an epoch, below its identity. */
  static final int NUMBER_BITS = 4;

  private static final int COUNT_STEP = 32;

  IdentityListPage(CuckooShape shape, @Nullable Epochs epochs) {
    this(shape, 0, new byte[BitFields.SPARE_BYTES], epochs);
  }

  IdentityListPage(CuckooShape shape, int count, byte[] body, @Nullable Epochs epochs) {
    super(shape, 0, 0, count, body, epochs);
  }

  static int bodyBytes(CuckooShape shape, int count, boolean withEpochs) {
    int bits = shape.identityBits() + (withEpochs ? NUMBER_BITS : 0);
    return (count * bits + Byte.SIZE - 1) / Byte.SIZE;
  }

  private int bodyBytes(int ofCount) {
    return bodyBytes(shape, ofCount, hasEpochs());
  }

  @Override
  public int slots() {
    return count;
  }

  @Override
  public int bodyBytes() {
    return bodyBytes(count);
  }

  @Override
  int objectBytes() {
    return 40;
  }

  @Override
  CuckooPage sharingBody() {
    return new IdentityListPage(shape, count, body, epochs);
  }

  @Override
  CuckooPage writableCopy() {
    return new IdentityListPage(shape, count, body.clone(), epochs);
  }

  @Override
  boolean contains(long identity) {
    long lower = BucketPairs.lower(identity);
    int at = firstNotBelow(lower);
    return at < count && identity(at) == lower;
  }

  @Override
  public long touch(long identity) {
    return body[0];
  }

  @Override
  int copies(long identity) {
    long lower = BucketPairs.lower(identity);
    int from = firstNotBelow(lower);
    int to = from;
    while (to < count && identity(to) == lower) {
      to++;
    }
    return to - from;
  }

  @Override
  void textTags(long identity, int tagBits, IntConsumer found) {
    long lower = BucketPairs.lower(identity);
    for (int i = 0; i < count; i++) {
      textTag(identity(i), lower, tagBits, found);
    }
  }

  @Override
  boolean canAddPending(@Nullable Expiry expiry) {
    return false;
  }

  @Override
  boolean insert(long identity, int number, PathSearch search) {
    if (count == MAX_COUNT) {
      return false;
    }
    unshareBody();
    if (bodyBytes(count + 1) + BitFields.SPARE_BYTES > body.length) {
      body = Arrays.copyOf(body, bodyBytes(count + COUNT_STEP) + BitFields.SPARE_BYTES);
    }
    long lower = BucketPairs.lower(identity);
    int at = firstNotBelow(lower);
    for (int i = count; i > at; i--) {
      set(i, identity(i - 1), number(i - 1));
    }
    set(at, lower, number);
    count++;
    return true;
  }

  @Override
  boolean remove(long identity) {
    int at = find(identity);
    if (at < 0) {
      return false;
    }
    unshareBody();
    count--;
    for (int i = at; i < count; i++) {
      set(i, identity(i + 1), number(i + 1));
    }
    set(count, 0, 0);
    return true;
  }

  /** Returns the place of an identity, of several copies the oldest, or -1. */
  private int find(long identity) {
    long lower = BucketPairs.lower(identity);
    int found = -1;
    for (int i = firstNotBelow(lower); i < count && identity(i) == lower; i++) {
      if (found < 0 || (hasEpochs() && end(i) < end(found))) {
        found = i;
      }
    }
    return found;
  }

  @Override
  void renumber(int from, int to) {
    for (int i = 0; i < count; i++) {
      if (number(i) == from) {
        set(i, identity(i), to);
      }
    }
  }

  @Override
  @Nullable CuckooPage renew(long identity, Expiry expiry) {
    int at = find(identity);
    if (end(at) >= expiry.endMillis()) {
      return null;
    }
    if (isFrozen()) {
      return writableCopy().renew(identity, expiry);
    }
    int number = number(expiry);
    unshareBody();
    set(at, identity(at), number);
    return this;
  }

  @Override
  CuckooPage expire(Expiry expiry, PathSearch search) {
    int due = epochs.endedBy(expiry.dueMillis());
    unshareBody();
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if ((due >>> number(i) & 1) == 0) {
        set(kept, identity(i), number(i));
        kept++;
      }
    }
    for (int i = kept; i < count; i++) {
      set(i, 0, 0);
    }
    count = kept;
    epochs = epochs.without(due);
    return this;
  }

  @Override
  public void verify() throws MalformedFilterException {
    for (int i = 0; i < count; i++) {
      long identity = identity(i);
      if (BucketPairs.core(identity) == 0
          || BucketPairs.lower(identity) != identity
          || (i > 0 && identity(i - 1) > identity)) {
        throw new MalformedFilterException("identity " + i + " of the list is not well formed");
      }
      if (hasEpochs() && end(i) == Epochs.UNUSED) {
        throw new MalformedFilterException("identity " + i + " of the list has no epoch");
      }
    }
    for (int bit = count * fieldBits(); bit < bodyBytes() * Byte.SIZE; bit++) {
      if (BitFields.get(body, bit, 1) != 0) {
        throw new MalformedFilterException("the bits behind the last identity must be 0");
      }
    }
  }

  private int numberBits() {
    return epochs == null ? 0 : NUMBER_BITS;
  }

  private int fieldBits() {
    return shape.identityBits() + numberBits();
  }

  long identity(int i) {
    return BitFields.get(body, i * fieldBits() + numberBits(), shape.identityBits());
  }

  int number(int i) {
    return (int) BitFields.get(body, i * fieldBits(), numberBits());
  }

  private long end(int i) {
    return epochs.end(number(i));
  }

  private void set(int i, long identity, int number) {
    int bit = i * fieldBits();
    if (epochs != null) {
      BitFields.set(body, bit, NUMBER_BITS, number);
    }
    BitFields.set(body, bit + numberBits(), shape.identityBits(), identity);
  }

  private int firstNotBelow(long identity) {
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (identity(middle) < identity) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
