package io.firstseen.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.key.KeyHash;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MembershipComparisonTest {

  private static ComparedKeys keys(int count, KeyHash hash) {
    Set<String> keys = new HashSet<>();
    for (int i = 0; i < count; i++) {
      keys.add("https://example.org/" + i);
      keys.add("https://example.org/" + i / 2);
    }
    return new ComparedKeys(keys, hash);
  }

  private static MembershipReport compare(int keys, KeyHash hash, int probes, Double... rates) {
    return new MembershipComparison(keys(keys, hash), probes, step -> {}).run(List.of(rates));
  }

  @Test
  void everySetErrsAsPredictedAndCostsMoreThanTheBound() {
    int scale = Integer.getInteger("firstseen.scale", 1);
    MembershipReport report = compare(10_000 * scale, KeyHash.xxh3(1), 60_000 * scale, 0.01, 0.001);
    assertThat(report.keys()).isEqualTo(10_000 * scale);
    assertThat(report.probes()).isEqualTo(60_000 * scale);
    assertThat(report.sets())
        .extracting(SetFigures::id)
        .containsExactly(
            "exact",
            "shortened-keys",
            "bloom",
            "cuckoo",
            "golomb",
            "shortened-keys",
            "bloom",
            "cuckoo",
            "golomb");
    for (SetFigures set : report.sets()) {
      double rate = set.predictedRate();
      double sigma = Math.sqrt(rate * (1 - rate) / set.probes());
      assertThat(set.measuredRate()).as("%s", set).isCloseTo(rate, within(5 * sigma));
      assertThat(set.measuredRate()).isBetween(set.interval().low(), set.interval().high());
      assertThat(set.addNanos()).isPositive();
      assertThat(set.hitNanos()).isPositive();
      assertThat(set.missNanos()).isPositive();
      if (!set.isExact()) {
        assertThat(rate).as("%s", set).isPositive().isLessThan(1.02 * set.requestedRate());
        assertThat(set.bitsPerKey())
            .as("%s", set)
            .isBetween(set.boundBitsPerKey() + 1.4, set.boundBitsPerKey() + 8);
      }
    }
    assertThat(report.exactSet().falsePositives()).isZero();
    assertThat(report.exactSet().bitsPerKey()).isBetween(700.0, 1100.0);
  }

  @Tag("slow")
  @Test
  void oneAndTenKeysAreComparedToo() {
    for (int count : new int[] {1, 10}) {
      MembershipReport report = compare(count, KeyHash.fixed(), 1000, 0.05);
      assertThat(report.keys()).isEqualTo(count);
      assertThat(report.sets()).hasSize(5);
      for (SetFigures set : report.sets()) {
        assertThat(set.interval().low()).isLessThanOrEqualTo(set.predictedRate());
        assertThat(set.interval().high()).isGreaterThanOrEqualTo(set.predictedRate());
      }
    }
  }

  /** So the figures of two runs differ in nothing but times. */
  @Tag("slow")
  @Test
  void theSameKeysUnderTheSameHashMakeTheSameMistakes() {
    KeyHash hash = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
    List<Integer> mistakes = mistakes(hash);
    assertThat(mistakes(hash)).isEqualTo(mistakes);
    assertThat(mistakes(KeyHash.fixed())).isNotEqualTo(mistakes);
  }

  private static List<Integer> mistakes(KeyHash hash) {
    return compare(100, hash, 100_000, 0.1).sets().stream()
        .map(SetFigures::falsePositives)
        .toList();
  }

  @Test
  void absentKeysAreNotInTheSetEvenIfKeysAreMadeLikeThem() {
    ComparedKeys keys = new ComparedKeys(Set.of("a", "a\0000", "a\0001"), KeyHash.fixed());
    MembershipReport report = new MembershipComparison(keys, 10_000, step -> {}).run(List.of(1e-9));
    assertThat(report.sets()).allSatisfy(set -> assertThat(set.falsePositives()).isZero());
    // The trap is there: some of the candidates are keys.
    List<String> candidates = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      candidates.add(keys.absentKeyCandidate(i));
    }
    assertThat(candidates).containsAnyOf(keys.keys);
  }

  @Test
  void refusesARateThatNeedsMoreBitsThanAHashHas() {
    assertThatThrownBy(() -> compare(1000, KeyHash.fixed(), 10, 1e-18))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expectedKeys / falsePositiveRate must be at most");
  }
}
