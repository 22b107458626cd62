package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bytes that are not a filter are rejected with a typed error; see also {@link CuckooGoldenTest}.
 */
class CuckooFormatTest {
  private static final long SEED = 20261122;
  private static final int HEADER_BYTES = 10;

  private static CuckooFilter filter(int keys) {
    CuckooFilter filter = new CuckooFilter(new CuckooShape(20));
    new SplittableRandom(SEED).longs(keys).forEach(filter::insert);
    return filter;
  }

  private static CuckooFilter read(byte[] bytes) throws IOException {
    return CuckooFilter.readFrom(new ByteArrayInputStream(bytes));
  }

  private static CuckooPage readPage(byte[] bytes) throws IOException {
    return CuckooFormat.readPage(new DataInputStream(new ByteArrayInputStream(bytes)));
  }

  private static void seal(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length - 4);
    ByteBuffer.wrap(bytes).putInt(bytes.length - 4, (int) crc.getValue());
  }

  private static byte[] flipped(byte[] bytes, int bit) {
    byte[] flipped = bytes.clone();
    flipped[bit >> 3] ^= (byte) (1 << (bit & 7));
    return flipped;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 512, 513, 20_000})
  void whatWasWrittenIsReadAndNotAByteMore(int keys) throws IOException {
    CuckooFilter filter = filter(keys);
    byte[] bytes = FilterOnTheHeap.toBytes(filter);
    InputStream in = new ByteArrayInputStream(Arrays.copyOf(bytes, bytes.length + 3));
    CuckooFilter read = CuckooFilter.readFrom(in);
    assertThat(in.available()).isEqualTo(3);
    assertThat(read.shape()).isEqualTo(filter.shape());
    assertThat(read.count()).isEqualTo(filter.count());
    assertThat(FilterOnTheHeap.toBytes(read)).isEqualTo(bytes);
    new SplittableRandom(SEED)
        .longs(keys)
        .forEach(key -> assertThat(read.mightContain(key)).isTrue());
  }

  /** A list, a page of buckets, and several. */
  @ParameterizedTest
  @ValueSource(ints = {20, 600, 5_000})
  void everyTruncationIsRefused(int keys) {
    byte[] bytes = FilterOnTheHeap.toBytes(filter(keys));
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> read(cut))
          .isInstanceOf(MalformedFilterException.class)
          .hasMessageContaining("ends within");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 600})
  void everyFlippedBitIsRefused(int keys) {
    byte[] bytes = FilterOnTheHeap.toBytes(filter(keys));
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] flipped = flipped(bytes, bit);
      assertThatThrownBy(() -> read(flipped))
          .as("bit %d", bit)
          .isInstanceOf(MalformedFilterException.class);
    }
  }

  /**
   * An attacker who forges a checksum gets the typed error, or a working filter with exactly the
   * given bytes.
   */
  @ParameterizedTest
  @ValueSource(ints = {20, 600})
  void everyFlippedBitUnderAGoodChecksumIsRefusedOrAnotherFilter(int keys) throws IOException {
    byte[] bytes = FilterOnTheHeap.toBytes(filter(keys));
    int accepted = 0;
    for (int bit = 0; bit < (bytes.length - 4) * 8; bit++) {
      byte[] flipped = flipped(bytes, bit);
      seal(flipped);
      CuckooFilter read;
      try {
        read = read(flipped);
      } catch (MalformedFilterException refused) {
        continue;
      }
      accepted++;
      assertThat(FilterOnTheHeap.toBytes(read)).isEqualTo(flipped);
      useAll(read);
    }
    assertThat(accepted).isGreaterThan(100);
  }

  private static void useAll(CuckooFilter filter) {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 30; i++) {
      long hash = random.nextLong();
      filter.insert(hash);
      assertThat(filter.mightContain(hash)).isTrue();
      assertThat(filter.delete(hash)).isTrue();
    }
  }

  /** State is read without looking at every slot, so a damaged page must not harm either. */
  @ParameterizedTest
  @CsvSource({"20, false", "600, false", "20, true", "600, true"})
  void everyFlippedBitOfAPageIsRefusedOrAPageThatWorks(int keys, boolean expiring)
      throws IOException {
    byte[][] only = new byte[1][];
    if (expiring) {
      only[0] = expiringPage(keys);
    } else {
      filter(keys).forEachPage(page -> only[0] = FilterInState.bytes(page));
    }
    PathSearch search = new PathSearch();
    Expiry expiry = new Expiry(1000, true);
    for (int bit = 0; bit < only[0].length * 8; bit++) {
      CuckooPage page;
      try {
        page = readPage(flipped(only[0], bit));
      } catch (MalformedFilterException | EOFException refused) {
        continue;
      }
      boolean ordered = isOrdered(page);
      long identity = page.shape().identity(SEED << 20);
      if (page.insert(identity, page.hasEpochs() ? page.number(expiry) : 0, search)) {
        assertThat(page.remove(identity) || !ordered).isTrue();
      }
      if (page.hasEpochs()) {
        expiry.advanceTo(Long.MAX_VALUE);
        page.expire(expiry, search);
      }
    }
    for (int length = 0; length < only[0].length; length++) {
      byte[] cut = Arrays.copyOf(only[0], length);
      assertThatThrownBy(() -> readPage(cut)).isInstanceOf(EOFException.class);
    }
  }

  /** In a list out of order, nothing is sure to be found. */
  private static boolean isOrdered(CuckooPage page) {
    try {
      page.verify();
      return true;
    } catch (MalformedFilterException e) {
      return !(page instanceof IdentityListPage);
    }
  }

  private static byte[] expiringPage(int keys) {
    CuckooShape shape = new CuckooShape(20);
    Expiry expiry = new Expiry(1000, false);
    PagedFilter filter = new PagedFilter(shape);
    ExpiringPages pages = new ExpiringPages(shape, expiry);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < keys; i++) {
      expiry.advanceTo(random.nextLong(900));
      filter.insert(pages, random.nextLong());
    }
    return FilterInState.bytes(pages.get(0));
  }

  @ParameterizedTest
  @CsvSource({
    "13, ff, 'number of epochs must be in \\[0, 11\\], got 255'",
    "13, 0c, 'number of epochs must be in \\[0, 11\\], got 12'",
    "14, 8000000000000000, 'slot \\d+ of bucket \\d+ has no epoch 0'",
    "14, 00000000000000fa, 'two epochs must not end at the same instant'",
    // The body ends with the 7 bits of the numbers of bucket 511: 10 and 10, and 6 and 11.
    "-1, f0, 'slot 0 of bucket 511 has no epoch 10'",
    "-1, fe, 'the numbers of the epochs of bucket 511 are not well formed'"
  })
  void aWrongFieldOfAPageThatExpiresIsNamed(int offset, String hex, String message) {
    byte[] bytes = expiringPage(600);
    assertThat(bytes[0]).isEqualTo((byte) 4);
    assertThat(bytes[13]).isEqualTo((byte) 8);
    byte[] field = HexFormat.of().parseHex(hex);
    System.arraycopy(field, 0, bytes, offset < 0 ? bytes.length + offset : offset, field.length);
    assertThatThrownBy(() -> readPage(bytes).verify())
        .isInstanceOf(MalformedFilterException.class)
        .hasMessageMatching(message);
  }

  @Test
  void aWholeFilterWhoseKeysExpireIsRefused() {
    CuckooPage page = CuckooPage.first(new CuckooShape(50), new Expiry(1000, false));
    assertRefused("the keys of page 0 must not expire", page);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0  | 47       | FSCF",
        "4  | 02       | version; [1, 1]; got 2",
        "5  | 13       | identityBits; [20, 57]; got 19",
        "5  | 3a       | identityBits; [20, 57]; got 58",
        "5  | 15       | identityBits of page 0; [21, 21]; got 20",
        "6  | 00000000 | page count; [1, 1073741824]; got 0",
        "6  | ffffffff | page count; [1, 1073741824]; got -1",
        "10 | 05       | page kind; [1, 4]; got 5",
        "11 | 3a       | identityBits; [20, 57]; got 58",
        "12 | 04       | depth; [0, 3]; got 4",
        "13 | 00000001 | prefix; [0, 0]; got 1",
        "17 | ffffffff | count; [0, 1024]; got -1",
        "17 | 00000401 | count; [0, 1024]; got 1025",
        "17 | 00000257 | count; 600; got 599",
        "21 | 0001     | width; [2, 2040]; got 1",
        "21 | 07f9     | width; [2, 2040]; got 2041",
      })
  void aWrongFieldUnderAGoodChecksumIsNamed(int offset, String hex, String facts) {
    byte[] bytes = FilterOnTheHeap.toBytes(filter(600));
    byte[] field = HexFormat.of().parseHex(hex);
    System.arraycopy(field, 0, bytes, offset, field.length);
    seal(bytes);
    assertThatThrownBy(() -> read(bytes))
        .isInstanceOf(MalformedFilterException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  @Test
  void aListOutOfFormIsRefused() {
    byte[] bytes = FilterOnTheHeap.toBytes(filter(3));
    int body = HEADER_BYTES + 11;
    byte[] swapped = bytes.clone();
    // Three identities of 20 bits: the first becomes the largest, then 0, then the padding is set.
    Arrays.fill(swapped, body, body + 2, (byte) 0xff);
    byte[] zero = bytes.clone();
    Arrays.fill(zero, body, body + 2, (byte) 0);
    byte[] padded = bytes.clone();
    padded[body + 7] |= (byte) 0x80;
    for (byte[] forged : List.of(swapped, zero, padded)) {
      seal(forged);
      assertThatThrownBy(() -> read(forged))
          .isInstanceOf(MalformedFilterException.class)
          .hasMessageMatching("identity 0 .* is not well formed|the bits behind .* must be 0");
    }
  }

  private static byte[] filterOf(CuckooPage... pages) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(0x46534346);
      out.writeByte(1);
      out.writeByte(pages[0].shape().identityBits());
      out.writeInt(pages.length);
      for (CuckooPage page : pages) {
        CuckooFormat.writePage(page, out);
      }
      out.writeInt(0);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    byte[] sealed = bytes.toByteArray();
    seal(sealed);
    return sealed;
  }

  private static BucketPage empty(int depth, int prefix) {
    return new BucketPage(new CuckooShape(50), depth, prefix, 2, null);
  }

  @Test
  void pagesMustCoverEveryIdentityOnceAndInOrder() throws IOException {
    assertThat(read(filterOf(empty(1, 0), empty(2, 2), empty(2, 3))).pageCount()).isEqualTo(3);
    String order = "page \\d must follow the previous page, got prefix \\d of depth \\d";
    String cover = "the pages must cover all identities";
    assertRefused(cover, empty(1, 0));
    assertRefused(cover, empty(1, 0), empty(2, 2));
    assertRefused(order, empty(1, 1), empty(1, 0));
    assertRefused(order, empty(1, 1));
    assertRefused(order, empty(1, 0), empty(2, 3));
    assertRefused(order, empty(1, 0), empty(1, 0));
    assertRefused(order, empty(0, 0), empty(1, 1));
    assertRefused(order, empty(1, 0), empty(1, 1), empty(1, 1));
    assertRefused(order, empty(2, 0), empty(1, 0), empty(1, 1));
  }

  private static void assertRefused(String message, CuckooPage... pages) {
    byte[] bytes = filterOf(pages);
    assertThatThrownBy(() -> read(bytes))
        .isInstanceOf(MalformedFilterException.class)
        .hasMessageMatching(message);
  }

  /** 31 pages would want a directory of 2^30 entries. */
  @Test
  void aPageFarDeeperThanTheOthersIsNeitherReadNorWritten() throws IOException {
    List<CuckooPage> pages = new ArrayList<>();
    for (int depth = 1; depth <= 12; depth++) {
      pages.add(empty(depth, (1 << depth) - 2));
    }
    pages.add(empty(12, (1 << 12) - 1));
    assertThat(read(filterOf(pages.toArray(CuckooPage[]::new))).pageCount()).isEqualTo(13);
    pages.remove(12);
    for (int depth = 13; depth <= 30; depth++) {
      pages.add(empty(depth, (1 << depth) - 2));
    }
    pages.add(empty(30, (1 << 30) - 1));
    assertRefused(
        "depth of page 13 must be in \\[0, 13\\], got 14", pages.toArray(CuckooPage[]::new));

    CuckooFilter skewed = new CuckooFilter(new CuckooShape(50));
    new SplittableRandom(SEED).longs(20_000).forEach(key -> skewed.insert(key >>> 18));
    assertThatThrownBy(() -> FilterOnTheHeap.toBytes(skewed))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageMatching("the hashes in this filter are too far from uniform to write it: .*");
  }

  /** The width of 2040 slots and an identity of 57 bits would take 6 MB. */
  @Test
  void aForgedLengthTakesNoMoreMemoryThanTheInput() {
    byte[] widest = new byte[17];
    ByteBuffer.wrap(widest).put((byte) 2).put((byte) 57).put(new byte[9]).putShort((short) 2040);
    assertThat(allocatedBytes(() -> readPage(widest), EOFException.class)).isLessThan(100_000);
    byte[] some = Arrays.copyOf(widest, 1_000_000);
    assertThat(allocatedBytes(() -> readPage(some), EOFException.class)).isLessThan(5_000_000);
    byte[] all = Arrays.copyOf(widest, 13 + 64 * 2040 * 48);
    assertThat(allocatedBytes(() -> assertThat(readPage(all).count()).isZero(), null))
        .isLessThan(3L * all.length);
    byte[] manyPages = new byte[HEADER_BYTES];
    ByteBuffer.wrap(manyPages).putInt(0x46534346).put((byte) 1).put((byte) 57).putInt(1 << 30);
    assertThat(allocatedBytes(() -> read(manyPages), MalformedFilterException.class))
        .isLessThan(100_000);
  }

  private static long allocatedBytes(ThrowingCallable call, Class<?> thrown) {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    Throwable caught = null;
    long before = threads.getCurrentThreadAllocatedBytes();
    try {
      call.call();
    } catch (Throwable e) {
      caught = e;
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    if (thrown == null) {
      assertThat(caught).isNull();
    } else {
      assertThat(caught).isInstanceOf(thrown);
    }
    return allocated;
  }

  @Test
  void aFailureOfTheStreamIsNotTakenForADamagedFilter() throws IOException {
    InputStream closed = InputStream.nullInputStream();
    closed.close();
    assertThatThrownBy(() -> CuckooFilter.readFrom(closed))
        .isExactlyInstanceOf(IOException.class)
        .hasMessage("Stream closed");
  }

  @Test
  void noiseIsRefused() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 1_000; i++) {
      byte[] noise = new byte[random.nextInt(100)];
      random.nextBytes(noise);
      assertThatThrownBy(() -> read(noise)).isInstanceOf(MalformedFilterException.class);
    }
  }

  /** Wider than this filter's pages of long slots ever grow, but not than the format allows. */
  @ParameterizedTest
  @ValueSource(ints = {400, BucketPage.MAX_WIDTH})
  void aVeryWidePageOfLongSlotsIsReadAsItWasWritten(int width) throws IOException {
    CuckooShape shape = new CuckooShape(CuckooShape.MAX_IDENTITY_BITS);
    BucketPage page = new BucketPage(shape, 0, 0, width, null);
    PathSearch search = new PathSearch();
    long[] identities = new SplittableRandom(1).longs(100L * width).map(shape::identity).toArray();
    for (long identity : identities) {
      assertThat(page.insert(identity, 0, search)).isTrue();
    }
    CuckooPage read = readPage(FilterInState.bytes(page));
    read.verify();
    assertThat(FilterInState.bytes(read)).isEqualTo(FilterInState.bytes(page));
    assertThat(LongStream.of(identities).limit(10_000)).allMatch(read::contains);
  }
}
