package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SnapshotSpecTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a/b|10|16|0.1|got 'a/b'",
        "a|0|16|0.1|windowMillis must be at least 1, got 0",
        "a|10|3|0.1|shards must be a power of two in [1, 65536], got 3",
        "a|10|16|0.11|falsePositiveRate must be in (0, 0.1], got 0.11",
        "a|10|16|0|falsePositiveRate must be in (0, 0.1], got 0.0",
        "a|10|16|NaN|falsePositiveRate must be in (0, 0.1], got NaN"
      })
  void refusesWhatIsOutOfBounds(
      String setName, long windowMillis, int shards, double falsePositiveRate, String sentence) {
    assertThatThrownBy(
            () ->
                SnapshotSpec.of(
                    setName,
                    windowMillis,
                    shards,
                    falsePositiveRate,
                    KeyHash.fixed(),
                    Canonicaliser.NONE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(sentence);
  }

  @Test
  void travelsWithAJobAndHoldsNoSecret() throws Exception {
    KeyHash hash = KeyHash.parse("00112233445566778899aabbccddeeff");
    SnapshotSpec spec = SnapshotSpec.of("spam", 10, 16, 0.001, hash, Canonicaliser.URL);
    byte[] bytes = InstantiationUtil.serializeObject(spec);
    SnapshotSpec travelled =
        InstantiationUtil.deserializeObject(bytes, SnapshotSpec.class.getClassLoader());
    assertThat(travelled).isEqualTo(spec);
    assertThat(spec.identity())
        .isEqualTo(
            "set spam of 16 shards at false-positive rate 0.001, hash siphash-2-4 with key check "
                + String.format("%016x", hash.keyCheck())
                + ", canonicaliser url version 1");
  }
}
