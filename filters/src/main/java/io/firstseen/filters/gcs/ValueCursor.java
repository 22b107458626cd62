package io.firstseen.filters.gcs;

/**
 * Decodes values one after the other, from the first one or from any bucket. Rejects codes that no
 * encoder would have written. Not safe for use by several threads at once.
 */
public final class ValueCursor {
  private final GolombCodedSet set;
  private final GolombCode code;
  private final BitReader codes;
  private final Universe universe;
  private long bucket;
  private final long endBucket;
  // The remaining codes of the bucket: fields from the front, prefixes from the end.
  private long position;
  private long end;
  private long decoded;
  // The smallest possible next value of the bucket, and the greatest one.
  private long next;
  private long last;
  private boolean bucketFull;
  private boolean jumped;
  private final long[] one = new long[1];

  ValueCursor(GolombCodedSet set) {
    this(set, 0, set.universe().buckets());
  }

  /**
   * Decodes the values of the buckets from {@code bucket} up to but excluding {@code endBucket}.
   */
  ValueCursor(GolombCodedSet set, long bucket, long endBucket) {
    this.set = set;
    this.bucket = bucket - 1;
    this.endBucket = endBucket;
    this.jumped = endBucket - bucket < set.universe().buckets();
    this.code = set.code();
    this.codes = set.codes();
    this.universe = set.universe();
  }

  /** Returns the number of values decoded so far. */
  long decoded() {
    return decoded;
  }

  /**
   * Decodes the next values.
   *
   * @return how many values were decoded; fewer than the array's length, or 0, only at the end
   * @throws MalformedGolombCodedSetException for sections that {@link GolombCodedSet#verify} would
   *     reject
   */
  public int read(long[] values) throws MalformedGolombCodedSetException {
    int filled = 0;
    while (filled < values.length && (position < end || nextBucket())) {
      int before = filled;
      filled = readFast(values, filled);
      if (filled == before) {
        readOne(values, filled++);
      }
      decoded += filled - before;
      if (decoded > set.count()) {
        throw new MalformedGolombCodedSetException(
            "the payload must hold " + set.count() + " values, got more");
      }
    }
    return filled;
  }

  /**
   * Moves forward to a value. If the value is in another bucket, jumps to the start of that bucket.
   *
   * @param value not less than the value of any earlier call
   * @return whether the set holds it
   */
  boolean seek(long value) throws MalformedGolombCodedSetException {
    long target = universe.bucketOfValue(value);
    if (target != bucket) {
      jumped = true;
      bucket = target - 1;
      if (!openNextBucket()) {
        return false;
      }
    } else if ((bucketFull || next != universe.lowerBound(bucket))
        && Long.compareUnsigned(next - 1, value) >= 0) {
      return next - 1 == value;
    }
    while (position < end) {
      readOne(one, 0);
      decoded++;
      if (Long.compareUnsigned(one[0], value) >= 0) {
        return one[0] == value;
      }
    }
    return false;
  }

  /** Moves to the next bucket that has codes; false at the end. */
  private boolean nextBucket() throws MalformedGolombCodedSetException {
    do {
      if (!openNextBucket()) {
        if (!jumped && decoded != set.count()) {
          throw new MalformedGolombCodedSetException(
              "the payload must hold " + set.count() + " values, got " + decoded);
        }
        return false;
      }
    } while (position == end);
    return true;
  }

  private boolean openNextBucket() {
    if (bucket + 1 >= endBucket) {
      bucket = endBucket;
      return false;
    }
    bucket++;
    position = set.start(bucket);
    end = set.start(bucket + 1);
    next = universe.lowerBound(bucket);
    last = universe.lowerBound(bucket + 1) - 1;
    bucketFull = false;
    return true;
  }

  /**
   * Decodes values of this bucket as long as their prefixes fit in windows of the payload.
   *
   * @return the new number of filled elements
   */
  private int readFast(long[] values, int filled) throws MalformedGolombCodedSetException {
    int fieldBits = code.fieldBits();
    if (fieldBits < 1 || fieldBits > GolombCodedSet.MAX_FAST_FIELD_BITS || bucketFull) {
      return filled;
    }
    long parameter = code.parameter();
    long cutoff = code.cutoff();
    long value = next - 1;
    long room = last - value;
    long from = position;
    long to = end;
    int i = filled;
    while (from < to && i < values.length) {
      long window = ~codes.windowBefore(to);
      int bits = BitReader.bitsBefore(to);
      int left = bits;
      do {
        int quotient = Long.numberOfTrailingZeros(window);
        long field = codes.windowAt(from) >>> (64 - fieldBits);
        // 1 if there is one more bit, else 0. Without a branch, which would be unpredictable.
        long more = (cutoff - 1 - field) >>> 63;
        int prefix = quotient + 1 + (int) more;
        if (prefix > left) {
          break;
        }
        long bit = ~(window >>> (quotient + 1)) & 1;
        long distance = quotient * parameter + field + ((field - cutoff + bit) & -more) + 1;
        window >>>= prefix;
        left -= prefix;
        from += fieldBits;
        value += distance;
        room -= distance;
        values[i++] = value;
      } while (from < to - bits + left && i < values.length);
      if (left == bits) {
        break;
      }
      to -= bits - left;
      if (from > to) {
        throw brokenEnd();
      }
      // The distances of one window add up to less than 2^63, so a negative room cannot become
      // positive again.
      if (room < 0) {
        throw outOfBucket();
      }
    }
    position = from;
    end = to;
    next = value + 1;
    bucketFull = value == last;
    return i;
  }

  /** Decodes one value of this bucket, of any width. */
  private void readOne(long[] values, int index) throws MalformedGolombCodedSetException {
    long field = codes.bitsAt(position, code.fieldBits());
    position += code.fieldBits();
    long quotient = codes.onesBefore(end);
    end -= quotient + 1;
    long remainder = field;
    if (code.hasMore(field)) {
      end--;
      remainder += field - code.cutoff() + (end < 0 ? 0 : codes.bitsAt(end, 1));
    }
    if (position > end) {
      throw brokenEnd();
    }
    if (bucketFull || code.exceeds(quotient, remainder, last - next)) {
      throw outOfBucket();
    }
    long value = next + quotient * code.parameter() + remainder;
    bucketFull = value == last;
    next = value + 1;
    values[index] = value;
  }

  private MalformedGolombCodedSetException brokenEnd() {
    return new MalformedGolombCodedSetException(
        "the codes of bucket " + bucket + " must fill it, got a code with too many bits");
  }

  private MalformedGolombCodedSetException outOfBucket() {
    return new MalformedGolombCodedSetException(
        "a value of bucket " + bucket + " must be at most " + Long.toUnsignedString(last));
  }
}
