package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages and the log of their changes give the bytes of the changed pages. */
class LogSegmentTest {
  private static final long TTL = 8_000;
  private static final int CHECKED_STEP = Integer.getInteger("firstseen.scale", 1) == 1 ? 3 : 1;

  /** Pages, their bytes when they were last written, and the log since. */
  private static final class LoggedPages implements PageStore {
    private final PagedFilter filter;
    private final CuckooShape shape;
    private final @Nullable Expiry expiry;
    private final PageTable<CuckooPage> pages;
    private final List<byte[]> written = new ArrayList<>();
    private LogSegments log = new LogSegments();
    private final OpenSegment open;
    private int leastDepth;
    private int splits;
    private int shrinks;
    private int merges;
    private int logBytes;

    LoggedPages(PagedFilter filter, @Nullable Expiry expiry) {
      this.filter = filter;
      this.shape = filter.shape();
      this.expiry = expiry;
      this.pages = new PageTable<>(shape, PageDirectory.first());
      this.open = new OpenSegment(shape, 0);
      pages.set(0, CuckooPage.first(shape, expiry));
      writeAll();
    }

    @Override
    public @Nullable Expiry expiry() {
      return expiry;
    }

    @Override
    public CuckooPage get(long identity) {
      return pages.get(identity);
    }

    @Override
    public void put(long identity, CuckooPage page) {
      pages.set(identity, page);
      shrinks++;
      writeAll();
    }

    @Override
    public void merge(long identity, CuckooPage merged) {
      pages.merge(identity, merged);
      shrinks++;
      writeAll();
    }

    @Override
    public void put(long identity, CuckooPage page, PageChange change) {
      pages.set(identity, page);
      if (!open.add(change, identity, expiry)) {
        seal();
        assertThat(open.add(change, identity, expiry)).isTrue();
      }
    }

    @Override
    public void split(long identity, CuckooPage low, CuckooPage high) {
      pages.split(identity, low, high);
      splits++;
    }

    void seal() {
      if (open.count() > 0) {
        byte[] bytes = open.seal().toBytes();
        logBytes += bytes.length;
        int before = log.all().size();
        log.add(read(shape, bytes), leastDepth);
        merges += log.all().size() <= before ? 1 : 0;
      }
    }

    void writeAll() {
      written.clear();
      log = new LogSegments();
      pages.forEach(page -> written.add(FilterInState.bytes(page)));
      leastDepth = pages.minDepth();
      open.clear(leastDepth);
    }

    /** The pages of state after the changes of the log. */
    List<byte[]> replayed() {
      List<byte[]> replayed = new ArrayList<>();
      for (byte[] bytes : written) {
        CuckooPage page = ExpiringPages.read(bytes);
        LogReplay replay = replay(bytes, page.id());
        assertThat(replay.changes() > 0 || replay.pages().size() == 1).isTrue();
        long first = page.firstIdentity();
        if (replay.changes() > 0) {
          assertThat(open.mayChange(first) || log.mayChange(first)).isTrue();
        }
        for (CuckooPage after : replay.pages()) {
          replayed.add(FilterInState.bytes(after));
          // A page that was split is also loaded without its sibling.
          if (after.id() != page.id()) {
            assertThat(replay(bytes, after.id()).pages())
                .map(FilterInState::bytes)
                .containsExactly(FilterInState.bytes(after));
          }
        }
      }
      return replayed;
    }

    private LogReplay replay(byte[] bytes, int needed) {
      LogReplay replay = new LogReplay(filter, ExpiringPages.read(bytes), needed);
      replay.repeat(log);
      replay.repeat(open);
      return replay;
    }

    List<CuckooPage> all() {
      List<CuckooPage> all = new ArrayList<>();
      pages.forEach(all::add);
      return all;
    }

    List<byte[]> now() {
      List<byte[]> now = new ArrayList<>();
      pages.forEach(page -> now.add(FilterInState.bytes(page)));
      return now;
    }
  }

  private static LogSegment read(CuckooShape shape, byte[] bytes) {
    try {
      return LogSegment.of(shape, bytes);
    } catch (MalformedFilterException e) {
      throw new AssertionError(e);
    }
  }

