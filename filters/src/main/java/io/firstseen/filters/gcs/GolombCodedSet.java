package io.firstseen.filters.gcs;

import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;

/**
 * An immutable set of distinct unsigned integers of a {@link Universe}. It needs at most about
 * log2(range / count) + 1.5 bits per value, plus 0.3 bits for the bucket starts. Equal sets of
 * equal universes have equal bytes.
 *
 * <p>The universe is divided into buckets, which are equal ranges of values and hold a few dozen
 * values on average. The first value of a bucket is coded as its distance from the range's lower
 * bound, each further value as its distance from the previous value, less one, in a Golomb code.
 * Each code has two parts: one of known length, stored from the front of the bucket, and one of
 * unknown length, stored from its end. So a processor can read many codes at once. A separate
 * section contains the start of each bucket, so a query decodes half a bucket on average. See
 * Putze, Sanders and Singler, Cache-, Hash- and Space-Efficient Bloom Filters, 2007, section 4. The
 * bytes are specified in {@code docs/format/snapshot-v1.md}.
 *
 * <p>Queries allocate nothing, and work on memory-mapped files. Safe for use by many threads.
 */
public final class GolombCodedSet {
  /** The number of values that are decoded in one block. */
  static final int BLOCK = 512;

  /** The longest field that one load reads and for which sums of codes do not overflow, in bits. */
  static final int MAX_FAST_FIELD_BITS = 50;

  // With this bound, shifts by a quotient and two more bits are below 64.
  private static final int MAX_PREFIX_WINDOW_BITS = 61;

  private final long count;
  private final Universe universe;
  private final long bucketCount;
  private final GolombCode code;
  private final long payloadBits;
  private final ByteBuffer bucketStarts;
  private final ByteBuffer payload;
  private final BucketStarts starts;
  private final BitReader codes;
  // The parameters of the code that a query needs.
  private final long parameter;
  private final int fieldBits;
  private final long cutoff;
  private final int fieldsInWindow;
  // The mean length of a bucket in bits.
  private final long bucketBits;

  private GolombCodedSet(
      long count,
      Universe universe,
      GolombCode code,
      long payloadBits,
      BucketStarts starts,
      ByteBuffer bucketStarts,
      ByteBuffer payload) {
    this.count = count;
    this.universe = universe;
    this.bucketCount = universe.buckets();
    this.code = code;
    this.payloadBits = payloadBits;
    this.starts = starts;
    this.bucketStarts = bucketStarts;
    this.payload = payload.slice().asReadOnlyBuffer();
    this.codes = new BitReader(this.payload);
    this.parameter = code.parameter();
    this.fieldBits = code.fieldBits();
    this.cutoff = code.cutoff();
    this.bucketBits = payloadBits / bucketCount;
    this.fieldsInWindow = BitReader.WINDOW_BITS / Math.max(1, fieldBits);
  }

  /**
   * Encodes a set.
   *
   * @param sortedDistinctValues ascending as unsigned numbers, without repeats; not kept
   * @throws IllegalArgumentException if a value is out of order, repeated or not in the universe
   */
  public static GolombCodedSet of(long[] sortedDistinctValues, Universe universe) {
    GolombCodedSetWriter writer = new GolombCodedSetWriter(sortedDistinctValues.length, universe);
    for (long value : sortedDistinctValues) {
      writer.add(value);
    }
    return writer.toSet();
  }

  /**
   * Encodes the {@linkplain Universe#valueOf values} of hashes. Uses {@link
   * ForkJoinPool#commonPool} if they are many.
   *
   * @param hashes in any order, repeats allowed; not changed. Sorted input is not sorted again
   */
  public static GolombCodedSet ofHashes(long[] hashes, Universe universe) {
    return ofSortedHashes(UnsignedSort.parallelSorted(hashes), 0, universe);
  }

