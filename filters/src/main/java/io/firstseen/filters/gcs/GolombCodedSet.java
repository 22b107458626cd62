package io.firstseen.filters.gcs;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;

/**
 * An immutable set of distinct unsigned integers below 2^valueBits in at most about
 * log2(2^valueBits / count) + 1.5 bits each, plus the bucket starts, 0.3 bits. One set has one
 * form: equal sets of equal {@code valueBits} have equal bytes.
 *
 * <p>The values are cut into buckets of 38 or 42 in the mean, equal ranges of value. In a bucket
 * the first value is coded as its distance from the range's lower bound, each further one as its
 * distance from the one before, less one, in a Golomb code. Each code is in two parts that stand at
 * both ends of the bucket, those of known length and those of unknown length, so that a processor
 * can read many at once. A section of its own says where each bucket begins, so that a query
 * decodes half a bucket. See Putze, Sanders and Singler, Cache-, Hash- and Space-Efficient Bloom
 * Filters, 2007, section 4; {@code docs/format/snapshot-v1.md} has the bytes.
 *
 * <p>Queries allocate nothing, and work on memory-mapped files. Safe for use by many threads.
 */
public final class GolombCodedSet {
  /** The number of values that are decoded in one go. */
  static final int BLOCK = 512;

  /** Fields of up to as many bits are read by one load, and sums of codes do not overflow. */
  static final int MAX_FAST_FIELD_BITS = 50;

  // Shifts by a quotient and two more bits are then below 64.
  private static final int MAX_PREFIX_WINDOW_BITS = 61;

  private final long count;
  private final int valueBits;
  private final long bucketCount;
  private final BucketRanges ranges;
  private final GolombCode code;
  private final long payloadBits;
  private final ByteBuffer bucketStarts;
  private final ByteBuffer payload;
  private final BucketStarts starts;
  private final BitReader codes;
  // The parts of the code that a query needs.
  private final long parameter;
  private final int fieldBits;
  private final long cutoff;
  private final int fieldsInWindow;
  // The mean length of a bucket.
  private final long bucketBits;

  private GolombCodedSet(
      long count,
      int valueBits,
      GolombCode code,
      long payloadBits,
      BucketStarts starts,
      ByteBuffer bucketStarts,
      ByteBuffer payload) {
    this.count = count;
    this.valueBits = valueBits;
    this.bucketCount = code.bucketCount(count);
    this.ranges = new BucketRanges(bucketCount, valueBits);
    this.code = code;
    this.payloadBits = payloadBits;
    this.starts = starts;
    this.bucketStarts = bucketStarts;
    this.payload = payload.slice().asReadOnlyBuffer();
    this.codes = new BitReader(this.payload);
    this.parameter = code.parameter();
    this.fieldBits = code.fieldBits();
    this.cutoff = code.cutoff();
    this.bucketBits = payloadBits / Math.max(1, bucketCount);
    this.fieldsInWindow = BitReader.WINDOW_BITS / Math.max(1, fieldBits);
  }

  /**
   * Encodes a set.
   *
   * @param sortedDistinctValues ascending as unsigned numbers, without repeats, each below 2^{@code
   *     valueBits}; not kept
   * @param valueBits 1 to 64
   * @throws IllegalArgumentException if a value is out of order, repeated or out of range
   */
  public static GolombCodedSet of(long[] sortedDistinctValues, int valueBits) {
    GolombCodedSetWriter writer = new GolombCodedSetWriter(sortedDistinctValues.length, valueBits);
    for (long value : sortedDistinctValues) {
      writer.add(value);
    }
    return writer.toSet();
  }

  /**
   * Encodes the first bits of hashes, with the help of {@link ForkJoinPool#commonPool} if they are
   * many.
   *
   * @param hashes in any order, repeats allowed; not changed. What is sorted is not sorted again.
   * @param valueBits 1 to 64: how many of a hash's top bits are its value
   */
  public static GolombCodedSet ofHashes(long[] hashes, int valueBits) {
    requireValueBits(valueBits);
    return ofSortedHashes(UnsignedSort.parallelSorted(hashes), 0, valueBits);
  }

