package io.firstseen.filters.gcs;

import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * Encodes a {@link GolombCodedSet} from values that come one by one, in ascending order. Keeps none
 * of them: what it holds is the payload, or a block of it if that goes to a stream, and two bytes a
 * bucket of 42 values. Not safe for use by several threads at once.
 */
public final class GolombCodedSetWriter {
  /** The number of values that are encoded in one go; few buckets have more. */
  private static final int BLOCK = 64;

  // The prefixes of quotients of so few bits fit in a word; longer ones are rare.
  private static final int FAST_QUOTIENT_BITS = 5;

  private final long count;
  private final int valueBits;
  private final BucketRanges ranges;
  private final GolombCode code;
  private final int fieldBits;
  private final long cutoff;
  private final BitWriter codes;
  private final BackwardBits prefixes = new BackwardBits();
  private final BucketLengths lengths;
  private final boolean streaming;
  private final long bucketCount;
  private final long firstBucket;
  // Values of the open bucket that are not encoded yet, and room for what becomes of them.
  private final long[] values = new long[BLOCK];
  private final long[] fields = new long[BLOCK];
  private final long[] prefixBits = new long[BLOCK];
  private final int[] prefixLengths = new int[BLOCK];
  private int waiting;
  private long added;
  private long before;
  private long next;
  // The bucket that is open: its number, its greatest value, and where its codes begin.
  private long bucket;
  private long last;
  private long start;
  private long payloadBits;

  /**
   * Encodes in memory.
   *
   * @param count how many values will come; parameters of the code follow from it
   * @param valueBits 1 to 64: every value is below 2^{@code valueBits}
   */
  public GolombCodedSetWriter(long count, int valueBits) {
    this(count, valueBits, 0, null, roomFor(count, count, valueBits));
  }

  /**
   * Writes the payload to a stream, in blocks; the stream is neither flushed nor closed. If it
   * throws, {@link #add} and {@link #finish} throw {@link UncheckedIOException}.
   *
   * @param count how many values will come; parameters of the code follow from it
   * @param valueBits 1 to 64: every value is below 2^{@code valueBits}
   */
  public GolombCodedSetWriter(long count, int valueBits, OutputStream payload) {
    this(count, valueBits, 0, Objects.requireNonNull(payload, "payload"), 0);
  }

  /**
   * Encodes in memory the values of some buckets, for {@link #join}.
   *
   * @param count how many values the set has in all
   * @param partCount about how many of them come here
   */
  static GolombCodedSetWriter ofPart(long count, int valueBits, long firstBucket, long partCount) {
    long room = roomFor(partCount, count, valueBits);
    return new GolombCodedSetWriter(count, valueBits, firstBucket, null, room);
  }

  /** Joins parts, in the order of their buckets, all of which were closed. */
  static GolombCodedSet join(long count, int valueBits, GolombCodedSetWriter[] parts) {
    long bits = 0;
    for (GolombCodedSetWriter part : parts) {
      bits += part.codes.bitLength();
    }
    GolombCodedSetWriter all = new GolombCodedSetWriter(count, valueBits, 0, null, bits);
    for (GolombCodedSetWriter part : parts) {
      all.append(part);
    }
    return all.toSet();
  }

  private GolombCodedSetWriter(
      long count, int valueBits, long firstBucket, OutputStream payload, long expectedBits) {
    requireParameters(count, valueBits);
    this.count = count;
    this.valueBits = valueBits;
    code = new GolombCode(GolombCode.parameterFor(count, valueBits));
    bucketCount = code.bucketCount(count);
    ranges = new BucketRanges(bucketCount, valueBits);
    fieldBits = code.fieldBits();
    cutoff = code.cutoff();
    streaming = payload != null;
    codes = streaming ? new BitWriter(payload) : new BitWriter(expectedBits);
    lengths = new BucketLengths(bucketCount);
    this.firstBucket = firstBucket;
    enter(firstBucket);
  }

  private static void requireParameters(long count, int valueBits) {
    GolombCodedSet.requireValueBits(valueBits);
    if (count < 0) {
      throw new IllegalArgumentException("count must be at least 0, got " + count);
    }
  }

