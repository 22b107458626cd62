package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.cuckoo.ExpiryModel.Mistake;
import io.firstseen.filters.cuckoo.ExpiryModel.Plan;
import java.util.Arrays;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExpiryTest {
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);
  private static final long HOUR = 3_600_000;
  private static final CuckooShape SHAPE = new CuckooShape(57);

  @Property(tries = 60, seed = "20261120")
  void noKeyGoesEarlyAndNoneStaysPastItsBound(
      @ForAll long seed,
      @ForAll @IntRange(min = 10, max = 3_000) int keys,
      @ForAll @LongRange(min = 1_000, max = 100_000_000) long ttlMillis,
      @ForAll boolean sinceLastSeen,
      @ForAll @DoubleRange(min = 0, max = 2) double aheadEpochs,
      @ForAll boolean changingTtl) {
    Plan plan = new Plan(keys, ttlMillis, sinceLastSeen, aheadEpochs, changingTtl);
    new ExpiryModel(plan, Mistake.NONE, seed).run(10_000);
  }

  /** As of a partition that lags: a page then has more epochs than it can tell apart. */
  @Property(tries = 30, seed = "20261121")
  void noKeyGoesEarlyIfItsTimeIsFarAhead(
      @ForAll long seed,
      @ForAll @IntRange(min = 10, max = 3_000) int keys,
      @ForAll boolean sinceLastSeen,
      @ForAll @DoubleRange(min = 3, max = 40) double aheadEpochs) {
    Plan plan = new Plan(keys, HOUR, sinceLastSeen, aheadEpochs, false);
    new ExpiryModel(plan, Mistake.NONE, seed).run(10_000);
  }

  /** Pages fill, split, empty and become narrower again. */
  @ParameterizedTest
  @CsvSource({"false, 0, false", "true, 1.5, true"})
  void manyKeysDoNotEither(boolean sinceLastSeen, double aheadEpochs, boolean changingTtl) {
    runWithManyKeys(sinceLastSeen, aheadEpochs, changingTtl);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"true, 0, false", "false, 2, true"})
  void manyKeysDoNotInOtherWays(boolean sinceLastSeen, double aheadEpochs, boolean changingTtl) {
    runWithManyKeys(sinceLastSeen, aheadEpochs, changingTtl);
  }

  private static void runWithManyKeys(
      boolean sinceLastSeen, double aheadEpochs, boolean changingTtl) {
    Plan plan = new Plan(60_000, HOUR, sinceLastSeen, aheadEpochs, changingTtl);
    ExpiryModel model = new ExpiryModel(plan, Mistake.NONE, 7);
    for (int i = 0; i < 20_000; i++) {
      model.fill();
    }
    model.run(SCALE == 1 ? 70_000 : 300_000);
    assertThat(model.pages().splits()).isGreaterThan(2);
    assertThat(model.pages().narrowed()).isGreaterThan(2);
    assertThat(model.pages().merged()).isGreaterThan(2);
    assertThat(model.forgotten()).isGreaterThan(300);
    assertThat(model.expired()).isGreaterThan(300);
  }

  /** The controls: a filter that is an epoch off, either way, is found out by the same model. */
  @ParameterizedTest
  @CsvSource({
    "-450000, 0, no live key is forgotten",
    "450000, 0, 'no key is kept past its bound|a forgotten key is not found'",
    "0, 900000, 'no key is kept past its bound|a forgotten key is not found'"
  })
  void aFilterThatIsOffDoes(long ttlMillis, long timeMillis, String broken) {
    Plan plan = new Plan(500, HOUR, false, 0, false);
    ExpiryModel model = new ExpiryModel(plan, new Mistake(ttlMillis, timeMillis), 3);
    assertThatThrownBy(() -> model.run(300_000))
        .isInstanceOf(AssertionError.class)
        .hasMessageMatching("broken at operation \\d+ of seed 3: (" + broken + ".*)");
  }

  @Test
  void instantsAtTheEndsOfTimeCountAsFarAway() {
    Expiry expiry = new Expiry(HOUR, false);
    PagedFilter filter = new PagedFilter(SHAPE);
    ExpiringPages pages = new ExpiringPages(SHAPE, expiry);
    expiry.advanceTo(Long.MIN_VALUE);
    long hash = 0;
    for (long time : new long[] {Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE}) {
      expiry.keysOf(time);
      assertThat(filter.insertIfAbsent(pages, ++hash << 20)).isEqualTo(InsertionResult.STORED);
    }
    expiry.advanceTo(2 * HOUR);
    assertThat(filter.mightContain(pages, 4L << 20)).isFalse();
    assertThat(filter.mightContain(pages, 5L << 20)).isTrue();
    expiry.advanceTo(Long.MAX_VALUE);
    assertThat(filter.mightContain(pages, 5L << 20)).isTrue();
    assertThat(expiry.expired()).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 600})
  void aDeleteTakesTheOldestCopyOfAnIdentity(int others) {
    Expiry expiry = new Expiry(HOUR, false);
    PagedFilter filter = new PagedFilter(SHAPE);
    ExpiringPages pages = new ExpiringPages(SHAPE, expiry);
    new SplittableRandom(1).longs(others).forEach(hash -> filter.insert(pages, hash));
    long hash = 77L << 30;
    for (long minutes : new long[] {30, 10, 50, 20}) {
      expiry.keysOf(minutes * 60_000);
      assertThat(filter.insert(pages, hash)).isEqualTo(InsertionResult.STORED);
    }
    assertThat(filter.delete(pages, hash)).isTrue();
    expiry.advanceTo(88 * 60_000);
    assertThat(filter.delete(pages, hash)).isTrue();
    expiry.advanceTo(109 * 60_000);
    assertThat(filter.mightContain(pages, hash)).isTrue();
    expiry.advanceTo(118 * 60_000);
    assertThat(filter.mightContain(pages, hash)).isFalse();
    assertThat(filter.delete(pages, hash)).isFalse();
  }

  /** Expired keys no longer count for the rate: it is the rate of the remaining keys. */
  /** Nine of ten keys expire; one sweep of the pages then returns their memory. */
  @Test
  void oneSweepReturnsTheMemoryOfExpiredKeys() {
    CuckooShape shape = CuckooShape.forCapacity(100_000, 0.001);
    Expiry expiry = new Expiry(8_000, false);
    PagedFilter filter = new PagedFilter(shape);
    ExpiringPages pages = new ExpiringPages(shape, expiry);
    ExpiringPages fresh = new ExpiringPages(shape, expiry);
    SplittableRandom random = new SplittableRandom(9);
    for (int i = 0; i < 100_000; i++) {
      long hash = random.nextLong();
      expiry.advanceTo(i < 90_000 ? 0 : 5_000);
      InsertionResult unused = filter.insert(pages, hash);
      if (i >= 90_000) {
        unused = filter.insert(fresh, hash);
      }
    }
    long full = bodyBytes(pages);
    expiry.advanceTo(9_000);
    for (CuckooPage page : pages.all()) {
      boolean unused = filter.expire(pages, pages.get(page.firstIdentity()));
    }
    assertThat(pages.count()).isEqualTo(10_000);
    assertThat(pages.merged()).isGreaterThan(20);
    assertThat(bodyBytes(pages)).isLessThan(2 * bodyBytes(fresh));
    assertThat(full).isGreaterThan(6 * bodyBytes(fresh));
    pages.verify();
    expiry.advanceTo(30_000);
    for (CuckooPage page : pages.all()) {
      boolean unused = filter.expire(pages, pages.get(page.firstIdentity()));
    }
    assertThat(pages.all())
        .singleElement()
        .satisfies(
            page ->
                assertThat(FilterInState.bytes(page))
                    .isEqualTo(FilterInState.bytes(CuckooPage.first(shape, expiry))));
  }

  private static long bodyBytes(ExpiringPages pages) {
    return pages.all().stream().mapToLong(CuckooPage::bodyBytes).sum();
  }

  @Test
  void theRateFollowsTheLawOfTheLiveKeys() {
    CuckooShape shape = new CuckooShape(24);
    Expiry expiry = new Expiry(HOUR, false);
    PagedFilter filter = new PagedFilter(shape);
    ExpiringPages pages = new ExpiringPages(shape, expiry);
    SplittableRandom random = new SplittableRandom(5);
    for (int epoch = 0; epoch < 30; epoch++) {
      expiry.advanceTo(epoch * expiry.epochMillis());
      for (int i = 0; i < 5_000; i++) {
        filter.insert(pages, random.nextLong());
      }
      if (epoch % 10 == 9) {
        int probes = 400_000;
        long found = random.longs(probes).filter(hash -> filter.mightContain(pages, hash)).count();
        // Of nine epochs, after which a key is due.
        double law = shape.predictedFalsePositiveRate(45_000);
        assertThat((double) found).isCloseTo(probes * law, within(5 * Math.sqrt(probes * law)));
        assertThat(pages.count()).isEqualTo(45_000);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 18, 2_040})
  void numbersOfEpochsAreWhatWasPut(int count) {
    SplittableRandom random = new SplittableRandom(count);
    int from = 21;
    int bits = EpochNumbers.bits(count);
    byte[] bytes = new byte[(from + bits) / Byte.SIZE + 1 + BitFields.SPARE_BYTES];
    Arrays.fill(bytes, (byte) 0xff);
    EpochNumbers.setAll(bytes, from, count, new byte[count], 0);
    byte[] numbers = new byte[count];
    for (int i = 0; i < 20 * count; i++) {
      int at = random.nextInt(count);
      numbers[at] = (byte) random.nextInt(EpochNumbers.RADIX);
      EpochNumbers.set(bytes, from, count, at, numbers[at]);
    }
    for (int at = 0; at < count; at++) {
      assertThat(EpochNumbers.get(bytes, from, count, at)).isEqualTo(numbers[at]);
    }
    byte[] read = new byte[2 + count];
    EpochNumbers.getAll(bytes, from, count, read, 2);
    assertThat(Arrays.copyOfRange(read, 2, read.length)).isEqualTo(numbers);
    assertThat(EpochNumbers.areWellFormed(bytes, from, count)).isTrue();
    byte[] copy = new byte[bytes.length];
    Arrays.fill(copy, (byte) 0xff);
    EpochNumbers.setAll(copy, from, count, read, 2);
    // Also the bits around them.
    assertThat(copy).isEqualTo(bytes);
    for (int bit = 0; bit < bits; bit++) {
      BitFields.set(bytes, from + bit, 1, 1);
    }
    assertThat(EpochNumbers.areWellFormed(bytes, from, count)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {999, -1, (1L << 47) + 1})
  void aTimeToLiveOutOfBoundsIsRefused(long ttlMillis) {
    assertThatThrownBy(() -> new Expiry(ttlMillis, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("ttlMillis", "[1000, 140737488355328]", "got " + ttlMillis);
  }
}