  /**
   * Encodes some bits of hashes, with the help of {@link ForkJoinPool#commonPool} if they are many.
   *
   * @param hashes in ascending unsigned order, repeats allowed; not kept
   * @param skippedBits how many of a hash's top bits come before its value, the same in all of them
   * @param valueBits how many bits after those are its value
   */
  public static GolombCodedSet ofSortedHashes(long[] hashes, int skippedBits, int valueBits) {
    requireValueBits(valueBits);
    if (skippedBits < 0 || skippedBits + valueBits > Long.SIZE) {
      throw new IllegalArgumentException(
          "skippedBits must be in [0, " + (Long.SIZE - valueBits) + "], got " + skippedBits);
    }
    return new SortedHashes(hashes, skippedBits, valueBits)
        .encode(UnsignedSort.partsOf(hashes.length));
  }

  /**
   * Opens a set over its sections, from the position to the limit of each buffer, without copying
   * them: they must not change any more. Takes time in proportion to the number of buckets, no
   * memory, and checks everything but the codes themselves, which {@link #verify} does; until then
   * answers over forged sections may be wrong, but they end and stay in bounds.
   *
   * @throws IllegalArgumentException if {@code valueBits} is not in 1 to 64
   * @throws MalformedGolombCodedSetException if these cannot be the sections of such a set
   */
  public static GolombCodedSet wrap(
      long count, int valueBits, long payloadBits, ByteBuffer bucketStarts, ByteBuffer payload)
      throws MalformedGolombCodedSetException {
    requireValueBits(valueBits);
    if (count < 0 || (valueBits < 63 && count > 1L << valueBits)) {
      throw new MalformedGolombCodedSetException(
          "count must be in [0, 2^" + valueBits + "], got " + count);
    }
    requirePayload(payload, payloadBits);
    GolombCode code = new GolombCode(GolombCode.parameterFor(count, valueBits));
    int minBits = code.minBits();
    if (count > payloadBits / minBits) {
      throw new MalformedGolombCodedSetException(
          String.format(
              "count must be at most %d, since a value takes at least %d of the payload's %d bits,"
                  + " got %d",
              payloadBits / minBits, minBits, payloadBits, count));
    }
    if (count == 0 && payloadBits != 0) {
      throw new MalformedGolombCodedSetException(
          "the payload of an empty set must have 0 bits, got " + payloadBits);
    }
    ByteBuffer section = bucketStarts.slice().asReadOnlyBuffer();
    BucketStarts starts = BucketStarts.open(code.bucketCount(count), payloadBits, section);
    return new GolombCodedSet(count, valueBits, code, payloadBits, starts, section, payload);
  }

  /** The set over sections that this process has just written. */
  static GolombCodedSet written(
      long count,
      int valueBits,
      GolombCode code,
      long payloadBits,
      byte[] bucketStarts,
      byte[] payload) {
    ByteBuffer section = ByteBuffer.wrap(bucketStarts).asReadOnlyBuffer();
    BucketStarts starts = BucketStarts.trusted(code.bucketCount(count), payloadBits, section);
    return new GolombCodedSet(
        count, valueBits, code, payloadBits, starts, section, ByteBuffer.wrap(payload));
  }

  /** The number of values. */
  public long count() {
    return count;
  }

  /** The exponent of the universe: every value is below 2^valueBits. */
  public int valueBits() {
    return valueBits;
  }

  /** The parameter m of the Golomb code, unsigned: max(1, round(2^valueBits / count · ln 2)). */
  public long golombParameter() {
    return code.parameter();
  }

  /** The number of buckets: ceil(count / 38) if the Golomb parameter is below 2048, else / 42. */
  public long bucketCount() {
    return bucketCount;
  }

  /** The length of the codes, without the zero bits that fill the last byte. */
  public long payloadBits() {
    return payloadBits;
  }

  /** The codes, as a read-only view. */
  public ByteBuffer payload() {
    return payload.duplicate();
  }

  /** The section that says where in the payload each bucket begins, as a read-only view. */
  public ByteBuffer bucketStarts() {
    return bucketStarts.duplicate();
  }

