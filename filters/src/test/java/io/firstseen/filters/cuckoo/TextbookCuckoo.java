package io.firstseen.filters.cuckoo;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;

/**
 * A textbook cuckoo filter with 4 slots per bucket and random kicks, over identities of P bits; a
 * full table doubles by one stored bit. It can be configured with defects of other implementations,
 * so that the tests can show that they detect them.
 */
final class TextbookCuckoo implements GrowingFilter {
  enum Defect {
    NONE,
    /** A failed insertion forgets the slot that it has in hand. */
    VICTIM_DROPPED,
    /** The alternate bucket depends on bits that a split uses up. */
    ALTERNATE_FROM_WHOLE_IDENTITY,
    /** An insertion of a present key claims to be stored but is not. */
    SET_SEMANTICS,
    /** Keys that were turned away as present are deleted some time later. */
    SUPPRESSED_DELETED,
    /** A split forgets the first slot. */
    REPACKING_LOSES_ONE,
    /** A slot of all zero bits is stored although 0 marks a free one. */
    FINGERPRINT_LIKE_EMPTY,
    /** The core is made of the bits of the bucket. */
    OVERLAPPING_BITS,
    /** A small table can give a slot the same bucket twice. */
    SAME_BUCKETS,
    /** An identity is stretched from 32 bits. */
    THIRTY_TWO_BITS,
    /** Copies of an identity are stored without end. */
    UNBOUNDED_COPIES,
    /** The predicted rate of a full table, as in Fan et al. 2014, section 5.1. */
    RATE_OF_A_FULL_TABLE,
    /** The generator of the kicks outlives the filter, and is in no copy of it. */
    RANDOMNESS_OUTSIDE_THE_STATE
  }

  private static final int CORE_BITS = 8;
  private static final int MAX_KICKS = 500;
  private static final int MAX_COPIES = 8;
  private static final int MAX_SUPPRESSED = 100;
  private static final SplittableRandom OUTSIDE = new SplittableRandom(1);

  private final int identityBits;
  private final int bucketBits;
  private final Defect defect;
  private final Queue<Long> suppressed = new ArrayDeque<>();
  private int depth;
  private int width = 4;
  private long count;
  private long[] table;

  TextbookCuckoo(int identityBits, int bucketBits, Defect defect) {
    this.identityBits = identityBits;
    this.bucketBits = bucketBits;
    this.defect = defect;
    this.table = new long[width << bucketBits];
  }

  @Override
  public InsertionResult insert(long hash) {
    long identity = identity(hash);
    if (defect == Defect.SET_SEMANTICS && copies(identity) > 0) {
      count++;
      return InsertionResult.STORED;
    }
    if (defect != Defect.UNBOUNDED_COPIES && copies(identity) >= MAX_COPIES) {
      return InsertionResult.SATURATED;
    }
    while (!place(index(identity), rest(identity))) {
      grow();
    }
    count++;
    return InsertionResult.STORED;
  }

  @Override
  public InsertionResult insertIfAbsent(long hash) {
    if (!mightContain(hash)) {
      return insert(hash);
    }
    if (defect == Defect.SUPPRESSED_DELETED) {
      suppressed.add(identity(hash));
      if (suppressed.size() > MAX_SUPPRESSED) {
        remove(suppressed.remove());
      }
    }
    return InsertionResult.PRESENT;
  }

  @Override
  public boolean mightContain(long hash) {
    return copies(identity(hash)) > 0;
  }

  @Override
  public boolean delete(long hash) {
    boolean removed = remove(identity(hash));
    count -= removed ? 1 : 0;
    return removed;
  }

  @Override
  public long count() {
    return count;
  }

  @Override
  public long slots() {
    return table.length;
  }

  @Override
  public double predictedFalsePositiveRate() {
    if (defect == Defect.RATE_OF_A_FULL_TABLE) {
      return 1 - Math.pow(1 - Math.scalb(1.0, -restBits()), 2 * width);
    }
    return -Math.expm1(-2.0 * count * (258.0 / 256.0) * Math.scalb(1.0, -identityBits));
  }

  @Override
  public GrowingFilter copy() {
    return read(toBytes());
  }

  @Override
  public byte[] toBytes() {
    ByteBuffer bytes = ByteBuffer.allocate(16 + Long.BYTES * table.length);
    bytes.putInt(depth).putInt(width).putLong(count).asLongBuffer().put(table);
    return bytes.array();
  }

