package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.operators.compaction.SnapshotPipeline.Backend;
import io.firstseen.serializers.SnapshotRecord;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Chains of deltas are as long as a manifest of so many shards has room for. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class ManifestSizeTest {

  @ParameterizedTest
  @CsvSource({"1, 16", "512, 5", "1024, 2", "2048, 0", "4096, 16"})
  void aChainIsNoLongerThanFitsIntoARecord(int shards, int longest) throws Exception {
    SnapshotSpec spec =
        SnapshotSpec.of("spam", 10, shards, 0.01, KeyHash.fixed(), Canonicaliser.NONE);
    int seen = 0;
    try (SnapshotPipeline pipeline = new SnapshotPipeline(spec, Backend.HEAP, 1, null, 1)) {
      // All in shard 0, so many that a delta of one key is short beside them.
      for (long key = 0; key < 20_000; key++) {
        pipeline.add(hash(key, spec), 1);
      }
      for (int window = 1; window <= 40; window++) {
        pipeline.add(hash(20_000L + window, spec), 10L * window + 1);
        pipeline.watermark(10L * window - 1);
        for (SnapshotRecord record : pipeline.records()) {
          if (record.kind() == SnapshotRecord.Kind.MANIFEST) {
            int deltas = Manifest.fromJson(record.value()).shards().get(0).deltas().size();
            assertThat(deltas)
                .isLessThanOrEqualTo(
                    shards > SnapshotTopicFormat.MAX_SHARDS
                        ? 2 * ChainRule.MAX_DELTAS
                        : SnapshotTopicFormat.maxDeltas(shards));
            seen = Math.max(seen, deltas);
          }
        }
      }
    }
    if (longest < ChainRule.MAX_DELTAS) {
      assertThat(seen).isEqualTo(longest);
    } else {
      assertThat(seen).isGreaterThanOrEqualTo(ChainRule.MAX_DELTAS - 1);
    }
  }

  private static long hash(long key, SnapshotSpec spec) {
    return (key * 0x9E3779B97F4A7C15L) >>> new Shards(spec.snapshotShards()).bits();
  }
}
