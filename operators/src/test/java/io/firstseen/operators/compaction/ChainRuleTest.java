package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.ChainRule;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.ShardChain;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.serializers.SnapshotRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Simulates the publications of one shard with a few thousand keys. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class ChainRuleTest {
  private static final int KEYS = 8000;
  private static final SnapshotSpec SPEC =
      SnapshotSpec.of("spam", 10, 1, 0.001, KeyHash.fixed(), Canonicaliser.NONE);

  private final SplittableRandom random = new SplittableRandom(7);
  private final List<Long> live = new ArrayList<>();
  private final PublishedSets published = new PublishedSets();
  private SnapshotPipeline pipeline;
  private long time;
  private BlobReference lastBase;

  /**
   * The publication of a window.
   *
   * @param base null if no base was published
   */
  private record Cut(Section section, BlobReference base) {
    boolean beginsAChain() {
      assertThat(base != null || !section.isWhole()).as("a base with a whole section").isTrue();
      return section.isWhole();
    }
  }

  @BeforeEach
  void publishABase() throws Exception {
    pipeline = new SnapshotPipeline(SPEC, SnapshotPipeline.Backend.HEAP, 1, null, 1);
    assertThat(window(KEYS, 0).beginsAChain()).isTrue();
  }

  @AfterEach
  void close() throws Exception {
    pipeline.close();
  }

  /** A window of so many new keys and so many deletes of live ones. */
  private Cut window(int adds, int deletes) throws Exception {
    for (int i = 0; i < deletes; i++) {
      pipeline.delete(live.remove(random.nextInt(live.size())), time);
    }
    for (int i = 0; i < adds; i++) {
      live.add(random.nextLong());
      pipeline.add(live.get(live.size() - 1), time);
    }
    time += 10;
    pipeline.watermark(time - 1);
    List<SnapshotRecord> records = pipeline.records();
    published.add(records);
    assertThat(published.newest().windowEndMillis()).isEqualTo(time);
    assertThat(newest().header().hashCount()).isEqualTo(live.size());
    assertThat(room()).as("the promise of the rate").isNotNegative();
    BlobReference base = null;
    for (SnapshotRecord record : records) {
      if (record.kind() == SnapshotRecord.Kind.BLOB
          && PublishedSets.kindOf(record.value()) == BlobFrame.Kind.BASE) {
        assertThat(base).isNull();
        base = BlobReference.to(record.value());
        Section whole = Base.read(ByteBuffer.wrap(record.value()), "spam", 0);
        assertThat(whole.toByteBuffer()).isEqualTo(Section.whole(newest()).toByteBuffer());
      }
    }
    lastBase = base == null ? lastBase : base;
    return new Cut(published.newestPack().sections().get(0), base);
  }

  /** How many more keys the newest range has room for. */
  private long room() {
    Snapshot newest = newest();
    double rate = SPEC.setParameters().falsePositiveRate();
    return PublishedSets.mostKeys(newest, rate) - newest.header().hashCount();
  }

  private Snapshot newest() {
    return published.newest().shard(0);
  }

  /** Each base that is published with a change allows a shard to shrink by half again. */
  @Test
  void aShardThatShrinksForLongGetsASmallerRange() {
    ChainRule rule = new ChainRule(SPEC.setParameters(), 10);
    Universe universe = rule.universe(10_000_000, ChainRule.MIN_HEADROOM_BITS);
    long keys = 10_000_000;
    ShardChain chain = chain(universe, keys);
    while (rule.canContinue(chain, keys)) {
      // A twentieth of the keys may share their values.
      assertThat(universe.fits(keys - keys / 20)).as("%d keys", keys).isTrue();
      keys -= keys / 10;
      chain = chain(universe, keys);
    }
    assertThat(keys).isBetween(2_200_000L, 2_600_000L);
    assertThat(rule.canContinue(chain(rule.universe(20, 6), 20), 10)).as("small sets").isTrue();
  }

  private static ShardChain chain(Universe universe, long baseKeys) {
    return new ShardChain(universe, 6, baseKeys, baseKeys, 1, 0, 0);
  }

  @Test
  void aSmallChangeIsPublishedAlone() throws Exception {
    for (int i = 0; i < 40; i++) {
      Cut cut = window(1, 1);
      assertThat(cut.base()).isNull();
      assertThat(cut.section().isWhole()).isFalse();
      assertThat(cut.section().addedCount()).isOne();
      assertThat(cut.section().removedCount()).isOne();
      assertThat(cut.section().length()).isLessThan(15);
    }
  }

  @Test
  void sectionsWithMoreThanAnEighthOfTheBytesGetABase() throws Exception {
    for (int round = 0; round < 3; round++) {
      long baseBytes = lastBase.bytes();
      long sections = 0;
      Cut cut = window(50, 50);
      for (; cut.base() == null; cut = window(50, 50)) {
        sections += cut.section().length();
      }
      assertThat(cut.section().isWhole()).isFalse();
      assertThat(8 * sections).isLessThanOrEqualTo(baseBytes);
      assertThat(8 * (sections + cut.section().length())).isGreaterThan(baseBytes);
    }
  }

  @Test
  void twiceOrLessThanHalfAsManyKeysBeginANewChain() throws Exception {
    window(10, 0);
    assertThat(window(KEYS + 10, 0).beginsAChain()).isTrue();
    assertThat(window(0, 10).beginsAChain()).isFalse();
    assertThat(window(0, KEYS + 100).beginsAChain()).isTrue();
  }

  /** Fills the newest range to the last key, and adds one more. */
  private void fillAndOutgrow() throws Exception {
    Universe before = newest().header().universe();
    Cut full = window((int) room(), 0);
    assertThat(room()).isZero();
    assertThat(newest().header().universe()).isEqualTo(before);
    assertThat(full.beginsAChain()).isFalse();
    assertThat(window(1, 0).beginsAChain()).isTrue();
  }

  @Test
  void aSetThatOutgrowsItsChainGetsEightTimesTheRoom() throws Exception {
    assertThat(room()).isEqualTo(KEYS / 64);
    fillAndOutgrow();
    assertThat(room()).isEqualTo(live.size() / 8);
    fillAndOutgrow();
    assertThat(room()).isEqualTo(live.size());
    fillAndOutgrow();
    assertThat(room()).as("at most as many keys again").isEqualTo(live.size());
  }

  @Test
  void aSetThatShrinksToLessThanHalfGetsLittleRoomAgain() throws Exception {
    fillAndOutgrow();
    fillAndOutgrow();
    Universe roomy = newest().header().universe();
    window(0, live.size() / 2);
    assertThat(newest().header().universe()).as("half").isEqualTo(roomy);
    assertThat(window(0, 2).beginsAChain()).isTrue();
    assertThat(room()).isEqualTo(live.size() / 64);
  }

  @Test
  void aSetOfFewKeysHasRoomForSomeMore() throws Exception {
    window(0, KEYS - 10);
    Universe few = newest().header().universe();
    assertThat(room()).isEqualTo(32);
    window(32, 0);
    assertThat(newest().header().universe()).isEqualTo(few);
    window(1, 0);
    assertThat(room()).as("43 keys / 8 is less").isEqualTo(32);
    window(0, live.size());
    assertThat(room()).as("no keys").isEqualTo(32);
  }

  @Test
  void aSteadySetKeepsItsRange() throws Exception {
    Universe first = newest().header().universe();
    for (int i = 0; i < 20; i++) {
      window(150, 50);
      assertThat(newest().header().universe()).isEqualTo(first);
      window(50, 150);
      assertThat(newest().header().universe()).isEqualTo(first);
    }
  }

  /** If each chain had room for a 64th, each of these windows would begin one. */
  @Test
  void aSetThatGrowsByTwoPercentInEachOf60WindowsBeginsThreeNewChains() throws Exception {
    List<Integer> begun = new ArrayList<>();
    for (int i = 1; i <= 60; i++) {
      if (window(live.size() / 50, 0).beginsAChain()) {
        begun.add(i);
      }
    }
    assertThat(live).hasSizeGreaterThan(3 * KEYS);
    assertThat(begun).as("after 1/64, 1/8 and as many keys more").containsExactly(1, 7, 43);
  }

  /** A hash has 48 bits below the shard, and so many keys at this rate need almost 2^48 values. */
  @Test
  void thereIsNoRoomWhereTheHashHasNotAsManyBits() {
    SetParameters many =
        SetParameters.of(
            KeyHash.fixed(), Canonicaliser.NONE, new Shards(65_536), Math.scalb(1.0, -24));
    long keys = (1 << 24) - 1;
    ChainRule rule = new ChainRule(many, 10);
    assertThat(rule.universe(keys, 0)).isEqualTo(many.universeFor(keys));
    assertThat(rule.universe(keys / 4, 0)).isEqualTo(many.universeFor(keys / 4 * 2));
  }

  @Test
  void anOldBaseGetsAnotherBesideTheNextChange() throws Exception {
    time += 10 * (ChainRule.MAX_AGE_WINDOWS - 2);
    assertThat(window(1, 0).base()).as("one window younger").isNull();
    Cut cut = window(1, 0);
    assertThat(cut.base()).isNotNull();
    assertThat(cut.section().isWhole()).isFalse();
  }

  @Test
  void aChangeThatIsNoSmallerThanTheWholeSetIsReplacedByIt() throws Exception {
    Universe before = newest().header().universe();
    assertThat(window(KEYS, KEYS).beginsAChain()).isTrue();
    assertThat(newest().header().universe()).as("no other reason").isEqualTo(before);
  }

  @Test
  void theChainOfAFewTextsContinuesWhileTheyBecomeMany() {
    double rate = NearRule.SHORT.elementRate(0.001);
    SetParameters texts =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.TEXT, new Shards(16), rate)
            .withNear(NearRule.SHORT);
    ChainRule rule = new ChainRule(texts, 10);
    Universe universe = rule.universe(2, ChainRule.MIN_HEADROOM_BITS);
    assertThat(texts.universeFor(2)).isEqualTo(universe);
    ShardChain chain = new ShardChain(universe, ChainRule.MIN_HEADROOM_BITS, 2, 2, 100, 10, 0);
    assertThat(rule.canContinue(chain, 2)).isTrue();
    assertThat(rule.canContinue(chain, 20_000)).isTrue();
    assertThat(rule.canContinue(chain, 22_000)).isFalse();
  }

  /** After a drain; the other shard closed a window that was not over. */
  @Test
  void twoWindowsThatShareAManifestHaveTwoPacks() throws Exception {
    SnapshotSpec twoShards =
        SnapshotSpec.of("spam", 10, 2, 0.001, KeyHash.fixed(), Canonicaliser.NONE);
    PublishedSets drained = new PublishedSets();
    SnapshotPipeline.Savepoint savepoint;
    try (SnapshotPipeline two =
        new SnapshotPipeline(twoShards, SnapshotPipeline.Backend.HEAP, 2, null, 1)) {
      for (int i = 0; i < KEYS; i++) {
        two.add(random.nextLong() >>> 1, 3);
      }
      two.watermark(9);
      two.add(-1, 1005);
      two.endOfInput();
      drained.add(two.records());
      savepoint = two.savepoint();
    }
    try (SnapshotPipeline two =
        new SnapshotPipeline(twoShards, SnapshotPipeline.Backend.HEAP, 2, savepoint, 1)) {
      two.add(random.nextLong() >>> 1, 15);
      two.watermark(19);
      two.add(random.nextLong() >>> 1, 25);
      two.add(-2, 1015);
      two.watermark(1019);
      drained.add(two.records());
    }
    assertThat(drained.windowEnds()).containsExactly(10L, 1010L, 1020L);
    assertThat(drained.newest().manifest().count()).isEqualTo(KEYS + 4);
    assertThat(drained.newest().sequence()).as("two more than before").isEqualTo(4);
    assertThat(drained.newestPack().sequence()).isEqualTo(4);
    assertThat(drained.newestPack().sections()).containsOnlyKeys(0);
    assertThat(drained.sections()).hasSize(5);
    assertThat(drained.followed())
        .as("of two readers to the newest, one to that before")
        .isPositive();
  }

  /** A blob has fewer than 2^31 bytes. */
  @Test
  void aWindowThatIsTooLargeForOnePackHasSeveral() throws Exception {
    SnapshotSpec eight = SnapshotSpec.of("spam", 10, 8, 0.001, KeyHash.fixed(), Canonicaliser.NONE);
    Set<BlobReference> newestPacks = new HashSet<>();
    for (int parallelism : new int[] {1, 3}) {
      SplittableRandom same = new SplittableRandom(1);
      List<SnapshotRecord> records = new ArrayList<>();
      try (SnapshotPipeline large = new SnapshotPipeline(eight, 3_000, parallelism, null)) {
        for (int window = 0; window < 4; window++) {
          // At first about 1,100 bytes per shard, so two shards fit; all changes fit.
          for (int i = 0; i < (window == 0 ? 6_400 : 80); i++) {
            large.add(same.nextLong(), 10 * window);
          }
          large.watermark(10 * window + 9);
          records.addAll(large.records());
        }
      }
      PublishedSets sets = new PublishedSets().add(records);
      assertThat(sets.windowEnds()).containsExactly(10L, 20L, 30L, 40L);
      assertThat(sets.newest().manifest().count()).isEqualTo(6_400 + 3 * 80);
      assertThat(sets.newest().sequence())
          .as("at least three more than windows")
          .isBetween(7L, 12L);
      assertThat(sets.sections()).hasSize(4 * 8);
      newestPacks.add(sets.newest().manifest().pack());
    }
    assertThat(newestPacks).as("at any parallelism").hasSize(1);
  }
}
