package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CuckooFilterTest {
  private static final long SEED = 20261120;

  @ParameterizedTest
  @CsvSource({"1000000, 0.01", "1000000, 0.001", "100000, 0.0001", "50, 0.1"})
  void theRateFollowsTheLawAtAnyFillAndAfterDeletingHalf(long capacity, double rate) {
    CuckooFilter filter = CuckooFilter.forCapacity(capacity, rate);
    SplittableRandom keys = new SplittableRandom(SEED);
    List<Long> inserted = new ArrayList<>();
    for (long target : new long[] {capacity / 8, capacity, 2 * capacity}) {
      while (filter.count() < target) {
        long hash = keys.nextLong();
        assertThat(filter.insert(hash)).isEqualTo(Insertion.STORED);
        inserted.add(hash);
      }
      assertRateFollowsTheLaw(filter);
    }
    for (int i = 0; i < inserted.size(); i += 2) {
      assertThat(filter.delete(inserted.get(i))).isTrue();
    }
    assertRateFollowsTheLaw(filter);
    for (int i = 1; i < inserted.size(); i += 2) {
      assertThat(filter.mightContain(inserted.get(i))).isTrue();
    }
  }

  private static void assertRateFollowsTheLaw(CuckooFilter filter) {
    int probes = 1_000_000;
    SplittableRandom strangers = new SplittableRandom(SEED + 1);
    int found = 0;
    for (int i = 0; i < probes; i++) {
      found += filter.mightContain(strangers.nextLong()) ? 1 : 0;
    }
    double expected = filter.predictedFalsePositiveRate() * probes;
    assertThat((double) found)
        .as("false positives of %d probes at %d keys", probes, filter.count())
        .isBetween(expected - 5 * Math.sqrt(expected) - 3, expected + 5 * Math.sqrt(expected) + 3);
  }

  @Test
  void growsFarPastTheEstimateWithoutAFalseNegative() {
    CuckooFilter filter = CuckooFilter.forCapacity(1000, 0.01);
    SplittableRandom keys = new SplittableRandom(SEED);
    for (int i = 0; i < 100_000; i++) {
      assertThat(filter.insert(keys.nextLong())).isNotEqualTo(Insertion.PRESENT);
    }
    keys = new SplittableRandom(SEED);
    for (int i = 0; i < 100_000; i++) {
      assertThat(filter.mightContain(keys.nextLong())).isTrue();
    }
  }

  @Test
  void usesItsSlotsWellWhileItGrows() {
    CuckooFilter filter = CuckooFilter.forCapacity(1_000_000, 0.001);
    SplittableRandom keys = new SplittableRandom(SEED);
    double sum = 0;
    double least = 1;
    int samples = 0;
    for (int i = 1; i <= 1_000_000; i++) {
      filter.insert(keys.nextLong());
      if (i >= 20_000 && i % 5_000 == 0) {
        sum += filter.load();
        least = Math.min(least, filter.load());
        samples++;
      }
    }
    assertThat(sum / samples).isGreaterThan(0.88);
    assertThat(least).isGreaterThan(0.78);
  }

  @Test
  void aFilterOfAHundredKeysIsSmall() {
    CuckooFilter filter = CuckooFilter.forCapacity(100, 0.001);
    SplittableRandom keys = new SplittableRandom(SEED);
    for (int i = 0; i < 100; i++) {
      filter.insert(keys.nextLong());
    }
    assertThat(filter.sizeBytes()).isLessThan(600);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 400, 3_000, 50_000})
  void aHotKeyGrowsNothing(int others) {
    CuckooFilter filter = CuckooFilter.forCapacity(100_000, 0.001);
    SplittableRandom keys = new SplittableRandom(SEED);
    for (int i = 0; i < others; i++) {
      filter.insert(keys.nextLong());
    }
    long hot = keys.nextLong();
    for (int i = 0; i < CuckooPage.MAX_COPIES; i++) {
      assertThat(filter.insert(hot)).isEqualTo(Insertion.STORED);
    }
    List<byte[]> before = pageBytes(filter);
    for (int i = 0; i < 10_000; i++) {
      assertThat(filter.insert(hot)).isEqualTo(Insertion.SATURATED);
    }
    assertThat(pageBytes(filter)).containsExactlyElementsOf(before);
    for (int i = 0; i < CuckooPage.MAX_COPIES; i++) {
      assertThat(filter.mightContain(hot)).isTrue();
      assertThat(filter.delete(hot)).isTrue();
    }
    assertThat(filter.count()).isEqualTo(others);
  }

  @Test
  void manyHotKeysInAFullPageFindTheirPlace() {
    CuckooFilter filter = new CuckooFilter(new CuckooShape(CuckooShape.MIN_IDENTITY_BITS));
    SplittableRandom keys = new SplittableRandom(SEED);
    for (int i = 0; i < 20_000; i++) {
      long hash = keys.nextLong();
      for (int copy = 0; copy < 8; copy++) {
        filter.insert(hash);
      }
      assertThat(filter.mightContain(hash)).isTrue();
    }
  }

  @Test
  void agreesWithAModelUnderAMillionRandomOperations() throws IOException {
    CuckooFilter filter = new CuckooFilter(new CuckooShape(21));
    Map<Long, Integer> live = new HashMap<>();
    List<Long> order = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 1_000_000; i++) {
      int choice = random.nextInt(100);
      boolean growing = (i / 100_000) % 3 != 2;
      if (order.isEmpty() || choice < (growing ? 55 : 25)) {
        long hash =
            !order.isEmpty() && random.nextInt(20) == 0
                ? order.get(random.nextInt(order.size()))
                : random.nextLong();
        Insertion insertion = filter.insert(hash);
        if (insertion == Insertion.STORED) {
          live.merge(hash, 1, Integer::sum);
          order.add(hash);
        } else {
          assertThat(insertion).isEqualTo(Insertion.SATURATED);
        }
      } else if (choice < 90) {
        int at = random.nextInt(order.size());
        long hash = order.get(at);
        order.set(at, order.get(order.size() - 1));
        order.remove(order.size() - 1);
        assertThat(filter.delete(hash)).isTrue();
        live.computeIfPresent(hash, (key, copies) -> copies == 1 ? null : copies - 1);
      } else {
        assertThat(filter.mightContain(order.get(random.nextInt(order.size())))).isTrue();
      }
      assertThat(filter.count()).isEqualTo(order.size());
      if (i % 50_000 == 0) {
        CuckooFilter copy = filter.copy();
        List<byte[]> before = pageBytes(copy);
        for (long hash : order.subList(0, order.size() / 2)) {
          assertThat(filter.delete(hash)).isTrue();
        }
        assertThat(pageBytes(copy)).containsExactlyElementsOf(before);
        filter = restored(copy);
        assertThat(pageBytes(filter)).containsExactlyElementsOf(before);
      }
      if (i % 100_000 == 0) {
        for (long hash : live.keySet()) {
          assertThat(filter.mightContain(hash)).isTrue();
        }
      }
    }
    for (long hash : order) {
      assertThat(filter.delete(hash)).isTrue();
    }
    filter.forEachPage(
        page -> {
          assertThat(page.count()).isZero();
          assertThat(page.body).containsOnly(0);
        });
  }

  @Test
  void theSameOperationsGiveTheSameBytes() {
    assertThat(pageBytes(filled(30_000))).containsExactlyElementsOf(pageBytes(filled(30_000)));
  }

  @Test
  void anInsertionThatFindsNoPathLeavesTheBytesAsTheyWere() throws IOException {
    CuckooShape shape = new CuckooShape(30);
    PathSearch search = new PathSearch();
    double worst = 1;
    for (int run = 0; run < 20; run++) {
      SplittableRandom keys = new SplittableRandom(SEED + run);
      BucketPage page = new BucketPage(shape, 0, 0, 4);
      byte[] before = page.body.clone();
      while (page.insert(shape.identity(keys.nextLong()), search)) {
        before = page.body.clone();
      }
      assertThat(page.body).isEqualTo(before);
      page.verify();
      worst = Math.min(worst, (double) page.count() / page.slots());
    }
    assertThat(worst).isGreaterThan(0.94);
  }

  @Test
  void refusesDamagedPagesOrReadsAPageThatAnswers() throws IOException {
    for (byte[] good : List.of(pageBytes(filled(20)).get(0), pageBytes(filled(600)).get(0))) {
      for (int length = 0; length < good.length; length++) {
        byte[] cut = java.util.Arrays.copyOf(good, length);
        assertThatThrownBy(() -> read(cut)).isInstanceOf(IOException.class);
      }
      for (int bit = 0; bit < Math.min(good.length, 60) * 8; bit++) {
        byte[] flipped = good.clone();
        flipped[bit >> 3] ^= (byte) (1 << (bit & 7));
        try {
          CuckooPage page = read(flipped);
          page.contains(page.shape().identity(SEED));
          page.verify();
        } catch (IOException refused) {
          assertThat(refused)
              .isInstanceOfAny(MalformedFilterException.class, java.io.EOFException.class);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 0.01, expectedKeys", "10, 0, falsePositiveRate", "10, 0.2, falsePositiveRate"})
  void refusesParametersOutOfBounds(long capacity, double rate, String name) {
    assertThatThrownBy(() -> CuckooFilter.forCapacity(capacity, rate))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining("got");
  }

  private static CuckooFilter filled(int keys) {
    CuckooFilter filter = CuckooFilter.forCapacity(10_000, 0.001);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < keys; i++) {
      filter.insert(random.nextLong());
    }
    return filter;
  }

  private static List<byte[]> pageBytes(CuckooFilter filter) {
    List<byte[]> pages = new ArrayList<>();
    filter.forEachPage(page -> pages.add(bytes(page)));
    return pages;
  }

  private static byte[] bytes(CuckooPage page) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      CuckooFormat.writePage(page, new DataOutputStream(bytes));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return bytes.toByteArray();
  }

  private static CuckooPage read(byte[] bytes) throws IOException {
    return CuckooFormat.readPage(new DataInputStream(new ByteArrayInputStream(bytes)));
  }

  private static CuckooFilter restored(CuckooFilter filter) throws IOException {
    HeapPages pages = new HeapPages(filter.shape());
    for (byte[] bytes : pageBytes(filter)) {
      CuckooPage page = read(bytes);
      page.verify();
      pages.place(page);
      pages.count += page.count();
    }
    return new CuckooFilter(filter.shape(), pages);
  }
}
