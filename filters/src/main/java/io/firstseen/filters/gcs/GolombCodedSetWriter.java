package io.firstseen.filters.gcs;

import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * Encodes a {@link GolombCodedSet} from values that are given one by one in ascending order. Keeps
 * only the payload, or a block of it if it is written to a stream, and two bytes for each bucket.
 * Not safe for use by several threads at once.
 */
public final class GolombCodedSetWriter {
  /** The number of values that are encoded in one block; few buckets have more. */
  private static final int BLOCK = 64;

  // Quotients of at most this many bits have prefixes that fit in a word; longer ones are rare.
  private static final int FAST_QUOTIENT_BITS = 5;

  private final long count;
  private final Universe universe;
  private final GolombCode code;
  private final int fieldBits;
  private final long cutoff;
  private final BitWriter codes;
  private final BackwardBits prefixes = new BackwardBits();
  private final BucketLengths lengths;
  private final boolean streaming;
  private final long bucketCount;
  private final long firstBucket;
  // Values of the open bucket that are not encoded yet, and buffers for their codes.
  private final long[] values = new long[BLOCK];
  private final long[] fields = new long[BLOCK];
  private final long[] prefixBits = new long[BLOCK];
  private final int[] prefixLengths = new int[BLOCK];
  private int waiting;
  private long added;
  private long before;
  private long next;
  // The open bucket: its number, its greatest value, and the start of its codes.
  private long bucket;
  private long last;
  private long start;
  private long payloadBits;

  /**
   * Encodes in memory.
   *
   * @param count how many values will be added; the parameters of the code depend on it
   * @param universe the values that may be added
   */
  public GolombCodedSetWriter(long count, Universe universe) {
    this(count, universe, 0, null, roomFor(count, count, universe));
  }

  /**
   * Writes the payload to a stream, in blocks; the stream is neither flushed nor closed. If it
   * throws, {@link #add} and {@link #finish} throw {@link UncheckedIOException}.
   *
   * @param count how many values will be added; the parameters of the code depend on it
   * @param universe the values that may be added
   */
  public GolombCodedSetWriter(long count, Universe universe, OutputStream payload) {
    this(count, universe, 0, Objects.requireNonNull(payload, "payload"), 0);
  }

  /**
   * Encodes in memory the values of some buckets, for {@link #join}.
   *
   * @param count how many values the whole set has
   * @param partCount about how many of them are added to this writer
   */
  static GolombCodedSetWriter ofPart(
      long count, Universe universe, long firstBucket, long partCount) {
    long room = roomFor(partCount, count, universe);
    return new GolombCodedSetWriter(count, universe, firstBucket, null, room);
  }

  /** Joins parts in the order of their buckets. All parts must have been closed. */
  static GolombCodedSet join(long count, Universe universe, GolombCodedSetWriter[] parts) {
    long bits = 0;
    for (GolombCodedSetWriter part : parts) {
      bits += part.codes.bitLength();
    }
    GolombCodedSetWriter all = new GolombCodedSetWriter(count, universe, 0, null, bits);
    for (GolombCodedSetWriter part : parts) {
      all.append(part);
    }
    return all.toSet();
  }

  private GolombCodedSetWriter(
      long count, Universe universe, long firstBucket, OutputStream payload, long expectedBits) {
    requireCount(count);
    universe.requireFits(count);
    this.count = count;
    this.universe = universe;
    code = new GolombCode(GolombCode.parameterFor(count, universe.range()));
    bucketCount = universe.buckets();
    fieldBits = code.fieldBits();
    cutoff = code.cutoff();
    streaming = payload != null;
    codes = streaming ? new BitWriter(payload) : new BitWriter(expectedBits);
    lengths = new BucketLengths(bucketCount);
    this.firstBucket = firstBucket;
    enter(firstBucket);
  }

  private static void requireCount(long count) {
    if (count < 0) {
      throw new IllegalArgumentException("count must be at least 0, got " + count);
    }
  }

  /** Returns the expected number of bits for some values of a set, or a few more. */
  private static long roomFor(long partCount, long count, Universe universe) {
    requireCount(count);
    return partCount
        * (new GolombCode(GolombCode.parameterFor(count, universe.range())).minBits() + 2L);
  }

  /**
   * Encodes the next value.
   *
   * @throws IllegalArgumentException if it is not greater than the previous value, not in the
   *     universe, or exceeds the announced number of values
   */
  public void add(long value) {
    if (added > 0 && Long.compareUnsigned(before, value) >= 0) {
      throw new IllegalArgumentException(
          String.format(
              "values must be ascending and distinct, got %s after %s at index %d",
              Long.toUnsignedString(value), Long.toUnsignedString(before), added));
    }
    if (!universe.holds(value)) {
      throw universe.outside(value);
    }
    if (added == count) {
      throw new IllegalArgumentException("there must be " + count + " values, got more");
    }
    if (Long.compareUnsigned(value, last) > 0) {
      closeUntil(universe.bucketOfValue(value));
    }
    if (waiting == BLOCK) {
      encodeWaiting();
    }
    values[waiting++] = value;
    before = value;
    added++;
  }

