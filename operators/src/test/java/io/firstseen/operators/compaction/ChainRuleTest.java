package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.types.ShardChain;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What one shard of some thousand keys publishes, and what its manifests name. */
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

  @BeforeEach
  void publishABase() throws Exception {
    pipeline = new SnapshotPipeline(SPEC, SnapshotPipeline.Backend.HEAP, 1, null, 1);
    ManifestShard first = window(KEYS, 0);
    assertThat(first.base().sequence()).isEqualTo(1);
    assertThat(first.deltas()).isEmpty();
  }

  @AfterEach
  void close() throws Exception {
    pipeline.close();
  }

  /** A window of so many new keys and so many deletes of live ones; gives what is named then. */
  private ManifestShard window(int adds, int deletes) throws Exception {
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
    PublishedSets.Published newest = published.manifests().get(published.manifests().size() - 1);
    assertThat(newest.windowEndMillis()).isEqualTo(time);
    assertThat(newest.shards().get(0).header().hashCount()).isEqualTo(live.size());
    assertThat(room()).as("the promise of the rate").isNotNegative();
    return newest.manifest().shards().get(0);
  }

  /** How many more keys the newest range has room for. */
  private long room() {
    Snapshot newest = newest();
    return PublishedSets.mostKeys(newest, SPEC.falsePositiveRate()) - newest.header().hashCount();
  }

  private Snapshot newest() {
    return published.manifests().get(published.manifests().size() - 1).shards().get(0);
  }

  private static List<Long> sequences(ManifestShard shard) {
    return shard.deltas().stream().map(BlobReference::sequence).toList();
  }

  /** Each base beside a delta lets a shard shrink by half once more. */
  @Test
  void aShardThatShrinksForLongGetsASmallerRange() {
    ChainRule rule = new ChainRule(SPEC.setParameters(), 10);
    Universe universe = rule.universe(10_000_000, ChainRule.LEAST_HEADROOM_BITS);
    long keys = 10_000_000;
    ShardChain chain = chain(universe, keys);
    while (rule.goesOn(chain, keys)) {
      // A twentieth of the keys may share their values.
      assertThat(universe.fits(keys - keys / 20)).as("%d keys", keys).isTrue();
      keys -= keys / 10;
      chain = chain(universe, keys);
    }
    assertThat(keys).isBetween(2_200_000L, 2_600_000L);
    assertThat(rule.goesOn(chain(rule.universe(20, 6), 20), 10)).as("small sets").isTrue();
  }

  private static ShardChain chain(Universe universe, long baseKeys) {
    return new ShardChain(universe, 6, baseKeys, "0".repeat(64), baseKeys, 1, 0, 0, 0);
  }

  @Test
  void aSmallChangeIsADeltaAlone() throws Exception {
    window(5, 5);
    ManifestShard second = window(5, 5);
    assertThat(second.base().sequence()).isEqualTo(1);
    assertThat(sequences(second)).containsExactly(2L, 3L);
    assertThat(second.deltas().get(0).bytes()).isLessThan(second.base().bytes() / 10);
    assertThat(published.blobCount()).isEqualTo(3);
  }

  @Test
  void aLongChainGetsABaseBesideItsLastDelta() throws Exception {
    ManifestShard shard = null;
    for (int i = 0; i < ChainRule.MAX_DELTAS - 1; i++) {
      shard = window(1, 1);
    }
    assertThat(shard.base().sequence()).isEqualTo(1);
    assertThat(shard.deltas()).hasSize(15);
    shard = window(1, 1);
    assertThat(shard.base().sequence()).isEqualTo(17);
    assertThat(shard.newest().setDigest()).isEqualTo(shard.base().setDigest());
    assertThat(sequences(shard))
        .as("those before the base that are still named")
        .hasSize(PublishedChain.MAX_DELTAS_BEFORE_BASE)
        .startsWith(10L)
        .endsWith(17L);
    shard = window(1, 1);
    assertThat(shard.base().sequence()).isEqualTo(17);
    assertThat(sequences(shard)).hasSize(9).endsWith(17L, 18L);
  }

  @Test
  void deltasWithMoreThanHalfOfTheBytesGetABase() throws Exception {
    ManifestShard shard = window(400, 400);
    assertThat(shard.base().sequence()).isEqualTo(1);
    long half = shard.base().bytes() / 2;
    while (shard.deltas().stream().mapToLong(BlobReference::bytes).sum() <= half
        && shard.base().sequence() == 1) {
      shard = window(400, 400);
    }
    assertThat(shard.base().sequence()).isEqualTo(shard.newest().sequence()).isLessThan(10);
    assertThat(shard.deltas().stream().mapToLong(BlobReference::bytes).sum()).isGreaterThan(half);
  }

  @Test
  void twiceOrLessThanHalfAsManyKeysBeginANewChain() throws Exception {
    window(10, 0);
    ManifestShard doubled = window(KEYS + 10, 0);
    assertThat(doubled.base().sequence()).isEqualTo(3);
    assertThat(doubled.deltas()).isEmpty();
    ManifestShard same = window(0, 10);
    assertThat(sequences(same)).containsExactly(4L);
    ManifestShard halved = window(0, KEYS + 100);
    assertThat(halved.base().sequence()).isEqualTo(5);
    assertThat(halved.deltas()).isEmpty();
  }

  /** Fills the newest range to the last key, and adds one more. */
  private void fillAndOutgrow() throws Exception {
    Universe before = newest().header().universe();
    ManifestShard full = window((int) room(), 0);
    assertThat(room()).isZero();
    assertThat(newest().header().universe()).isEqualTo(before);
    assertThat(full.newest().isDelta()).isTrue();
    ManifestShard outgrown = window(1, 0);
    assertThat(outgrown.base().sequence()).isEqualTo(full.newest().sequence() + 1);
    assertThat(outgrown.deltas()).isEmpty();
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
    ManifestShard shrunk = window(0, 2);
    assertThat(shrunk.deltas()).isEmpty();
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
      if (window(live.size() / 50, 0).deltas().isEmpty()) {
        begun.add(i);
      }
    }
    assertThat(live).hasSizeGreaterThan(3 * KEYS);
    assertThat(begun).as("after 1/64, 1/8 and as many keys more").containsExactly(1, 7, 43);
  }

  @Test
  void thereIsNoRoomWhereThereAreNoDeltas() {
    SetParameters most =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(2048), 0.001);
    assertThat(new ChainRule(most, 10).universe(KEYS, 3)).isEqualTo(most.universeFor(KEYS));
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
  void anOldBaseGetsAnotherBesideTheNextDelta() throws Exception {
    time += 10 * (ChainRule.MAX_AGE_WINDOWS - 2);
    ManifestShard shard = window(1, 0);
    assertThat(shard.base().sequence()).as("one window younger").isEqualTo(1);
    shard = window(1, 0);
    assertThat(shard.base().sequence()).isEqualTo(3);
    assertThat(sequences(shard)).containsExactly(2L, 3L);
  }

  @Test
  void aDeltaThatIsNoSmallerThanTheBaseIsLeftOut() throws Exception {
    ManifestShard shard = window(KEYS, KEYS);
    assertThat(shard.base().sequence()).isEqualTo(2);
    assertThat(shard.deltas()).isEmpty();
    assertThat(published.blobCount()).as("the two bases").isEqualTo(2);
  }

  /** After a drain; the other shard closed a window that was not over. */
  @Test
  void twoWindowsThatShareAManifestKeepBothDeltas() throws Exception {
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
      two.watermark(1019);
      drained.add(two.records());
    }
    assertThat(drained.windowEnds()).containsExactly(10L, 1010L, 1020L);
    assertThat(sequences(drained.manifests().get(2).manifest().shards().get(0)))
        .containsExactly(2L, 3L);
    assertThat(drained.manifests().get(2).manifest().count()).isEqualTo(KEYS + 3);
  }

  @Test
  void deltasThatAreTogetherLargerThanANewBaseAreNamedNoMore() throws Exception {
    for (int i = 0; i < 8; i++) {
      ManifestShard shard = window(1500, 1500);
      assertThat(shard.newest().isDelta()).as("each change is a delta").isTrue();
      assertThat(
              shard.deltas().stream()
                  .filter(delta -> delta.sequence() <= shard.base().sequence())
                  .mapToLong(BlobReference::bytes)
                  .sum())
          .isLessThanOrEqualTo(shard.base().bytes());
    }
  }
}
