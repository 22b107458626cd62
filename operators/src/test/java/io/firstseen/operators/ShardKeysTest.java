package io.firstseen.operators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardKeysTest {
  @ParameterizedTest
  @CsvSource({"128,128", "512,128", "16,128", "1,1", "1,128", "1024,256", "4096,128"})
  void shardsFillTheKeyGroupsEvenly(int shardCount, int maxParallelism) {
    ShardKeys keys = ShardKeys.of(shardCount, maxParallelism);
    int[] inGroup = new int[maxParallelism];
    Set<Integer> distinct = new HashSet<>();
    for (int shard = 0; shard < shardCount; shard++) {
      int group = KeyGroupRangeAssignment.assignToKeyGroup(keys.keyOf(shard), maxParallelism);
      assertThat(group).isEqualTo(ShardKeys.group(shard, shardCount, maxParallelism));
      inGroup[group]++;
      distinct.add(keys.keyOf(shard));
    }
    assertThat(distinct).hasSize(shardCount);
    int most = Math.max(1, shardCount / maxParallelism);
    int stride = Math.max(1, maxParallelism / shardCount);
    for (int group = 0; group < maxParallelism; group++) {
      assertThat(inGroup[group]).isEqualTo(group % stride == 0 ? most : 0);
    }
  }

  @ParameterizedTest
  @CsvSource({"100,128", "0,4", "4,0"})
  void refusesNumbersThatCannotBeSpreadEvenly(int shardCount, int maxParallelism) {
    assertThatThrownBy(() -> ShardKeys.of(shardCount, maxParallelism))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got " + shardCount + " and " + maxParallelism);
  }

  @Test
  void theKeysAreAPromise() {
    ShardKeys keys = ShardKeys.of(8, 4);
    int[] chosen = new int[8];
    for (int shard = 0; shard < 8; shard++) {
      chosen[shard] = keys.keyOf(shard);
    }
    assertThat(chosen).containsExactly(16, 26, 3, 7, 0, 1, 2, 4);
  }
}
