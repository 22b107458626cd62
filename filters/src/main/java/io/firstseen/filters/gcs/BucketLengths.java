package io.firstseen.filters.gcs;

import io.firstseen.filters.gcs.BucketStarts.Deviations;
import java.util.Arrays;

/**
 * The lengths of the buckets written so far, in about two bytes each. Computes the section of
 * bucket starts from them.
 */
final class BucketLengths {
  private final long bucketCount;
  private byte[] lengths = new byte[64];
  private int filled;

  BucketLengths(long bucketCount) {
    this.bucketCount = bucketCount;
  }

  /** Adds the length of the next bucket in bits. */
  void add(long bits) {
    if (lengths.length - filled < 10) {
      long grown = lengths.length + (lengths.length >>> 1) + 16L;
      lengths = Arrays.copyOf(lengths, (int) Math.min(BitWriter.MAX_BYTES, grown));
    }
    long left = bits;
    while (left >= 128) {
      lengths[filled++] = (byte) (left | 128);
      left >>>= 7;
    }
    lengths[filled++] = (byte) left;
  }

  /** Appends the lengths of another object, whose buckets follow this object's buckets. */
  void addAll(BucketLengths other) {
    if (lengths.length - filled < other.filled) {
      lengths = Arrays.copyOf(lengths, filled + other.filled);
    }
    System.arraycopy(other.lengths, 0, lengths, filled, other.filled);
    filled += other.filled;
  }

  /** Computes the section. All buckets must have been added. */
  byte[] section(long payloadBits) {
    if (bucketCount <= 1) {
      return new byte[0];
    }
    BucketLine line = new BucketLine(bucketCount, payloadBits);
    Deviations ofGroups = new Deviations();
    Deviations ofMembers = new Deviations();
    walk(line, (group, deviation) -> (group ? ofGroups : ofMembers).add(deviation));
    int groupWidth = ofGroups.width();
    int memberWidth = ofMembers.width();
    long bits =
        BucketLine.groupCount(bucketCount) * (groupWidth + (BucketStarts.GROUP - 1L) * memberWidth)
            + groupWidth;
    BitWriter out = new BitWriter(bits + 8 * BucketStarts.TRAILER_BYTES);
    walk(
        line,
        (group, deviation) ->
            out.write(
                deviation - (group ? ofGroups : ofMembers).least(),
                group ? groupWidth : memberWidth));
    out.write(0, (int) (-bits & 7));
    out.write(Long.reverseBytes(ofGroups.least()), 64);
    out.write(Long.reverseBytes(ofMembers.least()), 64);
    out.write(groupWidth, 8);
    out.write(memberWidth, 8);
    return out.toBytes();
  }

  private interface Visitor {
    void visit(boolean group, long deviation);
  }

  /** Visits the deviations in the order in which they are written. */
  private void walk(BucketLine line, Visitor visitor) {
    long groups = BucketLine.groupCount(bucketCount);
    long[] starts = new long[BucketStarts.GROUP + 1];
    int read = 0;
    for (long group = 0; group < groups; group++) {
      starts[0] = starts[BucketStarts.GROUP];
      for (int member = 1; member <= BucketStarts.GROUP; member++) {
        long bucket = group * BucketStarts.GROUP + member;
        if (bucket > bucketCount) {
          starts[member] = line.beyond(bucket);
          continue;
        }
        long length = 0;
        int shift = 0;
        byte next;
        do {
          next = lengths[read++];
          length |= (next & 127L) << shift;
          shift += 7;
        } while (next < 0);
        starts[member] = starts[member - 1] + length;
      }
      long from = starts[0];
      long span = starts[BucketStarts.GROUP] - from;
      visitor.visit(true, from - line.at(group));
      for (int member = 1; member < BucketStarts.GROUP; member++) {
        visitor.visit(false, starts[member] - from - ((span * member) >> BucketStarts.GROUP_BITS));
      }
    }
    visitor.visit(true, starts[BucketStarts.GROUP] - line.at(groups));
  }
}