  /**
   * Whether the set holds a value.
   *
   * @throws IllegalArgumentException if the value is not below 2^valueBits
   */
  public boolean mightContain(long value) {
    if (!inUniverse(value, valueBits)) {
      throw outOfUniverse(value, valueBits);
    }
    if (count == 0) {
      return false;
    }
    long bucket = ranges.bucketOf(value);
    long start;
    long end;
    if (bucketCount == 1) {
      start = 0;
      end = payloadBits;
    } else {
      long group = bucket >>> BucketStarts.GROUP_BITS;
      int member = (int) bucket & (BucketStarts.GROUP - 1);
      long from = starts.groupAt(group);
      long span = starts.groupAt(group + 1) - from;
      start = starts.memberAt(group, member, from, span);
      end = starts.memberAt(group, member + 1, from, span);
    }
    long distance = value - ranges.lowerBound(bucket);
    return (fieldBits >= 1 && fieldBits <= MAX_FAST_FIELD_BITS)
        ? holds(distance, start, end)
        : holdsOfAnyWidth(distance, -1, start, end);
  }

  /**
   * Whether the set holds each of some values. Their waits for memory overlap, so that it takes
   * much less time than one query after the other where the set is larger than the processor's
   * cache.
   *
   * @param values each below 2^valueBits, in any order, repeats allowed
   * @param from the index to begin at
   * @param to the index to end before
   * @param found gets the answers, at the indices of the values
   * @throws IllegalArgumentException if a value is not below 2^valueBits
   */
  public void mightContainEach(long[] values, int from, int to, boolean[] found) {
    long[] positions = QueryBatch.positions();
    for (int begin = from; begin < to; begin += QueryBatch.QUERIES) {
      int end = Math.min(to, begin + QueryBatch.QUERIES);
      for (int i = begin; i < end; i++) {
        positions[i - begin] = position(values[i]);
      }
      long touched = 0;
      for (int i = begin; i < end; i++) {
        touched |= touch(positions[i - begin]);
      }
      for (int i = begin; i < end; i++) {
        // Never negative; but the compiler must not leave the touching out.
        found[i] = mightContain(values[i]) || touched < 0;
      }
    }
  }

  /** Where the codes begin that a query for a value will read, for {@link #touch}. */
  public long position(long value) {
    return count == 0 || !inUniverse(value, valueBits) ? 0 : starts.at(ranges.bucketOf(value));
  }

  /**
   * Reads codes at a {@link #position}, only to have them in the processor's cache: see {@link
   * QueryBatch}.
   *
   * @return a number of no meaning, at least 0, for the caller to use, lest the compiler leave out
   *     the reading
   */
  public long touch(long position) {
    return count == 0 ? 0 : codes.touch(position) + codes.touch(position + bucketBits);
  }

  /**
   * Whether any of some values is in the set, in one pass over the buckets that they fall into.
   * Over sections that {@link #verify} would refuse, it may throw {@link UncheckedIOException}.
   *
   * @param ascendingValues in ascending unsigned order, each below 2^valueBits
   * @throws IllegalArgumentException if they are out of order or range
   */
  public boolean matchAny(long[] ascendingValues) {
    return nextMatch(ascendingValues, 0) >= 0;
  }

  /**
   * The index of the first of some values that is in the set. All matches are found by asking again
   * from the one after. Over sections that {@link #verify} would refuse, it may throw {@link
   * UncheckedIOException}.
   *
   * @param ascendingValues in ascending unsigned order, each below 2^valueBits
   * @param from the index to begin at, in [0, ascendingValues.length]
   * @return the index, or -1 if there is none
   * @throws IllegalArgumentException if the values looked at are out of order or range
   */
  public int nextMatch(long[] ascendingValues, int from) {
    ValueCursor cursor = new ValueCursor(this);
    for (int i = from; i < ascendingValues.length; i++) {
      requireNextQuery(ascendingValues, i, from);
      try {
        if (count > 0 && cursor.seek(ascendingValues[i])) {
          return i;
        }
      } catch (MalformedGolombCodedSetException e) {
        throw new UncheckedIOException(e);
      }
    }
    return -1;
  }

  /**
   * The values in ascending unsigned order, decoded as they are asked for. Over sections that
   * {@link #verify} would refuse, the iterator throws {@link UncheckedIOException}.
   */
  public PrimitiveIterator.OfLong iterator() {
    return new Values(new ValueCursor(this));
  }

  /** Decodes the values in ascending unsigned order, in blocks. */
  public ValueCursor cursor() {
    return new ValueCursor(this);
  }

