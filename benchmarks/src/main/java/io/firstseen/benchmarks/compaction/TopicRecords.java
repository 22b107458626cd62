package io.firstseen.benchmarks.compaction;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.serializers.SnapshotRecord;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** The records of a snapshots topic, as the job's sink writes them. */
public final class TopicRecords {
  private TopicRecords() {}

  /** A manifest, the chunks of a blob, or their removals. */
  public static List<ProducerRecord<byte[], byte[]>> of(
      String topic, int partitions, SnapshotRecord record) {
    byte[] value = record.value();
    return switch (record.kind()) {
      case MANIFEST -> List.of(recordOf(topic, 0, record.key(), value));
      case BLOB -> {
        BlobFrame.Kind kind = BlobFrame.peek(ByteBuffer.wrap(value)).orElseThrow().kind();
        int partition = SnapshotTopicFormat.partitionOf(kind, partitions);
        yield IntStream.range(0, SnapshotTopicFormat.chunkCount(value.length))
            .mapToObj(
                i ->
                    recordOf(
                        topic,
                        partition,
                        SnapshotTopicFormat.chunkKey(record.key(), i),
                        SnapshotTopicFormat.chunk(value, i)))
            .toList();
      }
      case REMOVAL -> {
        int partition = SnapshotTopicFormat.partitionOf(record.removedKind(), partitions);
        yield IntStream.range(0, SnapshotTopicFormat.chunkCount(record.removedBytes()))
            .mapToObj(
                i ->
                    recordOf(topic, partition, SnapshotTopicFormat.chunkKey(record.key(), i), null))
            .toList();
      }
      case IN_USE -> List.of();
    };
  }

  private static ProducerRecord<byte[], byte[]> recordOf(
      String topic, int partition, String key, byte @Nullable [] value) {
    return new ProducerRecord<>(topic, partition, key.getBytes(StandardCharsets.UTF_8), value);
  }
}
