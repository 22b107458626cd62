package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.GolombCodedSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PendingChangesTest {

  @ParameterizedTest
  @CsvSource({"0,0", "0,1000", "4,0", "4,1000", "4,100000", "16,1000"})
  void appliesAddsAndDeletesOfAnyMix(int shardBits, int liveCount) {
    Random random = new Random(liveCount + shardBits);
    TreeSet<Long> live = new TreeSet<>(Long::compareUnsigned);
    for (int i = 0; i < liveCount; i++) {
      live.add(random.nextLong() << shardBits >>> shardBits);
    }
    GolombCodedSet encoded = encode(live, 64 - shardBits);
    Map<Long, Boolean> operations = new HashMap<>();
    List<Long> known = new ArrayList<>(live);
    long shard = shardBits == 0 ? 0 : random.nextLong() >>> (64 - shardBits) << (64 - shardBits);
    for (int i = 0; i < 1000; i++) {
      boolean strange = known.isEmpty() || random.nextBoolean();
      long rest =
          strange
              ? random.nextLong() << shardBits >>> shardBits
              : known.get(random.nextInt(known.size()));
      operations.put(shard | rest, random.nextBoolean());
    }

    PendingChanges changes = PendingChanges.of(encoded, shardBits, operations.entrySet());

    operations.forEach(
        (hash, add) -> {
          if (add) {
            live.add(hash << shardBits >>> shardBits);
          } else {
            live.remove(hash << shardBits >>> shardBits);
          }
        });
    assertThat(changes.isEmpty()).isFalse();
    assertThat(changes.applied().toArray())
        .isEqualTo(live.stream().mapToLong(rest -> rest).toArray());
  }

  @Test
  void repeatedAddsAndUnknownDeletesAreNoChanges() {
    GolombCodedSet live = GolombCodedSet.of(new long[] {1, 5, 9}, 60);
    long shard = 7L << 60;
    Map<Long, Boolean> operations = Map.of(shard | 5, true, shard | 9, true, shard | 6, false);
    assertThat(PendingChanges.of(live, 4, operations.entrySet()).isEmpty()).isTrue();
  }

  @Test
  void theLastKeyCanGo() {
    GolombCodedSet live = GolombCodedSet.of(new long[] {5}, 64);
    PendingChanges changes = PendingChanges.of(live, 0, Map.of(5L, false).entrySet());
    assertThat(changes.isEmpty()).isFalse();
    assertThat(changes.applied().count()).isZero();
  }

  private static GolombCodedSet encode(Set<Long> values, int valueBits) {
    return GolombCodedSet.of(values.stream().mapToLong(value -> value).toArray(), valueBits);
  }
}
