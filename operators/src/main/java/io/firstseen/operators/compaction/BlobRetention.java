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
 * Removes blobs that no manifest names any more, when readers of older manifests have had their
 * time. Looked through whenever a manifest goes out and at no other time, by the clock of the
 * machine: readers live by that one, however fast event time runs. State holds an entry for each
 * blob that lies where they are published, named by a manifest or never.
 */
final class BlobRetention {
  private static final long IN_USE = -1;

  private final long graceMillis;
  // Digest to length, and since when nothing has named it.
  private final MapState<String, Tuple2<Long, Long>> blobs;

  BlobRetention(Publication publication, RuntimeContext context) {
    this.graceMillis = publication.graceMillis();
    this.blobs =
        context.getMapState(
            new MapStateDescriptor<>("blobs", Types.STRING, Types.TUPLE(Types.LONG, Types.LONG)));
  }

  /** A blob goes out that the next manifest, or a later one, will name. */
  void blobWentOut(BlobReference blob) throws Exception {
    if (graceMillis != Publication.KEEP_BLOBS) {
      blobs.put(blob.digest(), Tuple2.of(blob.bytes(), IN_USE));
    }
  }

  /**
   * A manifest went out.
   *
   * @param awaited digests of blobs that are out already and that a later manifest will name
   * @param nowMillis the time of the machine
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
    // Those that went out before this rule was kept.
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
