package io.firstseen.filters.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShardsTest {
  @Test
  void theTopBitsNameTheShard() {
    Shards shards = new Shards(16);
    assertThat(shards.bits()).isEqualTo(4);
    assertThat(shards.shardOf(0x7FFF_FFFF_FFFF_FFFFL)).isEqualTo(7);
    assertThat(shards.shardOf(0xF000_0000_0000_0000L)).isEqualTo(15);
    assertThat(shards.suffix(0xF123_4567_89AB_CDEFL)).isEqualTo(0x1234_5678_9ABC_DEF0L);
  }

  @Test
  void oneShardTakesEveryHashWhole() {
    Shards one = new Shards(1);
    assertThat(one.bits()).isZero();
    assertThat(one.shardOf(-1L)).isZero();
    assertThat(one.suffix(-1L)).isEqualTo(-1L);
  }

  @Test
  void theMostShardsTakeSixteenBits() {
    Shards most = new Shards(Shards.MAX_COUNT);
    assertThat(most.bits()).isEqualTo(16);
    assertThat(most.shardOf(-1L)).isEqualTo(65_535);
  }

  @Property(seed = "1")
  void shardAndRestTogetherAreTheHash(@ForAll long hash, @ForAll @IntRange(max = 16) int bits) {
    Shards shards = new Shards(1 << bits);
    long shard = shards.shardOf(hash);
    assertThat(shard).isBetween(0L, (1L << bits) - 1);
    long below = bits == 0 ? shards.suffix(hash) : shards.suffix(hash) >>> bits;
    assertThat((bits == 0 ? 0 : shard << (64 - bits)) | below).isEqualTo(hash);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 3, 12, 131_072, Integer.MIN_VALUE})
  void otherCountsAreRefusedWithTheBoundAndTheValue(int count) {
    assertThatThrownBy(() -> new Shards(count))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("shards", "power of two", "[1, 65536]", "got " + count);
  }
}