  /**
   * Encodes the {@linkplain Universe#valueOf values} of hashes without their top bits. Uses {@link
   * ForkJoinPool#commonPool} if they are many.
   *
   * @param hashes in ascending unsigned order, repeats allowed; not kept
   * @param skippedBits how many top bits to skip, in [0, 63]: the value is computed from the hash
   *     shifted to the left by this number of bits. All hashes must have the same top bits
   */
  public static GolombCodedSet ofSortedHashes(long[] hashes, int skippedBits, Universe universe) {
    if (skippedBits < 0 || skippedBits >= Long.SIZE) {
      throw new IllegalArgumentException("skippedBits must be in [0, 63], got " + skippedBits);
    }
    return new SortedHashes(hashes, skippedBits, universe)
        .encode(UnsignedSort.partsOf(hashes.length));
  }

  /**
   * Opens a set over its sections, from the position to the limit of each buffer. The bytes are not
   * copied and must not change afterwards. Needs time in proportion to the number of buckets and no
   * memory. Checks everything but the codes, which {@link #verify} checks. Until then, queries on
   * forged sections may return wrong results, but every query ends and stays in bounds.
   *
   * @throws MalformedGolombCodedSetException if the sections do not belong to a set with these
   *     parameters
   */
  public static GolombCodedSet wrap(
      long count, Universe universe, long payloadBits, ByteBuffer bucketStarts, ByteBuffer payload)
      throws MalformedGolombCodedSetException {
    if (count < 0 || (count > 0 && !universe.holds(count - 1))) {
      throw new MalformedGolombCodedSetException(
          "count must be in [0, " + universe.range() + "], got " + count);
    }
    if (!universe.fits(count)) {
      throw new MalformedGolombCodedSetException(
          "a set of " + count + " values cannot have " + universe.buckets() + " buckets");
    }
    requirePayload(payload, payloadBits);
    GolombCode code = new GolombCode(GolombCode.parameterFor(count, universe.range()));
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
    BucketStarts starts = BucketStarts.open(universe.buckets(), payloadBits, section);
    return new GolombCodedSet(count, universe, code, payloadBits, starts, section, payload);
  }

  /** Creates a set over sections that this process has just written. */
  static GolombCodedSet written(
      long count,
      Universe universe,
      GolombCode code,
      long payloadBits,
      byte[] bucketStarts,
      byte[] payload) {
    ByteBuffer section = ByteBuffer.wrap(bucketStarts).asReadOnlyBuffer();
    BucketStarts starts = BucketStarts.trusted(universe.buckets(), payloadBits, section);
    return new GolombCodedSet(
        count, universe, code, payloadBits, starts, section, ByteBuffer.wrap(payload));
  }

  /** Returns the number of values. */
  public long count() {
    return count;
  }

  /** Returns the values that the set may hold. */
  public Universe universe() {
    return universe;
  }

  /** Returns the parameter m of the Golomb code, unsigned: max(1, round(range / count · ln 2)). */
  public long golombParameter() {
    return code.parameter();
  }

  /** Returns the length of the codes, without the zero bits that fill the last byte. */
  public long payloadBits() {
    return payloadBits;
  }

  /** Returns the codes, as a read-only view. */
  public ByteBuffer payload() {
    return payload.duplicate();
  }

  /** Returns the section with the start of each bucket in the payload, as a read-only view. */
  public ByteBuffer bucketStarts() {
    return bucketStarts.duplicate();
  }

  /**
   * Returns whether the set holds the {@linkplain Universe#valueOf value} of a hash.
   *
   * @param hash without the skipped top bits, shifted to the left
   */
  public boolean mightContain(long hash) {
    return count != 0 && contains(universe.bucketOf(hash), universe.placeOf(hash));
  }

  /**
   * Returns whether the set holds a value.
   *
   * @throws IllegalArgumentException if the value is not in the universe
   */
  public boolean contains(long value) {
    if (!universe.holds(value)) {
      throw universe.outside(value);
    }
    long bucket = universe.bucketOfValue(value);
    return count != 0 && contains(bucket, value - universe.lowerBound(bucket));
  }

