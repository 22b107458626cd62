package io.firstseen.filters.gcs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The position in the payload at which each bucket begins. It is stored as a deviation from the
 * position that evenly spread values would give, on two levels. The first bucket of each group of
 * eight deviates from a line through the whole payload; the seven others deviate from a line
 * between the first buckets of this group and the next. For random values this needs 11 to 12 bits
 * for each bucket. A look-up reads four adjacent numbers.
 *
 * <p>Specified in {@code docs/format/snapshot-v1.md}. Immutable, safe for use by many threads.
 */
final class BucketStarts {
  /** The bits of a bucket's number within its group of eight. */
  static final int GROUP_BITS = 3;

  /** The number of buckets in a group. */
  static final int GROUP = 1 << GROUP_BITS;

  /** Base and width of the deviations of both levels. */
  static final int TRAILER_BYTES = 18;

  /** Enough bits for every deviation in a payload of less than 2^31 bytes. */
  private static final int MAX_WIDTH = 40;

  private final long bucketCount;
  private final BucketLine line;
  private final long groupBase;
  private final long memberBase;
  private final int groupWidth;
  private final int memberWidth;
  private final int recordBits;
  private final BitReader fields;

  private BucketStarts(long bucketCount, BucketLine line, ByteBuffer section) {
    this.bucketCount = bucketCount;
    this.line = line;
    this.fields = new BitReader(section);
    if (bucketCount <= 1) {
      groupBase = 0;
      memberBase = 0;
      groupWidth = 0;
      memberWidth = 0;
    } else {
      ByteBuffer trailer =
          section
              .slice(section.limit() - TRAILER_BYTES, TRAILER_BYTES)
              .order(ByteOrder.LITTLE_ENDIAN);
      groupBase = trailer.getLong(0);
      memberBase = trailer.getLong(8);
      groupWidth = trailer.get(16);
      memberWidth = trailer.get(17);
    }
    recordBits = groupWidth + (GROUP - 1) * memberWidth;
  }

  /**
   * Opens a section and checks all of it, in time proportional to the number of buckets.
   *
   * @param section from position 0 to its limit; not copied
   */
  static BucketStarts open(long bucketCount, long payloadBits, ByteBuffer section)
      throws MalformedGolombCodedSetException {
    int bytes = section.limit();
    if (bucketCount <= 1) {
      requireThat(bytes == 0, "the bucket starts must have 0 bytes, got " + bytes);
      return new BucketStarts(bucketCount, new BucketLine(bucketCount, payloadBits), section);
    }
    requireThat(
        bytes >= TRAILER_BYTES,
        "the bucket starts must have at least " + TRAILER_BYTES + " bytes, got " + bytes);
    BucketStarts starts =
        new BucketStarts(bucketCount, new BucketLine(bucketCount, payloadBits), section);
    requireWidth(starts.groupWidth);
    requireWidth(starts.memberWidth);
    long bits = BucketLine.groupCount(bucketCount) * starts.recordBits + (long) starts.groupWidth;
    requireThat(
        bytes - TRAILER_BYTES == (bits + 7) >>> 3,
        "the bucket starts must have "
            + (((bits + 7) >>> 3) + TRAILER_BYTES)
            + " bytes, got "
            + bytes);
    int padding = (int) (-bits & 7);
    requireThat(
        padding == 0 || (section.get(bytes - TRAILER_BYTES - 1) & ((1 << padding) - 1)) == 0,
        "the padding of the bucket starts must be zero");
    starts.requireCanonical();
    return starts;
  }

  /** Opens a section that this process wrote. */
  static BucketStarts trusted(long bucketCount, long payloadBits, ByteBuffer section) {
    return new BucketStarts(bucketCount, new BucketLine(bucketCount, payloadBits), section);
  }