  /**
   * Encodes the values of hashes and skips repeated values. Does not check its arguments.
   *
   * @param hashes ascending; all share the skipped bits
   * @param skippedBits how many top bits to skip
   */
  void addSorted(long[] hashes, int from, int to, int skippedBits) {
    int i = from;
    while (i < to) {
      long value = universe.valueOf(hashes[i] << skippedBits);
      if (Long.compareUnsigned(value, last) > 0) {
        closeUntil(universe.bucketOfValue(value));
      } else if (waiting == BLOCK) {
        encodeWaiting();
      }
      long previous = added == 0 ? ~value : before;
      long greatest = last;
      int filled = waiting;
      int end = (int) Math.min(to, (long) i + BLOCK - filled);
      // A repeat is also written, and then overwritten; this avoids a branch.
      while (i < end) {
        value = universe.valueOf(hashes[i] << skippedBits);
        if (Long.compareUnsigned(value, greatest) > 0) {
          break;
        }
        values[filled] = value;
        filled += value == previous ? 0 : 1;
        previous = value;
        i++;
      }
      added += filled - waiting;
      waiting = filled;
      before = previous;
    }
  }

  /** Encodes the collected values. */
  private void encodeWaiting() {
    long widest = 0;
    long least = next;
    for (int i = 0; i < waiting; i++) {
      long distance = values[i] - least;
      least = values[i] + 1;
      long quotient = code.quotient(distance);
      long remainder = distance - quotient * code.parameter();
      // 1 if there is one more bit, else 0. Without a branch, which would be unpredictable.
      long more = (cutoff - 1 - remainder) >>> 63;
      long longer = remainder + cutoff;
      fields[i] = remainder + (((longer >>> 1) - remainder) & -more);
      prefixBits[i] = ((1L << quotient) - 1) | (longer & more) << (quotient + 1);
      prefixLengths[i] = (int) (quotient + 1 + more);
      widest |= quotient;
    }
    if (fieldBits <= GolombCodedSet.MAX_FAST_FIELD_BITS && widest >>> FAST_QUOTIENT_BITS == 0) {
      codes.write(fields, waiting, fieldBits);
      prefixes.add(prefixBits, prefixLengths, waiting);
    } else {
      encodeWaitingOfAnyWidth();
    }
    next = least;
    waiting = 0;
  }

  private void encodeWaitingOfAnyWidth() {
    long least = next;
    for (int i = 0; i < waiting; i++) {
      long quotient = code.quotient(values[i] - least);
      long remainder = values[i] - least - quotient * code.parameter();
      least = values[i] + 1;
      prefixes.addUnary(quotient);
      if (code.hasMore(remainder)) {
        // The field and the one more bit together are the remainder plus the cutoff.
        long longer = remainder + cutoff;
        codes.write(longer >>> 1, fieldBits);
        prefixes.add(longer & 1, 1);
      } else {
        codes.write(remainder, fieldBits);
      }
    }
  }

  /**
   * Returns the set; only for a writer that encodes in memory.
   *
   * @throws IllegalStateException if fewer values were added than announced
   */
  public GolombCodedSet toSet() {
    if (streaming) {
      throw new IllegalStateException("the payload went to a stream");
    }
    byte[] section = bucketStarts();
    return GolombCodedSet.written(count, universe, code, payloadBits, section, codes.toBytes());
  }

  /**
   * Writes the remaining payload and returns the section of bucket starts; only for a writer that
   * writes to a stream.
   *
   * @throws IllegalStateException if fewer values were added than announced
   */
  public byte[] finish() {
    byte[] section = bucketStarts();
    codes.finish();
    return section;
  }

  /** Returns the length of the codes in bits; valid once the set is finished. */
  public long payloadBits() {
    return payloadBits;
  }

  /** Returns the parameter m of the Golomb code, unsigned. */
  public long golombParameter() {
    return code.parameter();
  }

  /** Ends a part. No more values may be added. */
  void close() {
    if (added > 0) {
      closeUntil(bucket + 1);
    }
  }

  private void append(GolombCodedSetWriter part) {
    if (part.added == 0) {
      return;
    }
    closeUntil(part.firstBucket);
    codes.append(part.codes);
    lengths.addAll(part.lengths);
    added += part.added;
    before = part.before;
    start = codes.bitLength();
    enter(part.bucket);
  }

  private byte[] bucketStarts() {
    if (added != count) {
      throw new IllegalStateException("there must be " + count + " values, got " + added);
    }
    closeUntil(bucketCount);
    payloadBits = codes.bitLength();
    return lengths.section(payloadBits);
  }

  /** Ends the open bucket and opens another; the buckets between them are empty. */
  private void closeUntil(long opened) {
    if (bucket == opened) {
      return;
    }
    encodeWaiting();
    prefixes.writeBackwards(codes);
    long position = codes.bitLength();
    lengths.add(position - start);
    for (bucket++; bucket < opened; bucket++) {
      lengths.add(0);
    }
    start = position;
    enter(opened);
  }

  private void enter(long opened) {
    bucket = opened;
    next = universe.lowerBound(opened);
    last = universe.lowerBound(opened + 1) - 1;
  }
}
