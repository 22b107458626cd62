package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.serializers.SnapshotRecord;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Serializes published blobs and manifests into records: a record per chunk of a blob, a tombstone
 * per chunk of a deleted blob, and a record per manifest. {@link SnapshotTopicFormat} defines their
 * partitions.
 */
record SnapshotRecords(String topic)
    implements KafkaRecordSerializationSchema<SnapshotRecords.Part> {
  /** A chunk of a blob of this kind, or a manifest if it is null; a null value is a tombstone. */
  @SuppressWarnings("ArrayRecordComponent")
  record Part(BlobFrame.@Nullable Kind blob, String key, byte @Nullable [] value) {}

  /** The parts of a published record; the parts of a blob are created one at a time. */
  static Iterable<Part> parts(SnapshotRecord record) {
    byte[] value = record.value();
    return switch (record.kind()) {
      case MANIFEST -> List.of(new Part(null, record.key(), value));
      case BLOB ->
          chunks(
              kindOf(record),
              record.key(),
              value.length,
              index -> SnapshotTopicFormat.chunk(value, index));
      case REMOVAL ->
          chunks(record.removedKind(), record.key(), record.removedBytes(), index -> null);
      case IN_USE -> throw new IllegalStateException("the blobs in use are not published");
    };
  }

  private static BlobFrame.Kind kindOf(SnapshotRecord blob) {
    return BlobFrame.peek(ByteBuffer.wrap(blob.value()))
        .orElseThrow(() -> new IllegalStateException(blob + " is not a blob"))
        .kind();
  }

  private static Iterable<Part> chunks(
      BlobFrame.Kind kind, String digest, long bytes, IntFunction<byte @Nullable []> value) {
    return () ->
        IntStream.range(0, SnapshotTopicFormat.chunkCount(bytes))
            .mapToObj(
                index ->
                    new Part(kind, SnapshotTopicFormat.chunkKey(digest, index), value.apply(index)))
            .iterator();
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      Part part, KafkaSinkContext context, Long timestamp) {
    int partition =
        part.blob() == null
            ? 0
            : SnapshotTopicFormat.partitionOf(
                part.blob(), context.getPartitionsForTopic(topic).length);
    return new ProducerRecord<>(topic, partition, part.key().getBytes(UTF_8), part.value());
  }
}
