package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageDigestTest {
  private final SplittableRandom random = new SplittableRandom(50);
  private final List<Long> hashes = new ArrayList<>();

  /** With 24 bits, the slots of a page have fewer bits than the digest. */
  @ParameterizedTest
  @ValueSource(ints = {24, 40})
  void lacksNoIdentityOfThePage(int identityBits) {
    CuckooShape shape = new CuckooShape(identityBits);
    CuckooFilter filter = filter(shape, 11_000);
    assertThat(filter.pageCount()).isGreaterThan(2);
    filter.forEachPage(
        page -> {
          for (int bits = PageDigest.MIN_BITS; bits <= PageDigest.MAX_BITS; bits += 640) {
            PageDigest digest = PageDigest.of(page, bits);
            assertThat(digest.heapBytes()).isLessThanOrEqualTo(bits / 8 + 96);
            hashes.stream()
                .mapToLong(shape::identity)
                .filter(identity -> isOf(page, identity))
                .forEach(
                    identity -> {
                      assertThat(digest.lacks(identity)).isFalse();
                      assertThat(digest.lacks(BucketPairs.other(identity))).isFalse();
                    });
            if (identityBits == 40) {
              assertThat(lacked(digest, page))
                  .isCloseTo(Math.exp(-page.count() / (double) bits), offset(0.02));
            }
          }
        });
  }

  private double lacked(PageDigest digest, CuckooPage page) {
    int lacked = 0;
    int tries = 20_000;
    for (int i = 0; i < tries; i++) {
      lacked += digest.lacks(newIdentity(page)) ? 1 : 0;
    }
    return (double) lacked / tries;
  }

  @ParameterizedTest
  @ValueSource(ints = {1_500, 2_200, 2_500, 3_000, 3_600})
  void insertsOnlyWhatDoesNotMakeThePageWider(int keys) {
    CuckooShape shape = new CuckooShape(40);
    CuckooFilter filter = filter(shape, keys);
    filter.forEachPage(
        page -> {
          PageDigest digest = PageDigest.of(page, PageDigest.MAX_BITS);
          if (digest == null) {
            return;
          }
          digest.dropped(page);
          int slots = page.slots();
          int room = page.deferrable();
          int inserted = 0;
          for (int i = 0; i < 10_000; i++) {
            long identity = newIdentity(page);
            if (digest.insert(identity)) {
              assertThat(digest.lacks(identity)).isFalse();
              assertThat(page.insert(identity, 0, new PathSearch())).isTrue();
              inserted++;
            }
          }
          assertThat(page.slots()).isEqualTo(slots);
          assertThat(inserted).isEqualTo(room).isPositive();
        });
  }

  private CuckooFilter filter(CuckooShape shape, int keys) {
    CuckooFilter filter = new CuckooFilter(shape);
    for (int i = 0; i < keys; i++) {
      long hash = random.nextLong();
      hashes.add(hash);
      filter.insert(hash);
    }
    return filter;
  }

  private static boolean isOf(CuckooPage page, long identity) {
    return page.shape.prefix(identity, page.depth()) == page.prefix();
  }

  private long newIdentity(CuckooPage page) {
    long identity = page.shape.identity(random.nextLong());
    long below = (1L << (page.shape.identityBits() - page.depth())) - 1;
    return page.firstIdentity() | (identity & below);
  }
}