  private boolean contains(long bucket, long place) {
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
    return (fieldBits >= 1 && fieldBits <= MAX_FAST_FIELD_BITS)
        ? holds(place, start, end)
        : holdsOfAnyWidth(place, -1, start, end);
  }

  /**
   * Whether the set holds the value of each of some hashes. The memory accesses of different hashes
   * overlap, so this is much faster than single queries if the set is larger than the processor's
   * cache.
   *
   * @param hashes as for {@link #mightContain}, in any order, repeats allowed
   * @param from the index to begin at
   * @param to the index to end before
   * @param found receives the answers, at the indices of the hashes
   */
  public void mightContainEach(long[] hashes, int from, int to, boolean[] found) {
    long[] positions = QueryBatch.positions();
    for (int begin = from; begin < to; begin += QueryBatch.QUERIES) {
      int end = Math.min(to, begin + QueryBatch.QUERIES);
      for (int i = begin; i < end; i++) {
        positions[i - begin] = position(hashes[i]);
      }
      long touched = 0;
      for (int i = begin; i < end; i++) {
        touched |= touch(positions[i - begin]);
      }
      for (int i = begin; i < end; i++) {
        // touched is never negative, but the compiler does not know this and must keep the reads.
        found[i] = mightContain(hashes[i]) || touched < 0;
      }
    }
  }

  /** Returns the position that {@link #mightContain} reads first, for {@link #touch}. */
  public long position(long hash) {
    return count == 0 ? 0 : starts.at(universe.bucketOf(hash));
  }

  /**
   * Reads codes at a {@link #position}, only to load them into the processor's cache: see {@link
   * QueryBatch}.
   *
   * @return a meaningless number, at least 0. The caller must use it, so that the compiler does not
   *     remove the read
   */
  public long touch(long position) {
    return count == 0 ? 0 : codes.touch(position) + codes.touch(position + bucketBits);
  }

  /**
   * Returns whether any of some values is in the set, in one pass over their buckets. May throw
   * {@link UncheckedIOException} for sections that {@link #verify} would reject.
   *
   * @param ascendingValues in ascending unsigned order, each in the universe
   * @throws IllegalArgumentException if they are out of order or not in the universe
   */
  public boolean matchAny(long[] ascendingValues) {
    return nextMatch(ascendingValues, 0) >= 0;
  }

  /**
   * Returns the index of the first of some values that is in the set. To find all matches, call it
   * again from the index after. May throw {@link UncheckedIOException} for sections that {@link
   * #verify} would reject.
   *
   * @param ascendingValues in ascending unsigned order, each in the universe
   * @param from the index to begin at, in [0, ascendingValues.length]
   * @return the index, or -1 if there is none
   * @throws IllegalArgumentException if values are out of order or not in it; checked only up to
   *     the result
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
   * Returns the values in ascending unsigned order, decoded on demand. The iterator throws {@link
   * UncheckedIOException} for sections that {@link #verify} would reject.
   */
  public PrimitiveIterator.OfLong iterator() {
    return new Values(new ValueCursor(this));
  }

  /** Decodes the values in ascending unsigned order, in blocks. */
  public ValueCursor cursor() {
    return new ValueCursor(this);
  }

  /**
   * Decodes the values of the buckets of two hashes and of all buckets between them, in blocks.
   *
   * @param from as for {@link #mightContain}
   * @param to not less than {@code from}, unsigned
   */
  public ValueCursor cursorBetween(long from, long to) {
    return new ValueCursor(this, universe.bucketOf(from), universe.bucketOf(to) + 1);
  }

  /**
   * Returns the values in ascending unsigned order.
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
   * Returns the values that are in this set, in another, or in both.
   *
   * @throws IllegalArgumentException if the other set has another universe
   */
  public GolombCodedSet union(GolombCodedSet other) {
    requireSameUniverse(other);
    return encode(universe, () -> MergedValues.union(iterator(), other.iterator()));
  }