  /**
   * The values in ascending unsigned order.
   *
   * @throws IllegalStateException if there are more than an array can hold
   */
  public long[] toArray() {
    if (count > BitWriter.MAX_BYTES) {
      throw new IllegalStateException(
          "count must be at most " + BitWriter.MAX_BYTES + " for an array, is " + count);
    }
    long[] values = new long[(int) count];
    try {
      int read = new ValueCursor(this).read(values);
      if (read != values.length) {
        throw new MalformedGolombCodedSetException(
            "the payload must hold " + count + " values, got " + read);
      }
    } catch (MalformedGolombCodedSetException e) {
      throw new UncheckedIOException(e);
    }
    return values;
  }

  /**
   * The values that are in this set or another.
   *
   * @throws IllegalArgumentException if the other set's values have another number of bits
   */
  public GolombCodedSet union(GolombCodedSet other) {
    requireSameUniverse(other);
    return encode(valueBits, () -> MergedValues.union(iterator(), other.iterator()));
  }

  /**
   * The values that are in this set and not in another.
   *
   * @throws IllegalArgumentException if the other set's values have another number of bits
   */
  public GolombCodedSet difference(GolombCodedSet other) {
    requireSameUniverse(other);
    return encode(valueBits, () -> MergedValues.difference(iterator(), other.iterator()));
  }

  /**
   * The first bits of the values.
   *
   * @param coarserBits how many, 1 to {@link #valueBits}
   */
  public GolombCodedSet coarsen(int coarserBits) {
    if (coarserBits < 1 || coarserBits > valueBits) {
      throw new IllegalArgumentException(
          "coarserBits must be in [1, " + valueBits + "], got " + coarserBits);
    }
    return coarserBits == valueBits
        ? this
        : encode(coarserBits, () -> MergedValues.coarsened(iterator(), valueBits - coarserBits));
  }

  /**
   * Decodes everything and proves that the sections are the canonical form of {@link #count}
   * distinct values.
   *
   * @throws MalformedGolombCodedSetException if they are not
   */
  public void verify() throws MalformedGolombCodedSetException {
    ValueCursor cursor = new ValueCursor(this);
    long[] values = new long[BLOCK];
    while (cursor.read(values) == values.length) {
      // The cursor checks as it goes.
    }
  }

  GolombCode code() {
    return code;
  }

  BitReader codes() {
    return codes;
  }

  BucketRanges ranges() {
    return ranges;
  }

  /** Where a bucket's codes begin; for the bucket after the last, where they end. */
  long start(long bucket) {
    return starts.at(bucket);
  }

  static void requireValueBits(int valueBits) {
    if (valueBits < 1 || valueBits > 64) {
      throw new IllegalArgumentException("valueBits must be in [1, 64], got " + valueBits);
    }
  }

  static boolean inUniverse(long value, int valueBits) {
    return valueBits == 64 || value >>> valueBits == 0;
  }

  static IllegalArgumentException outOfUniverse(long value, int valueBits) {
    return new IllegalArgumentException(
        "value must be below 2^" + valueBits + ", got " + Long.toUnsignedString(value));
  }

  /** Encodes values that are decoded twice, since their number must be known first. */
  private static GolombCodedSet encode(int valueBits, Supplier<PrimitiveIterator.OfLong> values) {
    long count = 0;
    for (PrimitiveIterator.OfLong counted = values.get(); counted.hasNext(); ) {
      counted.nextLong();
      count++;
    }
    GolombCodedSetWriter writer = new GolombCodedSetWriter(count, valueBits);
    for (PrimitiveIterator.OfLong encoded = values.get(); encoded.hasNext(); ) {
      writer.add(encoded.nextLong());
    }
    return writer.toSet();
  }

  private void requireSameUniverse(GolombCodedSet other) {
    if (other.valueBits != valueBits) {
      throw new IllegalArgumentException(
          "the other set's values must have " + valueBits + " bits, got " + other.valueBits);
    }
  }

  private void requireNextQuery(long[] values, int i, int from) {
    if (!inUniverse(values[i], valueBits)) {
      throw outOfUniverse(values[i], valueBits);
    }
    if (i > from && Long.compareUnsigned(values[i - 1], values[i]) > 0) {
      throw new IllegalArgumentException(
          String.format(
              "values must be ascending, got %s after %s at index %d",
              Long.toUnsignedString(values[i]), Long.toUnsignedString(values[i - 1]), i));
    }
  }

