package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files that were written once, on Java 17. The same operations must give the same bytes, a reader
 * must accept them, and a second reader, written from the specification alone, must find the
 * inserted keys. A change of the bytes is a new format version with its own files.
 */
class CuckooGoldenTest {
  private static final String DIRECTORY = "golden-v1/";

  /** Writes the files into a directory; for a new version of the format. */
  public static void main(String[] args) throws IOException {
    Path directory = Files.createDirectories(Path.of(args[0]));
    for (Map.Entry<String, byte[]> file : files().entrySet()) {
      Files.write(directory.resolve(file.getKey()), file.getValue());
    }
  }

  private static Map<String, byte[]> files() {
    Map<String, byte[]> files = new LinkedHashMap<>();
    files.put("list-empty.page", FilterInState.bytes(CuckooPage.first(new CuckooShape(30), null)));
    files.put("list.page", page(new IdentityListPage(new CuckooShape(33), null), 50));
    files.put("buckets-2-wide.page", page(new BucketPage(new CuckooShape(57), 0, 0, 2, null), 700));
    files.put(
        "buckets-5-wide.page", page(new BucketPage(new CuckooShape(29), 7, 85, 5, null), 2_400));
    files.put(
        "buckets-11-wide.page", page(new BucketPage(new CuckooShape(20), 3, 5, 11, null), 5_000));
    files.put(
        "expiring-list.page",
        expiring(new IdentityListPage(new CuckooShape(57), Epochs.NONE), 50, 60_000));
    files.put(
        "expiring-buckets-narrowed.page",
        expiring(new BucketPage(new CuckooShape(29), 7, 85, 3, Epochs.NONE), 1_300, 60_000));
    files.put(
        "expiring-buckets-11-wide.page",
        expiring(new BucketPage(new CuckooShape(20), 3, 5, 11, Epochs.NONE), 5_000, 500));
    files.put("list.filter", FilterOnTheHeap.toBytes(filter(40, 3)));
    files.put("buckets.filter", FilterOnTheHeap.toBytes(filter(22, 6_000)));
    files.put("insertions.segment", segment(30, 5, 300, null));
    files.put("expiring.segment", segment(57, 0, 60, new Expiry(3_600_000, true)));
    return files;
  }

