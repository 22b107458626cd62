package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Text tags in pages that are frozen, written, read, split and swept, against a model. */
class TextTagsTest {
  private static final int OPERATIONS = 40_000 * Integer.getInteger("firstseen.scale", 1);
  private static final int BANDS = 900;
  private static final int TAGS_OF_BAND = 10;
  private static final long TTL_MILLIS = 80_000;

  /** A key of a band, with its text tag and the end of its epoch. */
  private record Key(int tag, long endMillis) {}

  private final SplittableRandom random = new SplittableRandom(17);
  private final long[] bands = random.longs(BANDS).toArray();
  private final List<List<Key>> model = new ArrayList<>();
  private @Nullable Expiry expiry;

  private long endMillis() {
    return expiry == null ? 0 : expiry.endMillis();
  }

  /** Returns the live keys of a band. */
  private List<Key> keys(int band) {
    if (expiry != null) {
      model.get(band).removeIf(key -> expiry.isDue(key.endMillis()));
    }
    return model.get(band);
  }

  private static @Nullable Key oldest(List<Key> keys, int tag) {
    return keys.stream()
        .filter(key -> key.tag() == tag)
        .min(Comparator.comparing(Key::endMillis))
        .orElse(null);
  }

  @ParameterizedTest
  @CsvSource({"12, none", "12, first-seen", "12, last-seen", "0, last-seen", "1, first-seen"})
  void tagsEqualTheModel(int tagBits, String ttl) {
    CuckooShape shape = new CuckooShape(36 + tagBits);
    PagedFilter filter = new PagedFilter(shape, tagBits);
    expiry = ttl.equals("none") ? null : new Expiry(TTL_MILLIS, ttl.equals("last-seen"));
    ExpiringPages pages = new ExpiringPages(shape, expiry);
    for (int band = 0; band < BANDS; band++) {
      model.add(new ArrayList<>());
    }
    int pending = 0;
    int mostTags = 0;
    for (int i = 0; i < OPERATIONS; i++) {
      if (i % 700 == 0) {
        pages.freeze(filter);
      } else if (i % 3_000 == 0) {
        pages.writeAndRead(filter);
        pages.verify();
      }
      if (expiry != null && i % 100 == 0) {
        expiry.advanceTo(i / 100 * (TTL_MILLIS / 200));
      }
      int band = random.nextInt(BANDS);
      List<Key> keys = keys(band);
      // Includes the lowest and the highest tag.
      int tag = Math.floorMod(random.nextInt(TAGS_OF_BAND) * (band + 1) - band % 2, 1 << tagBits);
      long key = filter.withTextTag(bands[band], tag);
      Key oldest = oldest(keys, tag);
      int kind = random.nextInt(10);
      if (kind < 5) {
        if (keys.size() < CuckooPage.MAX_COPIES) {
          assertThat(filter.insert(pages, key)).isEqualTo(InsertionResult.STORED);
          keys.add(new Key(tag, endMillis()));
        }
      } else if (kind < 7 && keys.size() < CuckooPage.MAX_COPIES) {
        assertThat(filter.insertIfAbsent(pages, key))
            .isEqualTo(oldest == null ? InsertionResult.STORED : InsertionResult.PRESENT);
        if (oldest == null) {
          keys.add(new Key(tag, endMillis()));
        } else if (expiry != null && expiry.sinceLastSeen()) {
          keys.remove(oldest);
          keys.add(new Key(tag, Math.max(oldest.endMillis(), endMillis())));
        }
      } else if (kind < 9) {
        assertThat(filter.delete(pages, key)).isEqualTo(oldest != null);
        keys.remove(oldest);
      }
      List<Integer> found = new ArrayList<>();
      filter.textTags(pages, bands[band], found::add);
      List<Integer> expected = keys.stream().map(Key::tag).sorted().toList();
      if (!found.stream().sorted().toList().equals(expected)) {
        assertThat(found).as("operation %d", i).containsExactlyInAnyOrderElementsOf(expected);
      }
      if (filter.mightContain(pages, key) != expected.contains(tag)) {
        throw new AssertionError("operation %d: lookup of tag %d".formatted(i, tag));
      }
      mostTags = Math.max(mostTags, (int) expected.stream().distinct().count());
      pending += pages.get(shape.identity(key)).hasPending() ? 1 : 0;
    }
    assertThat(mostTags).isEqualTo(Math.min(1 << tagBits, CuckooPage.MAX_COPIES));
    assertThat(pages.splits()).isPositive();
    assertThat(pending).isGreaterThan(100);
    assertThat(expiry == null || expiry.expired() > 100).isTrue();
  }
}
