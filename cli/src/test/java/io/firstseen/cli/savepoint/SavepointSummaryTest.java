package io.firstseen.cli.savepoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.operators.dedup.DedupSavepoint;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.ShardSummary;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The summary's lines on mode, ttl and audit. */
class SavepointSummaryTest {
  private static SavepointSummary summary(
      DedupMode mode, TimeToLive ttl, int slices, AuditCounts audit, OptionalLong clockMillis) {
    DedupParameters parameters =
        new DedupParameters(30, 1, "siphash-2-4", 7, "none", 1, mode)
            .withTtl(ttl)
            .withAudit(slices);
    ShardSummary shard = new ShardSummary(1_000, 2_048, 5_000, new byte[1]);
    return new SavepointSummary(
        new DedupSavepoint(
            3, 1, 6_000, parameters, List.of(shard), audit, null, null, clockMillis));
  }

  @Test
  void anAuditOfNearDuplicatesHasPrecisionAndRecall() {
    DedupParameters parameters =
        new DedupParameters(30, 1, "siphash-2-4", 7, "text", 1, DedupMode.APPROXIMATE)
            .withNear("words:3,18x8,1")
            .withAudit(64);
    SavepointSummary summary =
        new SavepointSummary(
            new DedupSavepoint(
                3,
                1,
                6_000,
                parameters,
                List.of(new ShardSummary(1_900, 2_048, 5_000, new byte[1])),
                new AuditCounts(10_000, 12, 9.5),
                new AuditCounts(1_000, 0, 0),
                new AuditCounts(1_600, 16, 14.2),
                OptionalLong.empty()));
    assertThat(summary.fields(false).table().lines())
        .contains(
            "keys                100",
            "rate predicted      6.776e-05",
            "measured precision  1.000",
            "measured precision low 0.9934",
            "measured recall     0.9900",
            "measured recall of  1,600",
            "measured recall high 0.9947");
    JsonNode audit = summary.fields(false).json().get("audit");
    assertThat(audit.get("measuredPrecisionLow").asDouble()).isBetween(0.993, 0.994);
    assertThat(audit.get("measuredRecall").asDouble()).isEqualTo(0.99);
    assertThat(audit.get("measuredRecallHigh").asDouble()).isBetween(0.994, 0.995);
  }

  @Test
  void anAuditTellsItsSliceItsCountsAndItsRateWithTheInterval() {
    AuditCounts counts = new AuditCounts(10_000, 12, 9.5);
    SavepointSummary summary =
        summary(DedupMode.APPROXIMATE, null, 1_024, counts, OptionalLong.empty());
    assertThat(summary.fields(false).table().lines())
        .contains(
            "rate predicted      1.877e-06",
            "slices              1,024",
            "new keys            10,000",
            "false positives     12",
            "predicted false positive rate 0.0009500",
            "measured false positive rate 0.001200",
            "measured false positive rate low 0.0005799");
    JsonNode audit = summary.fields(false).json().get("audit");
    assertThat(audit.get("slices").asInt()).isEqualTo(1_024);
    assertThat(audit.get("newKeys").asLong()).isEqualTo(10_000);
    assertThat(audit.get("falsePositives").asLong()).isEqualTo(12);
    assertThat(audit.get("measuredFalsePositiveRate").asDouble()).isEqualTo(0.0012);
    assertThat(audit.get("measuredFalsePositiveRateLow").asDouble()).isBetween(5.7e-4, 5.8e-4);
    assertThat(audit.get("measuredFalsePositiveRateHigh").asDouble()).isBetween(2.4e-3, 2.5e-3);
    assertThat(audit.get("confidence").asDouble()).isEqualTo(0.99);
    assertThat(audit.get("predictedFalsePositiveRate").asDouble()).isEqualTo(9.5e-4);
  }

  @Test
  void anAuditThatSawNothingHasNoRate() {
    SavepointSummary summary =
        summary(DedupMode.APPROXIMATE, null, 4, AuditCounts.NONE, OptionalLong.empty());
    assertThat(summary.fields(false).table())
        .contains("slices              4", "new keys            0")
        .doesNotContain("measured");
    JsonNode audit = summary.fields(false).json().get("audit");
    assertThat(audit.get("newKeys").asLong()).isZero();
    assertThat(audit.has("measuredFalsePositiveRate")).isFalse();
  }

  @Test
  void withoutAnAuditThereIsNone() {
    SavepointSummary summary = summary(DedupMode.APPROXIMATE, null, 0, null, OptionalLong.empty());
    assertThat(summary.fields(false).table().lines())
        .contains("ttl                 off", "audit               off");
    assertThat(summary.fields(false).table()).doesNotContain("forgotten by");
    assertThat(summary.fields(false).json().has("audit")).isFalse();
    assertThat(summary.fields(false).json().has("forgottenByMillis")).isFalse();
  }

  @Test
  void aTtlTellsWhatTimeItIsThere() {
    SavepointSummary summary =
        summary(
            DedupMode.APPROXIMATE,
            TimeToLive.of(Duration.ofHours(8)),
            0,
            null,
            OptionalLong.of(1_764_000_000_000L));
    assertThat(summary.fields(false).table().lines())
        .contains(
            "ttl                 8h by event time, since first-seen",
            "forgotten by        2025-11-24T16:00:00Z");
    assertThat(summary.fields(false).json().get("forgottenByMillis").asLong())
        .isEqualTo(1_764_000_000_000L);
  }

  @Test
  void withARuleForNearDuplicatesTextsAreCounted() {
    DedupParameters parameters =
        new DedupParameters(40, 2, "siphash-2-4", 7, "text", 1, DedupMode.APPROXIMATE)
            .withNear("characters:4,32x5,2");
    ShardSummary shard = new ShardSummary(33_000, 66_000, 500_000, new byte[1]);
    ShardSummary other = new ShardSummary(330, 660, 5_000, new byte[1]);
    SavepointSummary summary =
        new SavepointSummary(
            new DedupSavepoint(
                3,
                1,
                101_000,
                parameters,
                List.of(shard, other),
                null,
                null,
                null,
                OptionalLong.empty()));
    assertThat(summary.fields(true).table().lines())
        .contains(
            "near                characters:4,32x5,2",
            "keys                1,010",
            "keys per shard      10 to 1,000, mean 505",
            "load                0.500",
            // 496 ε² (1 / 1,000 + 1 / 4,096) + ε / 4,096 for ε of about 2 · 33,000 / 2^28
            "rate predicted      9.839e-08",
            "bits per key        800.000",
            "             0         1,000        66,000             1       500,000"
                + "                      9.839e-08");
  }

  @Test
  void inAnExactModeTheRateIsThatOfLookUpsInVain() {
    SavepointSummary summary = summary(DedupMode.EXACT, null, 0, null, OptionalLong.empty());
    assertThat(summary.fields(false).table().lines())
        .contains("mode                exact", "exact look-ups      1.877e-06");
    assertThat(summary.fields(false).table()).doesNotContain("rate predicted");
  }
}