  /** The bits that some values of a set take, or a few more. */
  private static long roomFor(long partCount, long count, int valueBits) {
    requireParameters(count, valueBits);
    return partCount * (new GolombCode(GolombCode.parameterFor(count, valueBits)).minBits() + 2L);
  }

  /**
   * Encodes the next value.
   *
   * @throws IllegalArgumentException if it is not greater than the one before, not below
   *     2^valueBits, or one too many
   */
  public void add(long value) {
    if (added > 0 && Long.compareUnsigned(before, value) >= 0) {
      throw new IllegalArgumentException(
          String.format(
              "values must be ascending and distinct, got %s after %s at index %d",
              Long.toUnsignedString(value), Long.toUnsignedString(before), added));
    }
    if (!GolombCodedSet.inUniverse(value, valueBits)) {
      throw GolombCodedSet.outOfUniverse(value, valueBits);
    }
    if (added == count) {
      throw new IllegalArgumentException("there must be " + count + " values, got more");
    }
    if (Long.compareUnsigned(value, last) > 0) {
      closeUntil(ranges.bucketOf(value));
    }
    if (waiting == BLOCK) {
      encodeWaiting();
    }
    values[waiting++] = value;
    before = value;
    added++;
  }

  /**
   * Encodes the values in some bits of hashes, leaving out repeats. Checks nothing.
   *
   * @param hashes ascending by those bits and those before, which all share
   * @param skippedBits how many of a hash's top bits come before its value
   */
  void addSorted(long[] hashes, int from, int to, int skippedBits) {
    int droppedBits = Long.SIZE - valueBits;
    int i = from;
    while (i < to) {
      long value = hashes[i] << skippedBits >>> droppedBits;
      if (Long.compareUnsigned(value, last) > 0) {
        closeUntil(ranges.bucketOf(value));
      } else if (waiting == BLOCK) {
        encodeWaiting();
      }
      long previous = added == 0 ? ~value : before;
      long greatest = last;
      int filled = waiting;
      int end = (int) Math.min(to, (long) i + BLOCK - filled);
      // A repeat is written, too, and then overwritten.
      while (i < end) {
        value = hashes[i] << skippedBits >>> droppedBits;
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

  /** Encodes the values that wait. */
  private void encodeWaiting() {
    long widest = 0;
    long least = next;
    for (int i = 0; i < waiting; i++) {
      long distance = values[i] - least;
      least = values[i] + 1;
      long quotient = code.quotient(distance);
      long remainder = distance - quotient * code.parameter();
      // 1 if there is one more bit; without branches, as there is by chance.
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
        // The field and the one more bit make a number that is greater than the remainder.
        long longer = remainder + cutoff;
        codes.write(longer >>> 1, fieldBits);
        prefixes.add(longer & 1, 1);
      } else {
        codes.write(remainder, fieldBits);
      }
    }
  }

  /**
   * The set; for a writer that writes into memory.
   *
   * @throws IllegalStateException if fewer values came than were announced
   */
  public GolombCodedSet toSet() {
    if (streaming) {
      throw new IllegalStateException("the payload went to a stream");
    }
    byte[] section = bucketStarts();
    return GolombCodedSet.written(count, valueBits, code, payloadBits, section, codes.toBytes());
  }

  /**
   * Writes the rest of the payload, and gives the section of bucket starts; for a writer that
   * writes to a stream.
   *
   * @throws IllegalStateException if fewer values came than were announced
   */
  public byte[] finish() {
    byte[] section = bucketStarts();
    codes.finish();
    return section;
  }

  /** The length of the codes in bits, once all values came and the set is finished. */
  public long payloadBits() {
    return payloadBits;
  }

  /** The parameter m of the Golomb code, unsigned. */
  public long golombParameter() {
    return code.parameter();
  }

  /** Ends a part: no more values come to this writer. */
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

  /** Ends the open bucket and opens another; those between are empty. */
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
    if (bucketCount == 0) {
      return;
    }
    next = ranges.lowerBound(opened);
    last = ranges.lowerBound(opened + 1) - 1;
  }
}
