package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.ChainRule;
import io.firstseen.filters.snapshot.Pack;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When lists of bases are published and which packs are kept, with four shards. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class PackPublisherTest {
  private static final int KEYS = 8000;
  private static final SnapshotSpec SPEC =
      SnapshotSpec.of("spam", 10, 4, 0.001, KeyHash.fixed(), Canonicaliser.NONE);

  private final SplittableRandom random = new SplittableRandom(7);
  private final List<Long> live = new ArrayList<>();
  private final PublishedSets published = new PublishedSets();
  private SnapshotPipeline pipeline;
  private long time;

  private void start(Publication publication) throws Exception {
    pipeline =
        new SnapshotPipeline(SPEC, publication, SnapshotPipeline.Backend.HEAP, 1, 1, null, 1);
    window(KEYS, 0);
  }

  @AfterEach
  void close() throws Exception {
    pipeline.close();
  }

  /** A window of so many new keys and so many deletes of live ones; gives the newest pack. */
  private Pack window(int adds, int deletes) throws Exception {
    for (int i = 0; i < deletes; i++) {
      pipeline.delete(live.remove(random.nextInt(live.size())), time);
    }
    for (int i = 0; i < adds; i++) {
      live.add(random.nextLong());
      pipeline.add(live.get(live.size() - 1), time);
    }
    time += 10;
    pipeline.watermark(time - 1);
    published.add(pipeline.records());
    return published.newestPack();
  }

  private long newestBytes() {
    return published.newest().manifest().pack().bytes();
  }

  @Test
  void aListHasNoBaseOfAShardThatItsPackHasWhole() throws Exception {
    start(Publication.OF_ALL);
    Pack first = published.newestPack();
    assertThat(first.before()).isNull();
    assertThat(first.keptFrom()).isZero();
    assertThat(first.sections()).hasSize(4);
    assertThat(published.newestList().sequence()).isZero();
    assertThat(published.newestList().bases()).isEmpty();
    Pack second = window(1, 1);
    assertThat(second.packsSince()).isZero();
    assertThat(published.newestList().sequence()).isEqualTo(2);
    assertThat(published.newestList().bases()).hasSize(4);
    // So many keys more in one shard that it begins a new chain.
    for (int i = 0; i < KEYS / 4; i++) {
      live.add(random.nextLong() >>> 2);
      pipeline.add(live.get(live.size() - 1), time);
    }
    Pack third = window(0, 0);
    assertThat(third.sections()).containsOnlyKeys(0);
    assertThat(third.sections().get(0).isWhole()).isTrue();
    assertThat(published.newestList().sequence()).isEqualTo(2);
    assertThat(published.newestList().bases()).hasSize(3);
  }

  @Test
  void aListIsDueWhenThePacksSinceHaveMoreThanANinthOfTheBytes() throws Exception {
    start(Publication.OF_ALL);
    for (int round = 0; round < 3; round++) {
      Pack before = published.newestPack();
      assertThat(before.packsSince()).isZero();
      long since = 0;
      Pack next = window(40, 40);
      while (next.bases().equals(before.bases())) {
        assertThat(next.packsSince()).as("without itself").isEqualTo(since);
        since += newestBytes();
        next = window(40, 40);
      }
      assertThat(9 * since).isLessThanOrEqualTo(before.basesBytes());
      // Its own length, except for a few digits.
      assertThat(9 * (since + newestBytes() + 20)).isGreaterThan(before.basesBytes());
      assertThat(published.newestList().sequence()).isEqualTo(next.sequence());
    }
    assertThat(published.followed()).isPositive();
  }

  @Test
  void anOldListIsReplaced() throws Exception {
    start(Publication.OF_ALL);
    BlobReference first = window(1, 0).bases();
    time += 10 * (ChainRule.MAX_AGE_WINDOWS - 2);
    assertThat(window(1, 0).bases()).as("one window younger").isEqualTo(first);
    assertThat(window(1, 0).bases()).isNotEqualTo(first);
  }

  /** Each pack but the newest is kept while those from it on have no more bytes than the bases. */
  @Test
  void asManyPacksAreKeptAsHaveTheBytesOfTheBases() throws Exception {
    start(Publication.OF_ALL.removingBlobsAfter(Duration.ZERO));
    List<Long> ends = new ArrayList<>(List.of(0L, newestBytes()));
    long keptBefore = 0;
    for (int i = 0; i < 60; i++) {
      Pack newest = window(40, 40);
      long begin = ends.get(ends.size() - 1);
      assertThat(newest.before()).isNotNull();
      ends.add(published.newest().manifest().packBytes());
      long keptFrom = newest.keptFrom();
      assertThat(ends).contains(keptFrom);
      assertThat(begin - keptFrom).isLessThanOrEqualTo(newest.basesBytes());
      if (keptFrom > keptBefore) {
        long oneMore = ends.get(ends.indexOf(keptFrom) - 1);
        assertThat(begin - oneMore).as("one more").isGreaterThan(newest.basesBytes());
        keptBefore = keptFrom;
      }
    }
    assertThat(published.newestPack().keptFrom()).isPositive();
    Set<String> removable = new TreeSet<>(published.kept());
    removable.removeAll(published.named(2));
    assertThat(published.kinds(removable)).doesNotContain(BlobFrame.Kind.PACK);
  }

  @Test
  void onePackBesideTheNewestIsKeptHoweverLongItIs() throws Exception {
    start(Publication.OF_ALL);
    window(1, KEYS / 2 + 100);
    Pack next = window(1, KEYS / 4 + 200);
    long before = published.newest().manifest().packBytes() - newestBytes();
    assertThat(next.keptFrom()).isLessThan(before);
    assertThat(next.before()).isNotNull();
  }

  /** Readers of the manifest before the held windows follow through their packs. */
  @Test
  void aHeldWindowHasItsPackAndNoManifest() throws Exception {
    start(Publication.OF_ALL.within(new ChangeBounds(1, 1.01, 0)));
    window(20, 0);
    assertThat(published.lastSequence()).isEqualTo(2);
    assertThat(window(100, 0).sequence()).isEqualTo(3);
    assertThat(published.lastSequence()).isEqualTo(2);
    assertThat(window(20, 0).sequence()).isEqualTo(4);
    int before = published.followed();
    Pack released = window(0, 100);
    assertThat(released.sequence()).isEqualTo(5);
    assertThat(published.lastSequence()).isEqualTo(5);
    assertThat(published.followed()).isEqualTo(before + 2);
  }

  @Test
  void aWindowWithoutChangesHasNoPack() throws Exception {
    start(Publication.OF_ALL);
    pipeline.add(live.get(0), time);
    time += 10;
    pipeline.watermark(time - 1);
    published.add(pipeline.records());
    assertThat(published.lastSequence()).isEqualTo(2);
    assertThat(published.newestPack().sequence()).isEqualTo(1);
    assertThat(published.newest().manifest().packBytes()).isEqualTo(newestBytes());
  }
}
