package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.types.KeyEpochs;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.junit.jupiter.api.Test;

class KeyEpochsSerializerTest extends TypeSerializerContract<KeyEpochs> {

  @Override
  protected TypeInformation<KeyEpochs> typeInformation() {
    return new SerializerTypeInformation<>(KeyEpochs.class, KeyEpochsSerializer.INSTANCE);
  }

  @Override
  protected List<KeyEpochs> samples() {
    return List.of(
        new KeyEpochs(new long[] {10, 20}, new long[] {2, 1}, new byte[] {0x10, 0}),
        new KeyEpochs(new long[0], new long[0], new byte[0]),
        new KeyEpochs(
            new long[16],
            new long[] {0, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
            new byte[150]));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "02000000000000000a000000000000000200000000000000140000000000000001021000";
  }

  @Test
  void aKeyHasTheNumberOfItsEpoch() {
    KeyEpochs epochs = samples().get(0);
    assertThat(List.of(epochs.numberAt(0), epochs.numberAt(1), epochs.numberAt(2)))
        .containsExactly(0, 1, 0);
    KeyEpochs highest =
        new KeyEpochs(
            new long[16],
            new long[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2},
            new byte[] {(byte) 0xFF});
    assertThat(highest.numberAt(0)).isEqualTo(15);
    assertThat(highest.numberAt(1)).isEqualTo(15);
  }

  @Test
  void whatCannotBeEpochsIsRefused() {
    assertRefused(new long[17], 0, "16 epochs", "17 with 17 counts");
    assertRefused(new long[] {3}, 1, "3 keys", "2 bytes", "got 1");
    assertRefused(new long[] {-1, 3}, 1, "epoch", "2^63 - 1", "[-1, 3]");
    assertRefused(new long[] {Long.MAX_VALUE, Long.MAX_VALUE, 4}, 1, "epoch", "2^63 - 1", "got [");
  }

  private static void assertRefused(long[] counts, int bytes, String... facts) {
    assertThatThrownBy(() -> new KeyEpochs(new long[counts.length], counts, new byte[bytes]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(facts);
  }
}