  @Override
  public GrowingFilter read(byte[] bytes) {
    TextbookCuckoo read = new TextbookCuckoo(identityBits, bucketBits, defect);
    ByteBuffer in = ByteBuffer.wrap(bytes);
    read.depth = in.getInt();
    read.width = in.getInt();
    read.count = in.getLong();
    read.table = new long[in.remaining() / Long.BYTES];
    in.asLongBuffer().get(read.table);
    read.suppressed.addAll(suppressed);
    return read;
  }

  @Override
  public boolean isAllZero() {
    return count == 0 && Arrays.stream(table).allMatch(slot -> slot == 0);
  }

  private long identity(long hash) {
    long identity = hash >>> (Long.SIZE - identityBits);
    if (defect == Defect.THIRTY_TWO_BITS) {
      identity = ((int) identity * 0x9e3779b97f4a7c15L) >>> (Long.SIZE - identityBits);
    }
    long coreMask = ((1L << CORE_BITS) - 1) << bucketBits;
    if (defect == Defect.OVERLAPPING_BITS) {
      identity = (identity & ~coreMask) | ((identity << bucketBits) & coreMask);
    }
    return defect != Defect.FINGERPRINT_LIKE_EMPTY && (identity & coreMask) == 0
        ? identity | 1L << bucketBits
        : identity;
  }

  private int restBits() {
    return identityBits - bucketBits - depth;
  }

  private long rest(long identity) {
    return (identity >>> bucketBits) & ((1L << restBits()) - 1);
  }

  private int index(long identity) {
    int bucket = (int) identity & ((1 << bucketBits) - 1);
    return (int) (identity >>> (identityBits - depth)) << bucketBits | bucket;
  }

  private int alternate(int index, long rest) {
    long from =
        defect == Defect.ALTERNATE_FROM_WHOLE_IDENTITY ? rest : rest & ((1 << CORE_BITS) - 1);
    int step = (int) ((from * 0x9e3779b97f4a7c15L) >>> (Long.SIZE - bucketBits));
    return index ^ (defect == Defect.SAME_BUCKETS ? step : step | 1);
  }

  private int copies(long identity) {
    int index = index(identity);
    long rest = rest(identity);
    int alternate = alternate(index, rest);
    int copies = 0;
    for (int i = 0; i < width; i++) {
      copies += table[index * width + i] == rest ? 1 : 0;
      copies += index != alternate && table[alternate * width + i] == rest ? 1 : 0;
    }
    return copies;
  }

  private boolean remove(long identity) {
    int index = index(identity);
    long rest = rest(identity);
    return replace(index, rest, 0) || replace(alternate(index, rest), rest, 0);
  }

  private boolean replace(int index, long old, long by) {
    for (int slot = index * width; slot < (index + 1) * width; slot++) {
      if (table[slot] == old) {
        table[slot] = by;
        return true;
      }
    }
    return false;
  }

  private boolean place(int index, long rest) {
    if (replace(index, 0, rest) || replace(alternate(index, rest), 0, rest)) {
      return true;
    }
    SplittableRandom kicks =
        defect == Defect.RANDOMNESS_OUTSIDE_THE_STATE
            ? OUTSIDE
            : new SplittableRandom(31 * rest + index);
    List<Integer> path = new ArrayList<>();
    long hand = rest;
    int at = index;
    for (int kick = 0; kick < MAX_KICKS; kick++) {
      int slot = at * width + kicks.nextInt(width);
      path.add(slot);
      hand = swap(slot, hand);
      at = alternate(at, hand);
      if (replace(at, 0, hand)) {
        return true;
      }
    }
    if (defect == Defect.VICTIM_DROPPED) {
      grow();
      return true;
    }
    for (int i = path.size() - 1; i >= 0; i--) {
      hand = swap(path.get(i), hand);
    }
    return false;
  }

  private long swap(int slot, long hand) {
    long taken = table[slot];
    table[slot] = hand;
    return taken;
  }

  private void grow() {
    boolean split = depth < identityBits - CORE_BITS - bucketBits;
    int oldWidth = width;
    long[] old = table;
    int highBit = restBits() - 1;
    if (split) {
      depth++;
      table = new long[old.length * 2];
    } else {
      width++;
      table = new long[old.length / oldWidth * width];
    }
    boolean loses = defect == Defect.REPACKING_LOSES_ONE;
    for (int slot = 0; slot < old.length; slot++) {
      long rest = old[slot];
      if (rest == 0) {
        continue;
      }
      if (loses) {
        loses = false;
        continue;
      }
      int index = slot / oldWidth;
      if (split) {
        int bucket = index & ((1 << bucketBits) - 1);
        int prefix = index >>> bucketBits << 1 | (int) (rest >>> highBit);
        index = prefix << bucketBits | bucket;
        rest &= (1L << highBit) - 1;
      }
      replace(index, 0, rest);
    }
  }
}
