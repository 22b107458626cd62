package io.firstseen.benchmarks.compaction;

import io.firstseen.benchmarks.shared.Harnesses;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.operators.compaction.Snapshots;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
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

  public WindowPublisher(SnapshotSpec spec, Publication publication) throws Exception {
    windowMillis = spec.windowMillis();
    compaction = open(spec, Publication.OF_ALL, "-compaction");
    manifests = open(spec, publication, "-manifest");
  }

  /** Publishes a window of these canonical keys, in 16 shards at a rate of 0.1 %. */
  public static WindowPublisher ofKeys(String set, Canonicaliser canonicaliser, Stream<String> keys)
      throws Exception {
    KeyHash hash = KeyHash.fixed();
    WindowPublisher publisher =
        new WindowPublisher(
            SnapshotSpec.of(set, Duration.ofHours(1).toMillis(), 16, 0.001, hash, canonicaliser),
            Publication.OF_ALL);
    publisher.close(
        () ->
            keys.map(key -> hash.hash(key.getBytes(StandardCharsets.UTF_8)))
                .map(key -> new HashedOperation(key, Operation.ADD))
                .iterator());
    return publisher;
  }

  /** One of the two operators of {@link Snapshots}, by the end of its name. */
  static <I, O> KeyedOneInputStreamOperatorTestHarness<Object, I, O> open(
      SnapshotSpec spec, Publication publication, String step) throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    KeyedOneInputStreamOperatorTestHarness<Object, I, O> harness =
        Harnesses.of(
            Snapshots.of(env.fromData(new HashedOperation(0, Operation.ADD)), spec, publication)
                .getTransformation()
                .getTransitivePredecessors()
                .stream()
                .filter(each -> each.getName().equals(spec.setName() + step))
                .findFirst()
                .orElseThrow(),
            null);
    harness.open();
    return harness;
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

  /** Writes the newest manifest and its blobs. */
  public void writeTo(SnapshotDirectory directory) throws IOException {
    for (Map.Entry<String, byte[]> blob : blobs.entrySet()) {
      directory.writeBlob(blob.getKey(), blob.getValue());
    }
    directory.writeManifest(manifest);
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
