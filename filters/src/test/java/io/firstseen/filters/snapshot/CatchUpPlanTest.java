package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CatchUpPlanTest {
  private static final int CASES = 20_000;

  /** Against a search of all ways: small chains, few sets, so that chains come back to some. */
  @Test
  void noWayTakesFewerBytes() {
    SplittableRandom random = new SplittableRandom(231);
    int shortcuts = 0;
    int basesBesideDeltas = 0;
    int alreadyThere = 0;
    for (int i = 0; i < CASES; i++) {
      ManifestShard shard = shard(random);
      for (char set = 'a'; set <= 'g'; set++) {
        Optional<String> held = set == 'g' ? Optional.empty() : Optional.of(digest(set));
        CatchUpPlan plan = CatchUpPlan.of(shard, held);
        assertLeadsToTheNewest(shard, held, plan);
        long fewest = fewest(shard, held);
        assertThat(plan.bytes()).as("case %d from %s: %s", i, set, shard).isEqualTo(fewest);
        alreadyThere += plan.blobs().isEmpty() ? 1 : 0;
        shortcuts += fewest < naive(shard, held) ? 1 : 0;
        basesBesideDeltas += held.isPresent() && !plan.changesHeld() && fewest > 0 ? 1 : 0;
      }
    }
    assertThat(alreadyThere).isGreaterThan(CASES / 2);
    assertThat(basesBesideDeltas).isGreaterThan(CASES / 2);
    assertThat(shortcuts)
        .as("where going along the chain is not the best")
        .isGreaterThan(CASES / 10);
  }

  @Test
  void goesByDeltasThatBeginBeforeTheBase() {
    BlobReference base = blob("c", 3, 1000);
    List<BlobReference> deltas = List.of(blob("ab", 2, 10), blob("bc", 3, 10), blob("cd", 4, 10));
    ManifestShard shard = new ManifestShard(0, 5, base, deltas);
    assertThat(CatchUpPlan.of(shard, Optional.of(digest('a'))).blobs()).isEqualTo(deltas);
    assertThat(CatchUpPlan.of(shard, Optional.of(digest('b'))).blobs())
        .isEqualTo(deltas.subList(1, 3));
    assertThat(CatchUpPlan.of(shard, Optional.of(digest('d'))).blobs()).isEmpty();
    CatchUpPlan fromNothing = CatchUpPlan.of(shard, Optional.empty());
    assertThat(fromNothing.blobs()).containsExactly(base, deltas.get(2));
    assertThat(fromNothing.bytes()).isEqualTo(1010);
    assertThat(CatchUpPlan.of(shard, Optional.of(digest('x')))).isEqualTo(fromNothing);
    assertThat(CatchUpPlan.of(ManifestShard.empty(0), Optional.of(digest('a'))).blobs()).isEmpty();
  }

  @Test
  void takesTheBaseWhereManyDeltasAreMore() {
    BlobReference base = blob("c", 3, 15);
    List<BlobReference> deltas = List.of(blob("ab", 2, 10), blob("bc", 3, 10));
    ManifestShard shard = new ManifestShard(0, 5, base, deltas);
    assertThat(CatchUpPlan.of(shard, Optional.of(digest('a'))).blobs()).containsExactly(base);
    assertThat(CatchUpPlan.of(shard, Optional.of(digest('b'))).blobs())
        .containsExactly(deltas.get(1));
  }

  @Test
  void comesToAnEndOnLongChains() {
    List<BlobReference> deltas = new ArrayList<>();
    for (int i = 1; i <= 100_000; i++) {
      deltas.add(blob("" + (char) ('a' + i % 2) + (char) ('a' + (i + 1) % 2), i, 10));
    }
    ManifestShard shard = new ManifestShard(0, 5, blob("b", 0, 1000), deltas);
    assertThat(CatchUpPlan.of(shard, Optional.of(digest('a'))).bytes()).isEqualTo(10);
  }

  private static void assertLeadsToTheNewest(
      ManifestShard shard, Optional<String> held, CatchUpPlan plan) {
    Optional<String> at = held;
    for (BlobReference blob : plan.blobs()) {
      assertThat(shard.blobs()).contains(blob);
      if (blob.isDelta()) {
        assertThat(at).contains(blob.parentSetDigest());
      }
      at = Optional.of(blob.setDigest());
    }
    assertThat(at).contains(shard.newest().setDigest());
  }

  /** The fewest bytes of all orders of all blobs that can be applied one after the other. */
  private static long fewest(ManifestShard shard, Optional<String> at) {
    return search(shard, at, new ArrayList<>(shard.blobs()));
  }

  private static long search(ManifestShard shard, Optional<String> at, List<BlobReference> left) {
    if (at.isPresent() && at.get().equals(shard.newest().setDigest())) {
      return 0;
    }
    long best = Integer.MAX_VALUE;
    for (BlobReference blob : left) {
      if (!blob.isDelta() || (at.isPresent() && at.get().equals(blob.parentSetDigest()))) {
        List<BlobReference> others = new ArrayList<>(left);
        others.remove(blob);
        best = Math.min(best, blob.bytes() + search(shard, Optional.of(blob.setDigest()), others));
      }
    }
    return best;
  }

  /** Along the chain from where the held set is first met, or from the base. */
  private static long naive(ManifestShard shard, Optional<String> held) {
    List<String> sets =
        Stream.concat(
                shard.deltas().stream().limit(1).map(BlobReference::parentSetDigest),
                shard.deltas().stream().map(BlobReference::setDigest))
            .toList();
    int from = held.isPresent() ? sets.indexOf(held.get()) : -1;
    long before = 0;
    if (from < 0) {
      from = sets.indexOf(shard.base().setDigest());
      before = shard.base().bytes();
    }
    return before
        + shard.deltas().stream().skip(Math.max(0, from)).mapToLong(BlobReference::bytes).sum();
  }

  private static ManifestShard shard(SplittableRandom random) {
    int length = random.nextInt(6);
    StringBuilder sets = new StringBuilder();
    for (int i = 0; i <= length; i++) {
      sets.append((char) ('a' + random.nextInt(6)));
    }
    List<BlobReference> deltas = new ArrayList<>();
    for (int i = 1; i <= length; i++) {
      deltas.add(blob(sets.substring(i - 1, i + 1), i, 1 + random.nextInt(9)));
    }
    int place = random.nextInt(length + 1);
    BlobReference base = blob(sets.substring(place, place + 1), place, 1 + random.nextInt(30));
    return new ManifestShard(0, 5, base, deltas);
  }

  /** A snapshot of one set, or a delta from one to another. */
  private static BlobReference blob(String sets, long sequence, long bytes) {
    return new BlobReference(
        Sha256.hex((sets + sequence).getBytes(StandardCharsets.UTF_8)),
        bytes,
        5,
        digest(sets.charAt(sets.length() - 1)),
        sets.length() == 1 ? null : digest(sets.charAt(0)),
        sequence);
  }

  private static String digest(char set) {
    return Sha256.hex(new byte[] {(byte) set});
  }
}
