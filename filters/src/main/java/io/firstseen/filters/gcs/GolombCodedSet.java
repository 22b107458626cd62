package io.firstseen.filters.gcs;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;

/**
 * An immutable set of distinct unsigned integers below 2^valueBits in at most about
 * log2(2^valueBits / count) + 1.5 bits each, plus the bucket starts. One set has one form: equal
 * sets of equal {@code valueBits} have equal bytes.
 *
 * <p>The values are cut into ceil(count / 64) buckets, equal ranges of value. In a bucket the first
 * value is coded as its distance from the range's lower bound, each further one as its distance
 * from the one before, less one, in a Golomb code; the bit position of every bucket but the first
 * stands in a section of its own, so that a query decodes one bucket. See Putze, Sanders and
 * Singler, Cache-, Hash- and Space-Efficient Bloom Filters, 2007, section 4.
 *
 * <p>Queries allocate nothing. Safe for use by many threads.
 */
public final class GolombCodedSet {
  /** The mean number of values in a bucket. */
  public static final int VALUES_PER_BUCKET = 64;

  private final long count;
  private final int valueBits;
  private final long bucketCount;
  private final BucketRanges ranges;
  private final GolombCode code;
  private final long payloadBits;
  private final int startBits;
  private final ByteBuffer bucketStarts;
  private final ByteBuffer payload;
  private final BitReader starts;
  private final BitReader codes;

  private GolombCodedSet(
      long count, int valueBits, long payloadBits, ByteBuffer bucketStarts, ByteBuffer payload) {
    this.count = count;
    this.valueBits = valueBits;
    this.bucketCount = bucketCountFor(count);
    this.ranges = new BucketRanges(bucketCount, valueBits);
    this.code = new GolombCode(GolombCode.parameterFor(count, valueBits));
    this.payloadBits = payloadBits;
    this.startBits = startBitsFor(payloadBits);
    this.bucketStarts = bucketStarts.slice().asReadOnlyBuffer();
    this.payload = payload.slice().asReadOnlyBuffer();
    this.starts = new BitReader(this.bucketStarts);
    this.codes = new BitReader(this.payload);
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
    requireValueBits(valueBits);
    int count = sortedDistinctValues.length;
    int bucketCount = (int) bucketCountFor(count);
    BucketRanges ranges = new BucketRanges(bucketCount, valueBits);
    GolombCode code = new GolombCode(GolombCode.parameterFor(count, valueBits));
    BitWriter codes = new BitWriter((long) count * (code.minBits() + 2));
    long[] startPositions = new long[bucketCount];
    int i = 0;
    for (int bucket = 0; bucket < bucketCount; bucket++) {
      startPositions[bucket] = codes.bitLength();
      long next = ranges.lowerBound(bucket);
      for (; i < count && ranges.bucketOf(sortedDistinctValues[i]) == bucket; i++) {
        requireNextValue(sortedDistinctValues, i, valueBits);
        code.write(codes, sortedDistinctValues[i] - next);
        next = sortedDistinctValues[i] + 1;
      }
    }
    if (i < count) {
      // Only a value that is out of order or range belongs to none of the buckets that are left.
      requireNextValue(sortedDistinctValues, i, valueBits);
    }
    int startBits = startBitsFor(codes.bitLength());
    BitWriter starts = new BitWriter((long) bucketCount * startBits);
    for (int bucket = 1; bucket < bucketCount; bucket++) {
      starts.write(startPositions[bucket], startBits);
    }
    return new GolombCodedSet(
        count,
        valueBits,
        codes.bitLength(),
        ByteBuffer.wrap(starts.toBytes()),
        ByteBuffer.wrap(codes.toBytes()));
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
    requireSection("payload", payload, payloadBits);
    int minBits = new GolombCode(GolombCode.parameterFor(count, valueBits)).minBits();
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
    requireSection(
        "bucket starts",
        bucketStarts,
        Math.max(0, bucketCountFor(count) - 1) * startBitsFor(payloadBits));
    GolombCodedSet set = new GolombCodedSet(count, valueBits, payloadBits, bucketStarts, payload);
    set.requireOrderedStarts();
    return set;
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

  /** The number of buckets: ceil(count / 64). */
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

  /**
   * The bit positions in the payload at which the buckets from the second on begin, as a read-only
   * view; each as wide as {@link #payloadBits} is as a binary number.
   */
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
    long position = start(bucket);
    long end = start(bucket + 1);
    long next = ranges.lowerBound(bucket);
    while (position < end) {
      long quotient = codes.onesAt(position);
      position += quotient + 1;
      long remainder = code.remainderAt(codes, position);
      position += code.remainderBits(remainder);
      long found = next + quotient * code.parameter() + remainder;
      if (Long.compareUnsigned(found, value) >= 0) {
        return found == value;
      }
      next = found + 1;
    }
    return false;
  }

  /**
   * The values in ascending unsigned order. Over sections that {@link #verify} would refuse, the
   * iterator throws {@link UncheckedIOException}.
   */
  public PrimitiveIterator.OfLong iterator() {
    return new Values();
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
    PrimitiveIterator.OfLong iterator = iterator();
    for (int i = 0; i < values.length; i++) {
      values[i] = iterator.nextLong();
    }
    return values;
  }

  /**
   * Decodes everything and proves that the sections are the canonical form of {@link #count}
   * distinct values.
   *
   * @throws MalformedGolombCodedSetException if they are not
   */
  public void verify() throws MalformedGolombCodedSetException {
    Decoder decoder = new Decoder();
    while (decoder.advance()) {
      // The decoder checks as it goes.
    }
  }