  /** Short identities: pages hold copies, saturate, widen beyond 8 slots, and split. */
  @ParameterizedTest
  @CsvSource({
    "20, false, false, 4",
    "30, false, false, 1",
    "57, false, false, 2",
    "20, true, false, 4",
    "30, true, true, 1",
    "57, true, true, 2"
  })
  void aReplayGivesTheBytesOfTheChangedPages(
      int identityBits, boolean expiring, boolean sinceLastSeen, int deletesOf16) {
    SplittableRandom random = new SplittableRandom(identityBits);
    Expiry expiry = expiring ? new Expiry(TTL, sinceLastSeen) : null;
    PagedFilter filter = new PagedFilter(new CuckooShape(identityBits));
    LoggedPages pages = new LoggedPages(filter, expiry);
    List<Long> hashes = new ArrayList<>();
    long now = 0;
    int longest = 0;
    for (int step = 1; step <= 160; step++) {
      int events = random.nextInt(1, 1_500);
      boolean shrinking = step % 80 > 40;
      for (int i = 0; i < events; i++) {
        if (expiring && random.nextInt(200) == 0) {
          now += random.nextInt(500);
          expiry.advanceTo(now);
        }
        if (expiring) {
          expiry.keysOf(now + random.nextInt(-500, 1_500));
        }
        long hash =
            !hashes.isEmpty() && random.nextInt(4) == 0
                ? hashes.get(random.nextInt(hashes.size()))
                : random.nextLong();
        int kind = random.nextInt(16);
        if (shrinking && kind < 14 && !hashes.isEmpty()) {
          Collections.swap(hashes, random.nextInt(hashes.size()), hashes.size() - 1);
          boolean unused = filter.delete(pages, hashes.remove(hashes.size() - 1));
          continue;
        } else if (kind < deletesOf16) {
          boolean unused = filter.delete(pages, hash);
        } else if (kind < 12) {
          InsertionResult unused = filter.insertIfAbsent(pages, hash);
        } else {
          InsertionResult unused = filter.insert(pages, hash);
        }
        hashes.add(hash);
      }
      if (random.nextBoolean()) {
        pages.seal();
      }
      longest = Math.max(longest, pages.log.all().size());
      if (step % CHECKED_STEP == 0) {
        assertThat(pages.replayed()).containsExactlyElementsOf(pages.now());
      }
      if (random.nextInt(12) == 0) {
        pages.writeAll();
      }
      if (expiring && random.nextInt(4) == 0) {
        for (CuckooPage page : pages.all()) {
          boolean unused = filter.expire(pages, pages.get(page.firstIdentity()));
        }
      }
    }
    assertThat(pages.splits).isGreaterThan(expiring ? 0 : 3);
    assertThat(pages.shrinks).isGreaterThan(expiring ? 1 : 3);
    assertThat(longest).isGreaterThan(5);
    assertThat(pages.merges).isGreaterThan(1);
  }

