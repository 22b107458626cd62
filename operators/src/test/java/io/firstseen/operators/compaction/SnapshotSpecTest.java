package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.NearRule;
import java.util.Locale;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
        "a|10|16|NaN|falsePositiveRate must be in (0, 0.1], got NaN",
        "a|10|16|1e-9|must be at least 2^-29 with 16 shards, got 1.0E-9",
        "a|10|65536|5e-8|must be at least 2^-24 with 65536 shards, got 5.0E-8"
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
                + ", canonicaliser url version 3");
  }

  @Test
  void strippedParametersArePartOfTheIdentity() throws Exception {
    SnapshotSpec spec = SnapshotSpec.of("spam", 10, 16, 0.001, KeyHash.fixed(), Canonicaliser.URL);
    SnapshotSpec stripping =
        SnapshotSpec.of(
            "spam", 10, 16, 0.001, KeyHash.fixed(), Canonicaliser.URL.stripping("utm_*,gclid"));
    assertThat(stripping.identity())
        .isEqualTo(spec.identity() + ", without the parameters gclid,utm_*");
    assertThat(stripping.setParameters()).isNotEqualTo(spec.setParameters());
    assertThat(InstantiationUtil.clone(stripping)).isEqualTo(stripping).isNotEqualTo(spec);
  }

  @Test
  void theRuleForNearDuplicatesIsPartOfTheIdentity() throws Exception {
    SnapshotSpec spec = SnapshotSpec.of("spam", 10, 16, 1e-6, KeyHash.fixed(), Canonicaliser.TEXT);
    SnapshotSpec near = spec.withNear(NearRule.SHORT);
    assertThat(near.identity())
        .isEqualTo(spec.identity() + ", near-duplicates by characters:4,32x5,2");
    assertThat(near.withTtlMillis(1).setParameters().near()).isEqualTo(NearRule.SHORT);
    assertThat(InstantiationUtil.clone(near)).isEqualTo(near).isNotEqualTo(spec);
  }

  /** As JDK 17 and JDK 25 write 2^-24. */
  @ParameterizedTest
  @ValueSource(strings = {"5.9604644775390625E-8", "5.960464477539063E-8"})
  void aRateInStateIsComparedAsANumber(String spelling) {
    double rate = Math.scalb(1.0, -24);
    SnapshotSpec spec = SnapshotSpec.of("spam", 10, 16, rate, KeyHash.fixed(), Canonicaliser.NONE);
    String inState = spec.identity().replace(Double.toString(rate), spelling);
    assertThat(inState).contains(spelling);
    assertThat(spec.hasIdentity(inState)).isTrue();
    assertThat(spec.hasIdentity(inState.replace("16 shards", "8 shards"))).isFalse();
    assertThat(spec.hasIdentity(inState.replace(spelling, "5.9E-8"))).isFalse();
    assertThat(spec.withTtlMillis(1).hasIdentity(inState)).isFalse();
  }

  @Test
  void saysTheSameOfItselfWhereverItRuns() {
    SnapshotSpec spec = SnapshotSpec.of("spam", 10, 16, 0.001, KeyHash.fixed(), Canonicaliser.TEXT);
    String identity = spec.identity();
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("fa-IR"));
    try {
      assertThat(String.format("%d", 7)).as("digits of another script").isNotEqualTo("7");
      assertThat(spec.identity()).isEqualTo(identity);
    } finally {
      Locale.setDefault(before);
    }
  }
}