  private static long bucketCountFor(long count) {
    return count / VALUES_PER_BUCKET + (count % VALUES_PER_BUCKET == 0 ? 0 : 1);
  }

  private static int startBitsFor(long payloadBits) {
    return 64 - Long.numberOfLeadingZeros(payloadBits);
  }

  /** Where a bucket's codes begin; for the bucket after the last, where they end. */
  private long start(long bucket) {
    if (bucket == 0) {
      return 0;
    }
    return bucket == bucketCount ? payloadBits : starts.bitsAt((bucket - 1) * startBits, startBits);
  }

  private void requireOrderedStarts() throws MalformedGolombCodedSetException {
    long before = 0;
    for (long bucket = 1; bucket <= bucketCount; bucket++) {
      long start = start(bucket);
      if (start < before) {
        throw new MalformedGolombCodedSetException(
            "bucket " + bucket + " must begin at bit " + before + " or later, got " + start);
      }
      before = start;
    }
  }

  private static void requireSection(String name, ByteBuffer section, long bits)
      throws MalformedGolombCodedSetException {
    long bytes = (bits >>> 3) + ((bits & 7) == 0 ? 0 : 1);
    if (bits < 0 || section.remaining() != bytes) {
      throw new MalformedGolombCodedSetException(
          "the " + name + " must have " + bytes + " bytes, got " + section.remaining());
    }
    int padding = (int) (-bits & 7);
    if (padding != 0 && (section.get(section.limit() - 1) & ((1 << padding) - 1)) != 0) {
      throw new MalformedGolombCodedSetException("the padding of the " + name + " must be zero");
    }
  }

  private static void requireValueBits(int valueBits) {
    if (valueBits < 1 || valueBits > 64) {
      throw new IllegalArgumentException("valueBits must be in [1, 64], got " + valueBits);
    }
  }

  private static void requireNextValue(long[] values, int i, int valueBits) {
    if (!inUniverse(values[i], valueBits)) {
      throw outOfUniverse(values[i], valueBits);
    }
    if (i > 0 && Long.compareUnsigned(values[i - 1], values[i]) >= 0) {
      throw new IllegalArgumentException(
          String.format(
              "values must be ascending and distinct, got %s after %s at index %d",
              Long.toUnsignedString(values[i]), Long.toUnsignedString(values[i - 1]), i));
    }
  }

  private static boolean inUniverse(long value, int valueBits) {
    return valueBits == 64 || value >>> valueBits == 0;
  }

  private static IllegalArgumentException outOfUniverse(long value, int valueBits) {
    return new IllegalArgumentException(
        "value must be below 2^" + valueBits + ", got " + Long.toUnsignedString(value));
  }

  /** Decodes the values one by one, and refuses whatever an encoder would not have written. */
  private final class Decoder {
    private long bucket = -1;
    private long position;
    private long end;
    private long decoded;
    private long next;
    private long last;
    private boolean bucketFull;
    private long value;

    /** Moves to the next value; false at the end. */
    boolean advance() throws MalformedGolombCodedSetException {
      while (position == end) {
        bucket++;
        if (bucket >= bucketCount) {
          if (decoded != count) {
            throw new MalformedGolombCodedSetException(
                "the payload must hold " + count + " values, got " + decoded);
          }
          return false;
        }
        end = start(bucket + 1);
        next = ranges.lowerBound(bucket);
        last = ranges.lowerBound(bucket + 1) - 1;
        bucketFull = false;
      }
      long quotient = codes.onesAt(position);
      position += quotient + 1;
      long remainder = code.remainderAt(codes, position);
      position += code.remainderBits(remainder);
      if (position > end) {
        throw new MalformedGolombCodedSetException(
            "bucket " + bucket + " must end at bit " + end + ", got a code up to " + position);
      }
      if (bucketFull || exceeds(quotient, remainder, last - next)) {
        throw new MalformedGolombCodedSetException(
            "a value of bucket " + bucket + " must be at most " + Long.toUnsignedString(last));
      }
      if (decoded == count) {
        throw new MalformedGolombCodedSetException(
            "the payload must hold " + count + " values, got more");
      }
      decoded++;
      value = next + quotient * code.parameter() + remainder;
      bucketFull = value == last;
      next = value + 1;
      return true;
    }

    private boolean exceeds(long quotient, long remainder, long room) {
      long parameter = code.parameter();
      long high = Math.multiplyHigh(quotient, parameter) + (parameter >> 63 & quotient);
      long product = quotient * parameter;
      long distance = product + remainder;
      return high != 0
          || Long.compareUnsigned(distance, product) < 0
          || Long.compareUnsigned(distance, room) > 0;
    }
  }

  private final class Values implements PrimitiveIterator.OfLong {
    private final Decoder decoder = new Decoder();
    private boolean looked;
    private boolean hasNext;

    @Override
    public boolean hasNext() {
      if (!looked) {
        try {
          hasNext = decoder.advance();
        } catch (MalformedGolombCodedSetException e) {
          throw new UncheckedIOException(e);
        }
        looked = true;
      }
      return hasNext;
    }

    @Override
    public long nextLong() {
      if (!hasNext()) {
        throw new NoSuchElementException("all " + count + " values were returned");
      }
      looked = false;
      return decoder.value;
    }
  }
}
