package io.firstseen.filters.gcs;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Where in the payload each bucket begins, by two levels of deviations from where it would begin if
 * all values were spread evenly: the first bucket of eight from a line through the whole payload,
 * the seven others from a line between the firsts of this group and the next. For random values
 * that takes 11 to 12 bits a bucket; a look-up reads four numbers that lie next to each other.
 *
 * <p>Specified in {@code docs/format/snapshot-v1.md}. Immutable, safe for many threads.
 */
final class BucketStarts {
  /** The bits of a bucket's number within its group of eight. */
  static final int GROUP_BITS = 3;

  /** The number of buckets in a group. */
  static final int GROUP = 1 << GROUP_BITS;

  /** Base and width of the deviations of both levels. */
  static final int TRAILER_BYTES = 18;

  /** No deviation in a payload of less than 2^31 bytes takes more. */
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

  /** Where a bucket's codes begin; for the bucket after the last, where they end. */
  long at(long bucket) {
    if (bucketCount <= 1) {
      return bucket == 0 ? 0 : line.payloadBits();
    }
    long group = bucket >>> GROUP_BITS;
    long from = groupAt(group);
    int member = (int) bucket & (GROUP - 1);
    return member == 0 ? from : memberAt(group, member, from, groupAt(group + 1) - from);
  }

  /** Where the codes of a group of buckets begin. */
  long groupAt(long group) {
    return line.at(group) + groupBase + field(group * recordBits, groupWidth);
  }

  /**
   * Where a bucket's codes begin, without branches.
   *
   * @param member the bucket's number in its group, 0 to 8, where 8 means the next group's first
   * @param from where the group begins
   * @param span from there to where the next one begins
   */
  long memberAt(long group, int member, long from, long span) {
    // All ones for the seven that have a field.
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

  /** Checks that the starts ascend from 0 to the end, and that the deviations are in least form. */
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

  /** The least of some numbers and the width of what the others exceed it by. */
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
