package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.serializers.SnapshotRecord;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.util.Collector;

/**
 * Removes a blob once no manifest has named it for the grace period, so that readers of older
 * manifests can still fetch it in that time. The blobs are checked only when a manifest is
 * published. The grace period is measured in processing time, because readers run in real time
 * however fast event time advances. State holds one entry for each published blob, whether or not a
 * manifest has named it yet.
 */
final class BlobRetention {
  private static final long IN_USE = -1;

  private final long graceMillis;
  // Digest to (length, processing time since which no manifest has named the blob, or IN_USE).
  private final MapState<String, Tuple2<Long, Long>> blobs;

  BlobRetention(Publication publication, RuntimeContext context) {
    this.graceMillis = publication.graceMillis();
    this.blobs =
        context.getMapState(
            new MapStateDescriptor<>("blobs", Types.STRING, Types.TUPLE(Types.LONG, Types.LONG)));
  }

  /** Records a published blob that the next manifest, or a later one, will name. */
  void blobWentOut(BlobReference blob) throws Exception {
    if (graceMillis != Publication.KEEP_BLOBS) {
      blobs.put(blob.digest(), Tuple2.of(blob.bytes(), IN_USE));
    }
  }

  /**
   * Records a published manifest, and removes the blobs whose grace period is over.
   *
   * @param awaited digests of published blobs that a later manifest will name
   * @param nowMillis the processing time
   */
  void manifestWentOut(
      Manifest manifest, Set<String> awaited, long nowMillis, Collector<SnapshotRecord> out)
      throws Exception {
    if (graceMillis == Publication.KEEP_BLOBS) {
      return;
    }
    Map<String, Long> named = named(manifest);
    Map<String, Tuple2<Long, Long>> changed = new HashMap<>();
    Map<String, Long> due = new TreeMap<>();
    for (Map.Entry<String, Tuple2<Long, Long>> blob : blobs.entries()) {
      String digest = blob.getKey();
      long bytes = blob.getValue().f0;
      long since = blob.getValue().f1;
      boolean inUse = named.remove(digest) != null || awaited.contains(digest);
      if (inUse != (since == IN_USE)) {
        changed.put(digest, Tuple2.of(bytes, inUse ? IN_USE : nowMillis));
      } else if (!inUse && nowMillis - since >= graceMillis) {
        due.put(digest, bytes);
      }
    }
    // Blobs that were published while retention was off.
    named.forEach((digest, bytes) -> changed.put(digest, Tuple2.of(bytes, IN_USE)));
    blobs.putAll(changed);
    for (Map.Entry<String, Long> blob : due.entrySet()) {
      blobs.remove(blob.getKey());
      out.collect(SnapshotRecord.removal(blob.getKey(), blob.getValue()));
    }
  }

  private static Map<String, Long> named(Manifest manifest) {
    Map<String, Long> named = new HashMap<>();
    for (ManifestShard shard : manifest.shards()) {
      shard.blobs().forEach(blob -> named.put(blob.digest(), blob.bytes()));
    }
    return named;
  }
}
