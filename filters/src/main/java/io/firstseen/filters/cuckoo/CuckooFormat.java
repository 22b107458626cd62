package io.firstseen.filters.cuckoo;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The bytes of a page, as {@code docs/format/filter-state-v1.md} specifies them. The only class
 * that knows them.
 */
public final class CuckooFormat {
  private static final int LIST_V1 = 1;
  private static final int BUCKETS_V1 = 2;

  private CuckooFormat() {}

  /** Writes one page. */
  public static void writePage(CuckooPage page, DataOutput out) throws IOException {
    out.writeByte(page instanceof BucketPage ? BUCKETS_V1 : LIST_V1);
    out.writeByte(page.shape.identityBits());
    out.writeByte(page.depth);
    out.writeInt(page.prefix);
    out.writeInt(page.count);
    if (page instanceof BucketPage buckets) {
      out.writeShort(buckets.width());
    }
    out.write(page.body, 0, page.bodyBytes());
  }

  /**
   * Reads one page. Checks every field, but not every slot; see {@link CuckooPage#verify}.
   *
   * @throws MalformedFilterException if a field is out of its bounds
   * @throws java.io.EOFException if the input ends within the page
   */
  public static CuckooPage readPage(DataInput in) throws IOException {
    int kind = in.readUnsignedByte();
    if (kind != LIST_V1 && kind != BUCKETS_V1) {
      throw new MalformedFilterException("page kind must be 1 or 2, got " + kind);
    }
    int identityBits = in.readUnsignedByte();
    check(
        "identityBits", identityBits, CuckooShape.MIN_IDENTITY_BITS, CuckooShape.MAX_IDENTITY_BITS);
    CuckooShape shape = new CuckooShape(identityBits);
    int depth = in.readUnsignedByte();
    check(
        "depth", depth, 0, kind == LIST_V1 ? 0 : Math.min(shape.tagBits(), CuckooShape.MAX_DEPTH));
    int prefix = in.readInt();
    check("prefix", prefix, 0, (1 << depth) - 1);
    int count = in.readInt();
    if (kind == LIST_V1) {
      check("count", count, 0, IdentityListPage.MAX_COUNT);
      byte[] body = readBody(in, IdentityListPage.bodyBytes(shape, count));
      return new IdentityListPage(shape, count, body);
    }
    int width = in.readUnsignedShort();
    check("width", width, BucketPage.MIN_WIDTH, BucketPage.MAX_WIDTH);
    check("count", count, 0, width * CuckooShape.BUCKETS);
    byte[] body = readBody(in, BucketPage.bodyBytes(shape, depth, width));
    return new BucketPage(shape, depth, prefix, width, count, body);
  }

  private static byte[] readBody(DataInput in, int bytes) throws IOException {
    byte[] body = new byte[bytes + BitFields.SPARE_BYTES];
    in.readFully(body, 0, bytes);
    return body;
  }

  private static void check(String field, int value, int low, int high)
      throws MalformedFilterException {
    if (value < low || value > high) {
      throw new MalformedFilterException(
          field + " must be in [" + low + ", " + high + "], got " + value);
    }
  }
}
