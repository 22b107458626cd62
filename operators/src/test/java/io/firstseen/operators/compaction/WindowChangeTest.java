package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.serializers.PendingOperationSerializer;
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

class WindowChangeTest {
  private static final Long ADDED = 0L;
  private static final Long DELETED = PendingOperationSerializer.DELETED;

  @ParameterizedTest
  @CsvSource({"0,0", "0,1000", "4,0", "4,1000", "4,100000", "16,1000"})
  void appliesAddsAndDeletesOfAnyMix(int shardBits, int liveCount) throws Exception {
    Random random = new Random(liveCount + shardBits);
    TreeSet<Long> live = new TreeSet<>(Long::compareUnsigned);
    for (int i = 0; i < liveCount; i++) {
      live.add(random.nextLong() << shardBits >>> shardBits);
    }
    GolombCodedSet encoded = encode(live, 64 - shardBits);
    Map<Long, Long> operations = new HashMap<>();
    List<Long> known = new ArrayList<>(live);
    long shard = shardBits == 0 ? 0 : random.nextLong() >>> (64 - shardBits) << (64 - shardBits);
    for (int i = 0; i < 1000; i++) {
      boolean strange = known.isEmpty() || random.nextBoolean();
      long suffix =
          strange
              ? random.nextLong() << shardBits >>> shardBits
              : known.get(random.nextInt(known.size()));
      operations.put(shard | suffix, random.nextBoolean() ? ADDED : DELETED);
    }

    WindowChange change =
        WindowChange.of(new LiveKeys(encoded, null), shardBits, operations.entrySet(), null);

    operations.forEach(
        (hash, add) -> {
          if (add.equals(ADDED)) {
            live.add(hash << shardBits >>> shardBits);
          } else {
            live.remove(hash << shardBits >>> shardBits);
          }
        });
    assertThat(change.changesKeys()).isTrue();
    assertThat(change.count()).isEqualTo(live.size());
    assertThat(change.apply(null).suffixes().toArray())
        .isEqualTo(live.stream().mapToLong(suffix -> suffix).toArray());
  }

  @Test
  void repeatedAddsAndUnknownDeletesAreNoChanges() throws Exception {
    GolombCodedSet live = GolombCodedSet.of(new long[] {1, 5, 9}, Universe.ofBits(60, 3));
    long shard = 7L << 60;
    Map<Long, Long> operations = Map.of(shard | 5, ADDED, shard | 9, ADDED, shard | 6, DELETED);
    WindowChange change = WindowChange.of(new LiveKeys(live, null), 4, operations.entrySet(), null);
    assertThat(change.changesKeys()).isFalse();
    assertThat(change.apply(null).suffixes()).isSameAs(live);
  }

  @Test
  void theLastKeyCanGo() throws Exception {
    GolombCodedSet live = GolombCodedSet.of(new long[] {5}, Universe.ofBits(64, 1));
    WindowChange change =
        WindowChange.of(new LiveKeys(live, null), 0, Map.of(5L, DELETED).entrySet(), null);
    assertThat(change.changesKeys()).isTrue();
    assertThat(change.apply(null).count()).isZero();
  }

  private static GolombCodedSet encode(Set<Long> values, int bits) {
    return GolombCodedSet.of(
        values.stream().mapToLong(value -> value).toArray(), Universe.ofBits(bits, values.size()));
  }
}