  /**
   * Returns the start of a bucket's codes; for the bucket after the last, the end of the payload.
   */
  long at(long bucket) {
    if (bucketCount <= 1) {
      return bucket == 0 ? 0 : line.payloadBits();
    }
    long group = bucket >>> GROUP_BITS;
    long from = groupAt(group);
    int member = (int) bucket & (GROUP - 1);
    return member == 0 ? from : memberAt(group, member, from, groupAt(group + 1) - from);
  }

  /** Returns the start of the codes of a group of buckets. */
  long groupAt(long group) {
    return line.at(group) + groupBase + field(group * recordBits, groupWidth);
  }

  /**
   * Returns the start of a bucket's codes, computed without branches.
   *
   * @param member the bucket's number in its group, 0 to 8, where 8 means the first of the next
   *     group
   * @param from the start of the group
   * @param span the number of bits from there to the start of the next group
   */
  long memberAt(long group, int member, long from, long span) {
    // All ones for the seven members that have a field, else 0.
    long has = (-(long) member & (member - (long) GROUP)) >> 63;
    long position = group * recordBits + groupWidth + (member - 1) * (long) memberWidth;
    long deviation = memberBase + field(Math.max(0, position), memberWidth);
    return from + ((span * member) >> GROUP_BITS) + (deviation & has);
  }

  private long field(long position, int width) {
    // Shifted in two steps, since a shift by 64 does nothing in Java.
    return fields.windowAt(position) >>> 1 >>> (63 - width);
  }

  private static void requireWidth(int width) throws MalformedGolombCodedSetException {
    requireThat(
        width >= 0 && width <= MAX_WIDTH,
        "a bucket start must have 0 to " + MAX_WIDTH + " bits, got " + width);
  }

  /**
   * Checks that the starts ascend from 0 to the end, and that the deviations have the smallest
   * possible base and width.
   */
  private void requireCanonical() throws MalformedGolombCodedSetException {
    Deviations ofGroups = new Deviations();
    Deviations ofMembers = new Deviations();
    long groups = BucketLine.groupCount(bucketCount);
    long before = 0;
    long from = groupAt(0);
    requireThat(from == 0, "bucket 0 must begin at bit 0, got " + from);
    for (long group = 0; group < groups; group++) {
      ofGroups.add(from - line.at(group));
      long to = groupAt(group + 1);
      for (int member = 1; member <= GROUP; member++) {
        long bucket = group * GROUP + member;
        long start = member == GROUP ? to : memberAt(group, member, from, to - from);
        if (bucket < bucketCount) {
          if (start < before || start > line.payloadBits()) {
            throw new MalformedGolombCodedSetException(
                "bucket " + bucket + " must begin at bit " + before + " or later, got " + start);
          }
          before = start;
        } else if (start != line.beyond(bucket)) {
          throw new MalformedGolombCodedSetException(
              "bucket " + bucket + " must begin at bit " + line.beyond(bucket) + ", got " + start);
        }
        if (member < GROUP) {
          ofMembers.add(start - from - (((to - from) * member) >> GROUP_BITS));
        }
      }
      from = to;
    }
    ofGroups.add(from - line.at(groups));
    requireThat(
        ofGroups.least() == groupBase
            && ofGroups.width() == groupWidth
            && ofMembers.least() == memberBase
            && ofMembers.width() == memberWidth,
        "the bucket starts must be in their least form");
  }

  private static void requireThat(boolean holds, String sentence)
      throws MalformedGolombCodedSetException {
    if (!holds) {
      throw new MalformedGolombCodedSetException(sentence);
    }
  }

  /** The smallest of some numbers, and the bits needed for their differences from it. */
  static final class Deviations {
    private long least = Long.MAX_VALUE;
    private long most = Long.MIN_VALUE;

    void add(long deviation) {
      least = Math.min(least, deviation);
      most = Math.max(most, deviation);
    }

    long least() {
      return least;
    }

    int width() {
      return Long.SIZE - Long.numberOfLeadingZeros(most - least);
    }
  }
}