  /** Changes of hashes in turn, with instants that differ after 21 and 42 changes. */
  private static List<long[]> changes(int identityBits, int count, boolean expiring) {
    CuckooShape shape = new CuckooShape(identityBits);
    long[] hashes = hashes(shape, 0, 0, count);
    List<long[]> changes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int kind = expiring ? i % 4 : i % 3 == 2 ? 1 : 0;
      long identity = kind == 3 ? 0 : shape.identity(hashes[i]);
      long now = 450_000L * (i / 21 + 10);
      changes.add(
          expiring
              ? new long[] {kind, identity, now - 3_600_000, now - 7_200_000, now + 900_000}
              : new long[] {kind, identity});
    }
    return changes;
  }

  private static byte[] segment(int identityBits, int depth, int count, Expiry expiry) {
    OpenSegment open = new OpenSegment(new CuckooShape(identityBits), depth);
    for (long[] change : changes(identityBits, count, expiry != null)) {
      if (expiry != null) {
        expiry.advanceTo(change[2] + 3_600_000);
        expiry.keysOf(change[4] - 1);
      }
      if (!open.add(PageChange.of((int) change[0]), change[1], expiry)) {
        throw new IllegalStateException("the segment has no room for " + count);
      }
    }
    return open.seal().toBytes();
  }

  /** The hashes in a file: the first one four times, every twentieth with a core of 0. */
  private static long[] hashes(CuckooShape shape, int depth, int prefix, int count) {
    SplittableRandom random = new SplittableRandom(count);
    long[] hashes = new long[count];
    for (int i = 0; i < count; i++) {
      long hash = random.nextLong() >>> depth | (depth == 0 ? 0 : (long) prefix << -depth);
      if (i % 20 == 9) {
        hash &= ~(255L << (64 + 9 - shape.identityBits()));
      }
      hashes[i] = i > 0 && i < 4 ? hashes[0] : hash;
    }
    return hashes;
  }

  private static byte[] page(CuckooPage page, int count) {
    PathSearch search = new PathSearch();
    for (long hash : hashes(page.shape(), page.depth(), page.prefix(), count)) {
      if (!page.insert(page.shape().identity(hash), 0, search)) {
        throw new IllegalStateException("the page has no room for " + count);
      }
    }
    return FilterInState.bytes(page);
  }

  /** An hour to live. */
  private static byte[] expiring(CuckooPage page, int count, long millisApart) {
    PathSearch search = new PathSearch();
    Expiry expiry = new Expiry(3_600_000, false);
    CuckooPage left = page;
    long now = 0;
    for (long hash : hashes(page.shape(), page.depth(), page.prefix(), count)) {
      expiry.advanceTo(now);
      now += millisApart;
      if (expiry.isDue(left.epochs.oldest)) {
        left = left.expire(expiry, search);
      }
      int number = left.number(expiry);
      if (!left.insert(page.shape().identity(hash), number, search)) {
        throw new IllegalStateException("the page has no room for " + count);
      }
    }
    return FilterInState.bytes(left);
  }

  /** Inserts twice as many keys as count, and deletes every other key. */
  private static CuckooFilter filter(int identityBits, int count) {
    CuckooFilter filter = new CuckooFilter(new CuckooShape(identityBits));
    long[] hashes = hashes(filter.shape(), 0, 0, 2 * count);
    for (long hash : hashes) {
      filter.insert(hash);
    }
    for (int i = 1; i < hashes.length; i += 2) {
      filter.delete(hashes[i]);
    }
    return filter;
  }

  @Test
  void theSameOperationsGiveTheGoldenBytes() throws IOException {
    for (Map.Entry<String, byte[]> file : files().entrySet()) {
      assertThat(file.getValue()).as(file.getKey()).isEqualTo(resource(file.getKey()));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "list-empty.page, 30, 0, 0, 0",
    "list.page, 33, 0, 0, 50",
    "buckets-2-wide.page, 57, 0, 0, 700",
    "buckets-5-wide.page, 29, 7, 85, 2400",
    "buckets-11-wide.page, 20, 3, 5, 5000"
  })
  void theReaderAcceptsTheGoldenPages(
      String name, int identityBits, int depth, int prefix, int count) throws IOException {
    byte[] golden = resource(name);
    CuckooPage page = CuckooFormat.readPage(new DataInputStream(new ByteArrayInputStream(golden)));
    page.verify();
    assertThat(page.shape().identityBits()).isEqualTo(identityBits);
    assertThat(page.depth()).isEqualTo(depth);
    assertThat(page.prefix()).isEqualTo(prefix);
    assertThat(page.count()).isEqualTo(count);
    Map<Long, Integer> expected = new TreeMap<>();
    for (long hash : hashes(page.shape(), depth, prefix, count)) {
      assertThat(page.contains(page.shape().identity(hash))).isTrue();
      expected.merge(SpecifiedPages.identity(identityBits, hash), 1, Integer::sum);
    }
    Map<Long, Integer> specified = new TreeMap<>();
    SpecifiedPages.addPage(ByteBuffer.wrap(golden), specified);
    assertThat(specified).isEqualTo(expected);
    assertThat(FilterInState.bytes(page)).isEqualTo(golden);
  }

  @ParameterizedTest
  @CsvSource({
    "expiring-list.page, 57, 0, 0, 50, 60000",
    "expiring-buckets-narrowed.page, 29, 7, 85, 1300, 60000",
    "expiring-buckets-11-wide.page, 20, 3, 5, 5000, 500"
  })
  void theReaderAcceptsTheGoldenPagesThatExpire(
      String name, int identityBits, int depth, int prefix, int inserted, long millisApart)
      throws IOException {
    byte[] golden = resource(name);
    CuckooPage page = ExpiringPages.read(golden);
    page.verify();
    Map<Long, Integer> expected = new TreeMap<>();
    Map<Long, List<Long>> expectedEnds = new TreeMap<>();
    long[] hashes = hashes(page.shape(), depth, prefix, inserted);
    long epoch = 450_000;
    for (int i = 0; i < inserted; i++) {
      long end = millisApart * i / epoch * epoch + epoch;
      if (end + 8 * epoch > millisApart * (inserted - 1) / epoch * epoch) {
        long identity = SpecifiedPages.identity(identityBits, hashes[i]);
        expected.merge(identity, 1, Integer::sum);
        expectedEnds.computeIfAbsent(identity, key -> new ArrayList<>()).add(end);
      }
    }
    assertThat(page.count()).isEqualTo(expected.values().stream().mapToInt(n -> n).sum());
    Map<Long, Integer> specified = new TreeMap<>();
    Map<Long, List<Long>> ends = new TreeMap<>();
    SpecifiedPages.addPage(ByteBuffer.wrap(golden), specified, ends);
    assertThat(specified).isEqualTo(expected);
    ends.values().forEach(Collections::sort);
    assertThat(ends).isEqualTo(expectedEnds);
    assertThat(FilterInState.bytes(page)).isEqualTo(golden);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "list.filter",
        "buckets.filter",
        "buckets-split-by-insertion.filter",
        "buckets-searched-longer.filter",
        "buckets-not-narrowed.filter"
      })
  void theReaderAcceptsTheGoldenFilters(String name) throws IOException {
    byte[] golden = resource(name);
    CuckooFilter filter = CuckooFilter.readFrom(new ByteArrayInputStream(golden));
    assertThat(FilterOnTheHeap.toBytes(filter)).isEqualTo(golden);
    Map<Long, Integer> specified = SpecifiedPages.identities(golden);
    assertThat(filter.count()).isEqualTo(specified.values().stream().mapToInt(n -> n).sum());
    for (long identity : specified.keySet()) {
      assertThat(filter.mightContain(identity << (64 - filter.shape().identityBits()))).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"insertions.segment, 30, 5, 300, false", "expiring.segment, 57, 0, 60, true"})
  void theReaderAcceptsTheGoldenSegments(
      String name, int identityBits, int groupBits, int count, boolean expiring)
      throws IOException {
    byte[] golden = resource(name);
    assertThat(LogSegment.of(new CuckooShape(identityBits), golden).toBytes()).isEqualTo(golden);
    List<long[]> expected = new ArrayList<>(changes(identityBits, count, expiring));
    expected.sort(Comparator.comparingLong(change -> change[1] >>> (identityBits - groupBits)));
    assertThat(SpecifiedPages.changes(golden))
        .usingElementComparator(Arrays::compare)
        .containsExactlyElementsOf(expected);
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = CuckooGoldenTest.class.getResourceAsStream(DIRECTORY + name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }
}
