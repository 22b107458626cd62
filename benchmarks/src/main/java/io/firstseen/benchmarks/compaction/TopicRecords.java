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
      case BLOB ->
          chunks(
              topic,
              partitions,
              record,
              BlobFrame.peek(ByteBuffer.wrap(value)).orElseThrow().kind(),
              value.length);
      case REMOVAL ->
          chunks(topic, partitions, record, record.removedKind(), record.removedBytes());
      case IN_USE -> List.of();
    };
  }

  private static List<ProducerRecord<byte[], byte[]>> chunks(
      String topic, int partitions, SnapshotRecord record, BlobFrame.Kind kind, long bytes) {
    int partition = SnapshotTopicFormat.partitionOf(kind, partitions);
    boolean removed = record.kind() == SnapshotRecord.Kind.REMOVAL;
    return IntStream.range(0, SnapshotTopicFormat.chunkCount(bytes))
        .mapToObj(
            i ->
                recordOf(
                    topic,
                    partition,
                    SnapshotTopicFormat.chunkKey(record.key(), i),
                    removed ? null : SnapshotTopicFormat.chunk(record.value(), i)))
        .toList();
  }

  private static ProducerRecord<byte[], byte[]> recordOf(
      String topic, int partition, String key, byte @Nullable [] value) {
    return new ProducerRecord<>(topic, partition, key.getBytes(StandardCharsets.UTF_8), value);
  }
}
