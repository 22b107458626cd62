package io.firstseen.filters.cuckoo;

import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/**
 * The bytes of a page and of a whole filter, as {@code docs/format/filter-state-v1.md} specifies
 * them. No other class depends on them.
 */
public final class CuckooFormat {
  private static final int LIST_V1 = 1;
  private static final int BUCKETS_V1 = 2;
  private static final int EXPIRING_LIST_V1 = 3;
  private static final int EXPIRING_BUCKETS_V1 = 4;

  /** Kind, identity bits, depth, prefix and count. */
  private static final int PAGE_HEADER_BYTES = 3 * Byte.BYTES + 2 * Integer.BYTES;

  /** The ASCII characters FSCF. */
  private static final int FILTER_MAGIC = 0x46534346;

  private static final int FILTER_VERSION = 1;

  /**
   * The maximum depth of a page above log2(pages), so that the directory of a filter, 2^depth
   * references, is in proportion to its pages, which take over 1 KiB each.
   */
  private static final int MAX_SKEW = 8;

  /**
   * The maximum length of a body that is read at once. The body of a page with 8 slots per bucket
   * is always shorter.
   */
  private static final int BODY_STEP_BYTES = 1 << 15;

  private CuckooFormat() {}

  /**
   * Writes one page without its pending insertions. Another thread may use the page meanwhile if it
   * is frozen.
   */
  public static void writePage(CuckooPage page, DataOutput out) throws IOException {
    boolean expiring = page.hasEpochs();
    // In one call, because Flink writes each byte separately.
    ByteBuffer header = ByteBuffer.allocate(PAGE_HEADER_BYTES + Short.BYTES);
    if (page instanceof BucketPage) {
      header.put((byte) (expiring ? EXPIRING_BUCKETS_V1 : BUCKETS_V1));
    } else {
      header.put((byte) (expiring ? EXPIRING_LIST_V1 : LIST_V1));
    }
    header.put((byte) page.shape.identityBits()).put(page.depth);
    header.putInt(page.prefix).putInt(page.count);
    if (page instanceof BucketPage buckets) {
      header.putShort((short) buckets.width());
    }
    out.write(header.array(), 0, header.position());
    if (expiring) {
      writeEpochs(page.epochs, out);
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
    check("page kind", kind, LIST_V1, EXPIRING_BUCKETS_V1);
    boolean list = kind == LIST_V1 || kind == EXPIRING_LIST_V1;
    boolean expiring = kind == EXPIRING_LIST_V1 || kind == EXPIRING_BUCKETS_V1;
    CuckooShape shape = new CuckooShape(readIdentityBits(in));
    int depth = in.readUnsignedByte();
    check("depth", depth, 0, list ? 0 : Math.min(shape.tagBits(), CuckooShape.MAX_DEPTH));
    int prefix = in.readInt();
    check("prefix", prefix, 0, (1 << depth) - 1);
    int count = in.readInt();
    if (list) {
      check("count", count, 0, IdentityListPage.MAX_COUNT);
      Epochs epochs = expiring ? readEpochs(in) : null;
      byte[] body = readBody(in, IdentityListPage.bodyBytes(shape, count, expiring));
      return new IdentityListPage(shape, count, body, epochs);
    }
    int width = in.readUnsignedShort();
    check("width", width, BucketPage.MIN_WIDTH, BucketPage.MAX_WIDTH);
    check("count", count, 0, width * CuckooShape.BUCKETS);
    Epochs epochs = expiring ? readEpochs(in) : null;
    byte[] body = readBody(in, BucketPage.bodyBytes(shape, depth, width, expiring));
    return new BucketPage(shape, depth, prefix, width, count, body, epochs);
  }

  private static void writeEpochs(Epochs epochs, DataOutput out) throws IOException {
    out.writeByte(epochs.size());
    for (int number = 0; number < epochs.size(); number++) {
      out.writeLong(epochs.end(number));
    }
  }

  private static Epochs readEpochs(DataInput in) throws IOException {
    int size = in.readUnsignedByte();
    check("number of epochs", size, 0, Epochs.MAX);
    long[] ends = new long[size];
    for (int number = 0; number < size; number++) {
      ends[number] = in.readLong();
      for (int before = 0; before < number; before++) {
        if (ends[before] == ends[number] && ends[number] != Epochs.UNUSED) {
          throw new MalformedFilterException("two epochs must not end at the same instant");
        }
      }
    }
    if (size > 0 && ends[size - 1] == Epochs.UNUSED) {
      throw new MalformedFilterException("the last epoch must have an end");
    }
    return Epochs.of(ends);
  }

  static void writeFilter(CuckooFilter filter, OutputStream stream) throws IOException {
    List<CuckooPage> pages = new ArrayList<>();
    filter.forEachPage(pages::add);
    for (CuckooPage page : pages) {
      if (page.depth > maxDepth(pages.size())) {
        throw new IllegalStateException(
            "the hashes in this filter are too far from uniform to write it: one of %d pages has depth %d"
                .formatted(pages.size(), page.depth));
      }
    }
    CheckedOutputStream checked = new CheckedOutputStream(stream, new CRC32C());
    DataOutputStream out = new DataOutputStream(checked);
    out.writeInt(FILTER_MAGIC);
    out.writeByte(FILTER_VERSION);
    out.writeByte(filter.shape().identityBits());
    out.writeInt(pages.size());
    for (CuckooPage page : pages) {
      writePage(page, out);
    }
    out.writeInt((int) checked.getChecksum().getValue());
    out.flush();
  }

  static CuckooFilter readFilter(InputStream stream) throws IOException {
    CheckedInputStream checked = new CheckedInputStream(stream, new CRC32C());
    try {
      return readFilter(new DataInputStream(checked), checked);
    } catch (EOFException e) {
      MalformedFilterException malformed =
          new MalformedFilterException("the input ends within the filter");
      malformed.initCause(e);
      throw malformed;
    }
  }

  private static CuckooFilter readFilter(DataInputStream in, CheckedInputStream checked)
      throws IOException {
    if (in.readInt() != FILTER_MAGIC) {
      throw new MalformedFilterException("a cuckoo filter must start with FSCF");
    }
    int version = in.readUnsignedByte();
    check("version", version, FILTER_VERSION, FILTER_VERSION);
    CuckooShape shape = new CuckooShape(readIdentityBits(in));
    int pageCount = in.readInt();
    check("page count", pageCount, 1, 1 << CuckooShape.MAX_DEPTH);
    List<CuckooPage> pages = new ArrayList<>();
    long covered = 0;
    for (int i = 0; i < pageCount; i++) {
      CuckooPage page = readPage(in);
      page.verify();
      if (page.hasEpochs()) {
        throw new MalformedFilterException("the keys of page " + i + " must not expire");
      }
      check(
          "identityBits of page " + i,
          page.shape.identityBits(),
          shape.identityBits(),
          shape.identityBits());
      check("depth of page " + i, page.depth, 0, maxDepth(pageCount));
      int unused = CuckooShape.MAX_DEPTH - page.depth;
      if ((long) page.prefix << unused != covered) {
        throw new MalformedFilterException(
            "page %d must follow the previous page, got prefix %d of depth %d"
                .formatted(i, page.prefix, page.depth));
      }
      covered += 1L << unused;
      pages.add(page);
    }
    if (covered != 1L << CuckooShape.MAX_DEPTH) {
      throw new MalformedFilterException("the pages must cover all identities");
    }
    int checksum = (int) checked.getChecksum().getValue();
    if (in.readInt() != checksum) {
      throw new MalformedFilterException("the checksum of the filter does not match");
    }
    return new CuckooFilter(shape, new HeapPages(shape, pages));
  }

  private static int maxDepth(int pageCount) {
    return MAX_SKEW + Integer.SIZE - Integer.numberOfLeadingZeros(pageCount - 1);
  }

  private static int readIdentityBits(DataInput in) throws IOException {
    int identityBits = in.readUnsignedByte();
    check(
        "identityBits", identityBits, CuckooShape.MIN_IDENTITY_BITS, CuckooShape.MAX_IDENTITY_BITS);
    return identityBits;
  }

  /**
   * Reads in steps, so that a forged length cannot allocate more memory than the input has bytes.
   */
  private static byte[] readBody(DataInput in, int bytes) throws IOException {
    byte[] body = new byte[Math.min(bytes, BODY_STEP_BYTES) + BitFields.SPARE_BYTES];
    int read = 0;
    while (true) {
      int end = body.length - BitFields.SPARE_BYTES;
      in.readFully(body, read, end - read);
      read = end;
      if (read == bytes) {
        return body;
      }
      body = Arrays.copyOf(body, Math.min(bytes, 2 * read) + BitFields.SPARE_BYTES);
    }
  }

  static void check(String field, int value, int low, int high) throws MalformedFilterException {
    if (value < low || value > high) {
      throw new MalformedFilterException(
          field + " must be in [" + low + ", " + high + "], got " + value);
    }
  }
}