  /**
   * At 30 bits, a segment of a thousand changes has 22.5 bits each, and 9 bits for the header.
   * There are so many pages that the latest changes are found by their leading bits.
   */
  @Test
  void anInsertionTakesLessThanItsIdentity() {
    PagedFilter filter = new PagedFilter(new CuckooShape(30));
    LoggedPages pages = new LoggedPages(filter, null);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 2_000_000; i++) {
      InsertionResult unused = filter.insertIfAbsent(pages, random.nextLong());
    }
    pages.writeAll();
    int before = pages.logBytes;
    for (int i = 0; i < 10_000; i++) {
      InsertionResult unused = filter.insert(pages, random.nextLong());
      if (i == 9_200 || i == 9_999) {
        assertThat(pages.open.count()).isBetween(900, 2_000);
        assertThat(pages.replayed()).containsExactlyElementsOf(pages.now());
      }
    }
    pages.seal();
    assertThat((pages.logBytes - before) / 10_000.0).isBetween(2.8, 3.1);
  }

  /** A page looks into few segments, and into few changes of each. */
  @ParameterizedTest
  @ValueSource(ints = {1, 20, 100, 2_500, 3_906, 4_096, 10_000})
  void smallSegmentsAreMerged(int changesPerSave) {
    SavedChanges changes = new SavedChanges();
    changes.save(200_000 / changesPerSave, changesPerSave);
    assertThat(changes.log.all()).hasSizeLessThan(30);
    assertThat(changes.log.all().get(0).count()).isGreaterThan(1_000);
    assertThat(changes.log.all().get(0).groupBits()).isEqualTo(SavedChanges.DEPTH);
    assertThat(changes.log.length())
        .isEqualTo(changes.log.all().stream().mapToInt(LogSegment::length).sum());
    assertThat(changes.open.add(PageChange.REMOVAL, 1L << 34, null)).isTrue();
    assertThat(changes.open.mayChange(1L << 34)).isTrue();
    assertThat(changes.open.mayChange(1L << 33)).isFalse();
  }

  /** Seven segments of 96,000 changes are followed by smaller ones, which become larger. */
  @Test
  void largeSegmentsAreNotMerged() {
    SavedChanges changes = new SavedChanges();
    changes.save(7 * 64, 1_500);
    assertThat(changes.log.all()).hasSize(7);
    changes.save(64, LogSegment.MAX_COUNT);
    assertThat(changes.log.all()).allMatch(segment -> segment.count() < 8 << 16);
  }

  @Test
  void aFullSegmentRejectsAChangeWithoutAnEffect() {
    Expiry expiry = new Expiry(TTL, false);
    OpenSegment open = new OpenSegment(new CuckooShape(30), 0);
    for (int i = 0; i < LogSegment.MAX_COUNT; i++) {
      assertThat(open.add(PageChange.INSERTION, i, expiry)).isTrue();
    }
    int before = open.heapBytes();
    expiry.keysOf(100 * TTL);
    assertThat(open.add(PageChange.INSERTION, 1, expiry)).isFalse();
    assertThat(open.heapBytes()).isEqualTo(before);
  }

  private static final class SavedChanges {
    static final int DEPTH = 10;

    private final OpenSegment open = new OpenSegment(new CuckooShape(35), DEPTH);
    private final LogSegments log = new LogSegments();
    private final SplittableRandom random = new SplittableRandom(20);

    void save(int times, int changes) {
      for (int i = 0; i < times; i++) {
        for (int j = 0; j < changes; j++) {
          long identity = random.nextLong(1L << 35);
          if (!open.add(PageChange.INSERTION, identity, null)) {
            log.add(open.seal(), DEPTH);
            assertThat(open.add(PageChange.INSERTION, identity, null)).isTrue();
          }
        }
        log.add(open.seal(), DEPTH);
      }
    }
  }

  @Test
  void refusesBytesThatAreNotASegment() {
    CuckooShape shape = new CuckooShape(30);
    OpenSegment open = new OpenSegment(shape, 9);
    for (int i = 1; i < 50; i++) {
      assertThat(open.add(PageChange.INSERTION, (long) i << 20 | 1 << 9, null)).isTrue();
    }
    byte[] good = open.seal().toBytes();
    assertThat(read(shape, good).toBytes()).isEqualTo(good);
    assertThatThrownBy(() -> LogSegment.of(new CuckooShape(31), good))
        .isInstanceOf(MalformedFilterException.class)
        .hasMessageContainingAll("identityBits of the log segment", "[31, 31]", "30");
    for (int length = 0; length < good.length; length++) {
      byte[] cut = java.util.Arrays.copyOf(good, length);
      assertThatThrownBy(() -> LogSegment.of(shape, cut))
          .isInstanceOf(MalformedFilterException.class);
    }
    SplittableRandom random = new SplittableRandom(2);
    int refused = 0;
    for (int i = 0; i < 2_000; i++) {
      byte[] damaged = good.clone();
      damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      try {
        assertThat(LogSegment.of(shape, damaged).toBytes()).isEqualTo(damaged);
      } catch (MalformedFilterException e) {
        refused++;
      }
    }
    assertThat(refused).isBetween(200, 1_500);
  }
}
