package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PageTableTest {
  private static final CuckooShape SHAPE = new CuckooShape(40);
  private static final long LOWEST = 0;
  private static final long HIGHEST = (1L << 40) - 1;

  @Test
  void pagesOfDifferentDepthsAreFoundByTheirLeadingBits() {
    PageTable<String> table = new PageTable<>(SHAPE, PageDirectory.first());
    table.set(LOWEST, "all");
    assertThat(table.get(HIGHEST)).isEqualTo("all");
    table.split(LOWEST, "0", "1");
    table.split(LOWEST, "00", "01");
    table.split(LOWEST, "000", "001");
    assertThat(table.get(LOWEST)).isEqualTo("000");
    assertThat(table.get(identity(0b001, 3))).isEqualTo("001");
    assertThat(table.get(identity(0b01, 2))).isEqualTo("01");
    assertThat(table.get(HIGHEST)).isEqualTo("1");
    assertThat(all(table)).containsExactly("000", "001", "01", "1");
    assertThat(table.pageCount()).isEqualTo(4);
    assertThat(table.minDepth()).isEqualTo(1);
    assertThat(table.idOf(identity(0b001, 3))).isEqualTo(0b1001);
    assertThat(table.idOf(HIGHEST)).isEqualTo(0b11);
    assertThat(table.directory().toBytes()).containsExactly(3, 3, 2, 2, 1, 1, 1, 1);
  }

  @Test
  void aWalkMeetsEveryPageOnceAndEndsWhereItBegan() {
    PageTable<String> table = new PageTable<>(SHAPE, PageDirectory.of(new byte[] {2, 2, 1, 1}));
    List<Integer> ids = new ArrayList<>();
    long identity = 0;
    do {
      ids.add(table.idOf(identity));
      identity = table.nextPage(identity);
    } while (identity != 0);
    assertThat(ids).containsExactly(0b100, 0b101, 0b11);
  }

  @Test
  void whatIsForgottenIsNotVisitedAndCanBeSetAgain() {
    PageTable<String> table = new PageTable<>(SHAPE, PageDirectory.of(new byte[] {2, 2, 1, 1}));
    table.set(HIGHEST, "1");
    table.set(LOWEST, "00");
    assertThat(table.get(identity(0b01, 2))).isNull();
    assertThat(all(table)).containsExactly("00", "1");
    table.set(HIGHEST, null);
    assertThat(all(table)).containsExactly("00");
    table.set(identity(0b10, 2), "1");
    assertThat(table.get(HIGHEST)).isEqualTo("1");
  }

  @Test
  void itAgreesWithAMapOfPrefixesUnderRandomSplitsAndMerges() {
    SplittableRandom random = new SplittableRandom(7);
    PageTable<Long> table = new PageTable<>(SHAPE, PageDirectory.first());
    table.set(LOWEST, LOWEST);
    Map<Long, Integer> depthByFirst = new TreeMap<>(Map.of(LOWEST, 0));
    for (int split = 0; split < 400; split++) {
      if (split % 100 > 70) {
        merge(table, depthByFirst, random);
        continue;
      }
      long identity = random.nextLong(1L << 40);
      long first = table.get(identity);
      int depth = depthByFirst.get(first);
      long middle = first + (1L << (40 - depth - 1));
      table.split(identity, first, middle);
      depthByFirst.put(first, depth + 1);
      depthByFirst.put(middle, depth + 1);
    }
    assertThat(all(table)).containsExactlyElementsOf(depthByFirst.keySet());
    depthByFirst.forEach(
        (first, depth) -> {
          long last = first + (1L << (40 - depth)) - 1;
          assertThat(table.get(last)).isEqualTo(first);
          assertThat(table.idOf(last)).isEqualTo((int) (1L << depth | first >>> (40 - depth)));
        });
    PageTable<Long> read = new PageTable<>(SHAPE, table.directory());
    assertThat(read.directory().toBytes()).isEqualTo(table.directory().toBytes());
    assertThat(read.pageCount()).isEqualTo(depthByFirst.size());
    assertThat(table.minDepth()).isEqualTo(Collections.min(depthByFirst.values()));
    while (depthByFirst.size() > 1) {
      merge(table, depthByFirst, random);
    }
    assertThat(table.directory().toBytes()).containsExactly(0);
    assertThat(table.heapBytes())
        .isEqualTo(new PageTable<>(SHAPE, PageDirectory.first()).heapBytes());
    assertThat(all(table)).containsExactly(LOWEST);
  }

  /** Merges a page with its sibling, if both exist. */
  private static void merge(
      PageTable<Long> table, Map<Long, Integer> depthByFirst, SplittableRandom random) {
    List<Long> firsts = new ArrayList<>(depthByFirst.keySet());
    long first = firsts.get(random.nextInt(firsts.size()));
    int depth = depthByFirst.get(first);
    long sibling = SHAPE.sibling(first, depth);
    if (depth > 0 && Objects.equals(depthByFirst.get(sibling), depth)) {
      long low = Math.min(first, sibling);
      table.merge(first, low);
      depthByFirst.remove(Math.max(first, sibling));
      depthByFirst.put(low, depth - 1);
    }
  }

  private static long identity(int prefix, int depth) {
    return (long) prefix << (40 - depth);
  }

  private static <E> List<E> all(PageTable<E> table) {
    List<E> all = new ArrayList<>();
    table.forEach(all::add);
    return all;
  }
}
