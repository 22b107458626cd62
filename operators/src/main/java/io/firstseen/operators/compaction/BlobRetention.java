package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.serializers.SnapshotRecord;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.util.Collector;

/**
 * Removes a blob once it has not been in use for the grace period, so that readers of older
 * manifests can still fetch it during the grace period. The blobs are checked only when a manifest
 * is published. The grace period is measured in processing time, because readers run in real time
 * regardless of the speed of event time. State holds one entry for each published blob.
 */
final class BlobRetention {
  private static final long IN_USE = -1;

  private final long graceMillis;
  // Digest to (code of the kind, length, processing time since which the blob is not in use, or
  // IN_USE).
  private final MapState<String, Tuple3<Integer, Long, Long>> blobs;

  BlobRetention(Publication publication, RuntimeContext context) {
    this.graceMillis = publication.graceMillis();
    this.blobs =
        context.getMapState(
            new MapStateDescriptor<>(
                "blobs", Types.STRING, Types.TUPLE(Types.INT, Types.LONG, Types.LONG)));
  }

  /** Records a published blob that a manifest will need. */
  void blobPublished(BlobReference blob, BlobFrame.Kind kind) throws Exception {
    if (graceMillis != Publication.KEEP_BLOBS) {
      blobs.put(blob.digest(), Tuple3.of(kind.code(), blob.bytes(), IN_USE));
    }
  }

  /**
   * Records that a manifest was published, and removes the blobs whose grace period has ended.
   *
   * @param inUse the published blobs that this manifest or a later one needs
   * @param nowMillis the processing time
   */
  void manifestPublished(
      Map<BlobReference, BlobFrame.Kind> inUse, long nowMillis, Collector<SnapshotRecord> out)
      throws Exception {
    if (graceMillis == Publication.KEEP_BLOBS) {
      return;
    }
    Map<String, Tuple3<Integer, Long, Long>> changed = new HashMap<>();
    // This includes blobs that were published while retention was off.
    inUse.forEach(
        (blob, kind) -> changed.put(blob.digest(), Tuple3.of(kind.code(), blob.bytes(), IN_USE)));
    Map<String, Tuple3<Integer, Long, Long>> due = new TreeMap<>();
    for (Map.Entry<String, Tuple3<Integer, Long, Long>> entry : blobs.entries()) {
      String digest = entry.getKey();
      Tuple3<Integer, Long, Long> blob = entry.getValue();
      if (changed.containsKey(digest)) {
        changed.remove(digest, blob);
      } else if (blob.f2 == IN_USE) {
        changed.put(digest, Tuple3.of(blob.f0, blob.f1, nowMillis));
      } else if (nowMillis - blob.f2 >= graceMillis) {
        due.put(digest, blob);
      }
    }
    blobs.putAll(changed);
    for (Map.Entry<String, Tuple3<Integer, Long, Long>> blob : due.entrySet()) {
      blobs.remove(blob.getKey());
      out.collect(
          SnapshotRecord.removal(
              new BlobReference(blob.getKey(), blob.getValue().f1),
              BlobFrame.Kind.of(blob.getValue().f0)));
    }
  }
}