  /**
   * Whether a bucket holds a value. Only the prefixes have to be read one after the other.
   *
   * @param target the value's distance from the bucket's lower bound
   * @param start where the bucket's codes begin
   * @param end where they end
   */
  private boolean holds(long target, long start, long end) {
    long m = parameter;
    long greatestShort = cutoff - 1;
    int width = fieldBits;
    long fieldMask = (1L << width) - 1;
    long from = start;
    long to = end;
    long distance = -1;
    while (from < to) {
      // Inverted, so that a run of ones is a run of zeros, which is what processors count. A one
      // bit above all tells how many are left, and ends a run that is longer than the window.
      int bits = Math.min(MAX_PREFIX_WINDOW_BITS, BitReader.bitsBefore(to));
      long above = 1L << bits;
      long window = (~codes.windowBefore(to) & (above - 1)) | above;
      long begin = from;
      window:
      while (true) {
        long fields = codes.windowAt(from);
        for (int i = fieldsInWindow; i > 0; i--) {
          fields = Long.rotateLeft(fields, width);
          long field = fields & fieldMask;
          int quotient = Long.numberOfTrailingZeros(window);
          long rest = window >>> quotient >>> 1;
          // All ones if there is one more bit; without branches, as there is by chance.
          long over = greatestShort - field;
          long more = over >> 63;
          long next = rest >>> -more;
          if (next == 0) {
            break window;
          }
          distance += quotient * m + field - ((over + (rest & 1)) & more) + 1;
          window = next;
          from += width;
          if (distance >= target) {
            return distance == target && from <= to - bits + 63 - Long.numberOfLeadingZeros(window);
          }
        }
      }
      if (from == begin) {
        return holdsOfAnyWidth(target, distance, from, to);
      }
      to -= bits - 63 + Long.numberOfLeadingZeros(window);
    }
    return false;
  }

  /** The same for codes of any length, from a code in the middle of a bucket on. */
  private boolean holdsOfAnyWidth(long target, long before, long start, long end) {
    long from = start;
    long to = end;
    long distance = before;
    while (from < to) {
      long field = codes.bitsAt(from, fieldBits);
      from += fieldBits;
      long quotient = codes.onesBefore(to);
      to -= quotient + 1;
      distance += quotient * parameter + field + 1;
      if (code.hasMore(field)) {
        to--;
        distance += field - cutoff + (to < 0 ? 0 : codes.bitsAt(to, 1));
      }
      if (Long.compareUnsigned(distance, target) >= 0) {
        return distance == target && from <= to;
      }
    }
    return false;
  }

  private static void requirePayload(ByteBuffer payload, long bits)
      throws MalformedGolombCodedSetException {
    long bytes = (bits >>> 3) + ((bits & 7) == 0 ? 0 : 1);
    if (bits < 0 || payload.remaining() != bytes) {
      throw new MalformedGolombCodedSetException(
          "the payload must have " + bytes + " bytes, got " + payload.remaining());
    }
    int padding = (int) (-bits & 7);
    if (padding != 0 && (payload.get(payload.limit() - 1) & ((1 << padding) - 1)) != 0) {
      throw new MalformedGolombCodedSetException("the padding of the payload must be zero");
    }
  }

  /** Takes values from a cursor in blocks. */
  private static final class Values implements PrimitiveIterator.OfLong {
    private final ValueCursor cursor;
    private final long[] block = new long[BLOCK];
    private int filled;
    private int taken;

    Values(ValueCursor cursor) {
      this.cursor = cursor;
    }

    @Override
    public boolean hasNext() {
      if (taken < filled) {
        return true;
      }
      if (filled < block.length && cursor.decoded() > 0) {
        return false;
      }
      try {
        filled = cursor.read(block);
      } catch (MalformedGolombCodedSetException e) {
        throw new UncheckedIOException(e);
      }
      taken = 0;
      return filled > 0;
    }

    @Override
    public long nextLong() {
      if (!hasNext()) {
        throw new NoSuchElementException("all " + cursor.decoded() + " values were returned");
      }
      return block[taken++];
    }
  }
}
