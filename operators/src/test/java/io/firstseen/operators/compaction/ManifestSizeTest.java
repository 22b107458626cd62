package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.operators.compaction.SnapshotPipeline.Backend;
import io.firstseen.serializers.SnapshotRecord;
import org.junit.jupiter.api.Test;

/** How long a manifest and a list of bases of many shards are after many windows. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class ManifestSizeTest {
  private static final int WINDOWS = Integer.getInteger("firstseen.scale", 1) > 1 ? 1_000 : 250;

  @Test
  void aManifestOf2048ShardsDoesNotGrowInManyWindows() throws Exception {
    SnapshotSpec spec =
        SnapshotSpec.of("spam", 10, 2_048, 0.01, KeyHash.fixed(), Canonicaliser.NONE);
    long first = 0;
    int manifests = 0;
    int lists = 0;
    try (SnapshotPipeline pipeline = new SnapshotPipeline(spec, Backend.HEAP, 1, null, 1)) {
      for (long key = 0; key < 20_000; key++) {
        pipeline.add(hash(key), 1);
      }
      for (long window = 1; window <= WINDOWS; window++) {
        pipeline.add(hash(20_000 + window), 10 * window - 1);
        pipeline.watermark(10 * window - 1);
        for (SnapshotRecord record : pipeline.records()) {
          if (record.kind() == SnapshotRecord.Kind.MANIFEST) {
            manifests++;
            assertThat(Manifest.read(record.value()).count()).isEqualTo(20_000 + window);
            first = first == 0 ? record.value().length : first;
            assertThat(record.value().length).isBetween(100, 999).isLessThan((int) first + 10);
          } else if (record.kind() == SnapshotRecord.Kind.BLOB
              && PublishedSets.kindOf(record.value()) == BlobFrame.Kind.BASE_LIST) {
            lists++;
            assertThat(record.value()).hasSizeLessThan(256_000);
          }
        }
      }
    }
    assertThat(manifests).isEqualTo(WINDOWS);
    assertThat(lists).as("no window but those where one is due").isBetween(2, 20);
  }

  private static long hash(long key) {
    return key * 0x9E3779B97F4A7C15L;
  }
}