  /**
   * Returns the values that are in this set but not in another.
   *
   * @throws IllegalArgumentException if the other set has another universe, or if the universe has
   *     {@linkplain Universe#requireFits too many buckets} for the remaining values
   */
  public GolombCodedSet difference(GolombCodedSet other) {
    requireSameUniverse(other);
    return encode(universe, () -> MergedValues.difference(iterator(), other.iterator()));
  }

  /**
   * Returns the set that the same hashes have in a smaller universe.
   *
   * @throws IllegalArgumentException if the range of that universe does not divide the range of
   *     this one: then a value here can stand for hashes of two values there
   */
  public GolombCodedSet coarsen(Universe coarser) {
    BigInteger[] divided = universe.range().divideAndRemainder(coarser.range());
    // A quotient of 2^64 means that the coarser universe has one value, and does not fit in a long.
    if (divided[1].signum() != 0 || divided[0].bitLength() > Long.SIZE) {
      throw new IllegalArgumentException(
          "the coarser range must divide %s, got %s".formatted(universe.range(), coarser.range()));
    }
    long divisor = divided[0].longValue();
    return encode(coarser, () -> MergedValues.coarsened(iterator(), divisor));
  }

  /**
   * Decodes the whole set and checks that the sections are the canonical form of {@link #count}
   * distinct values.
   *
   * @throws MalformedGolombCodedSetException if they are not
   */
  public void verify() throws MalformedGolombCodedSetException {
    ValueCursor cursor = new ValueCursor(this);
    long[] values = new long[BLOCK];
    while (cursor.read(values) == values.length) {
      // The cursor checks what it decodes.
    }
  }

  GolombCode code() {
    return code;
  }

  BitReader codes() {
    return codes;
  }

  /**
   * Returns the start of a bucket's codes; for the bucket after the last, the end of the payload.
   */
  long start(long bucket) {
    return starts.at(bucket);
  }

  /** Encodes values. Decodes them twice, since their number must be known first. */
  private static GolombCodedSet encode(
      Universe universe, Supplier<PrimitiveIterator.OfLong> values) {
    long count = 0;
    for (PrimitiveIterator.OfLong counted = values.get(); counted.hasNext(); ) {
      counted.nextLong();
      count++;
    }
    GolombCodedSetWriter writer = new GolombCodedSetWriter(count, universe);
    for (PrimitiveIterator.OfLong encoded = values.get(); encoded.hasNext(); ) {
      writer.add(encoded.nextLong());
    }
    return writer.toSet();
  }

  private void requireSameUniverse(GolombCodedSet other) {
    if (!other.universe.equals(universe)) {
      throw new IllegalArgumentException(
          "the other set must have the universe " + universe + ", got " + other.universe);
    }
  }

  private void requireNextQuery(long[] values, int i, int from) {
    if (!universe.holds(values[i])) {
      throw universe.outside(values[i]);
    }
    if (i > from && Long.compareUnsigned(values[i - 1], values[i]) > 0) {
      throw new IllegalArgumentException(
          String.format(
              "values must be ascending, got %s after %s at index %d",
              Long.toUnsignedString(values[i]), Long.toUnsignedString(values[i - 1]), i));
    }
  }

  /**
   * Returns whether a bucket holds a value. Only prefixes depend on each other and must be read in
   * sequence.
   *
   * @param target the value's distance from the bucket's lower bound
   * @param start the start of the bucket's codes
   * @param end the end of the bucket's codes
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
      // The window is inverted, because processors count zeros, not ones. A one bit above it marks
      // how many bits are left, and ends a run that is longer than the window.
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
          // All ones if there is one more bit, else 0. Computed without a branch, which would be
          // unpredictable.
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

  /** Like {@link #holds}, for codes of any length and from a code in the middle of a bucket. */
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

  /** Reads values from a cursor in blocks. */
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
