package io.firstseen.benchmarks.compaction;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;

/**
 * The operators of a snapshot job, window by window; its clock follows the windows. Keeps the blobs
 * that have not been removed.
 */
public final class WindowPublisher implements AutoCloseable {
  // Today's times, since small numbers have fewer bytes in a manifest.
  private static final long START_MILLIS = Instant.parse("2026-11-23T00:00:00Z").toEpochMilli();

  private final KeyedOneInputStreamOperatorTestHarness<Object, HashedOperation, ShardSnapshot>
      compaction;
  private final KeyedOneInputStreamOperatorTestHarness<Object, ShardSnapshot, SnapshotRecord>
      manifests;
  private final long windowMillis;
  private final Map<String, byte[]> blobs = new HashMap<>();
  private long windowStart = START_MILLIS;
  private Manifest manifest;

  /** Opens the operators of a set. */
  public WindowPublisher(SnapshotSpec spec, Publication publication) throws Exception {
    windowMillis = spec.windowMillis();
    compaction = SnapshotHarness.compaction(spec);
    manifests = SnapshotHarness.manifests(spec, publication);
  }

  /** Closes the next window; returns the records that the job writes for it, in order. */
  public List<SnapshotRecord> close(Iterable<HashedOperation> operations) throws Exception {
    for (HashedOperation operation : operations) {
      compaction.processElement(new StreamRecord<>(operation, windowStart));
    }
    long windowEnd = windowStart + windowMillis;
    compaction.processWatermark(windowEnd - 1);
    manifests.setProcessingTime(windowEnd);
    for (ShardSnapshot report : compaction.extractOutputValues()) {
      manifests.processElement(new StreamRecord<>(report, windowEnd - 1));
    }
    compaction.getOutput().clear();
    manifests.processWatermark(windowEnd - 1);
    List<SnapshotRecord> records =
        manifests.extractOutputValues().stream()
            .filter(record -> record.kind() != SnapshotRecord.Kind.IN_USE)
            .toList();
    manifests.getOutput().clear();
    windowStart = windowEnd;
    for (SnapshotRecord record : records) {
      switch (record.kind()) {
        case BLOB -> blobs.put(record.key(), record.value());
        case REMOVAL -> blobs.remove(record.key());
        case MANIFEST -> manifest = Manifest.read(record.value());
        case IN_USE -> {}
      }
    }
    return records;
  }

  /** The newest manifest. */
  public Manifest manifest() {
    return manifest;
  }

  /** Reads the blobs that have not been removed. */
  public BlobLoader loader() {
    return blob -> {
      byte[] bytes = blobs.get(blob.digest());
      if (bytes == null) {
        throw new MissingBlobsException(List.of(blob));
      }
      return ByteBuffer.wrap(bytes);
    };
  }

  @Override
  public void close() {
    try {
      compaction.close();
      manifests.close();
    } catch (Exception e) {
      throw new IllegalStateException("the operators could not be closed", e);
    }
  }
}
