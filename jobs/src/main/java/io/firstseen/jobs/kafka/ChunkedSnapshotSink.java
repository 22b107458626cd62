package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.jobs.shared.OperatorUids;
import io.firstseen.jobs.shared.SingleTask;
import io.firstseen.serializers.SnapshotRecord;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreWriteTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.Collector;
import org.apache.flink.util.function.SerializableFunction;

/**
 * A Kafka sink behind two steps: one ensures that a single job publishes a set; the other cuts each
 * blob into chunks, one per record, and a removed blob into a tombstone for each chunk.
 */
final class ChunkedSnapshotSink extends DeferredKafkaSink<SnapshotRecord>
    implements SupportsPreWriteTopology<SnapshotRecord>, SingleTask {
  private static final long serialVersionUID = 1;

  private final PublisherFunction publisher;

  ChunkedSnapshotSink(
      PublisherFunction publisher,
      SerializableFunction<String, KafkaSink<SnapshotRecord>> withPrefix,
      String prefix) {
    super(withPrefix, prefix);
    this.publisher = publisher;
  }

  @Override
  public DataStream<SnapshotRecord> addPreWriteTopology(DataStream<SnapshotRecord> records) {
    return records
        .flatMap(publisher, TypeInformation.of(SnapshotRecord.class))
        .name(OperatorUids.PUBLISHER)
        .uid(OperatorUids.PUBLISHER)
        .setParallelism(1)
        .flatMap(new Cutter(), TypeInformation.of(SnapshotRecord.class))
        .name(OperatorUids.CHUNKS)
        .uid(OperatorUids.CHUNKS)
        .setParallelism(1);
  }

  /** Cuts blobs into chunks and keeps the order. */
  static final class Cutter implements FlatMapFunction<SnapshotRecord, SnapshotRecord> {
    private static final long serialVersionUID = 1;

    @Override
    public void flatMap(SnapshotRecord record, Collector<SnapshotRecord> out) {
      switch (record.kind()) {
        case MANIFEST -> out.collect(record);
        case BLOB -> {
          int chunks = SnapshotTopicFormat.chunkCount(record.value().length);
          for (int index = 0; index < chunks; index++) {
            out.collect(part(record, index, SnapshotTopicFormat.chunk(record.value(), index)));
          }
        }
        case REMOVAL -> {
          int chunks = SnapshotTopicFormat.chunkCount(record.removedBytes());
          for (int index = 0; index < chunks; index++) {
            out.collect(part(record, index, record.value()));
          }
        }
      }
    }

    private static SnapshotRecord part(SnapshotRecord whole, int index, byte[] value) {
      return new SnapshotRecord(
          whole.kind(), SnapshotTopicFormat.chunkKey(whole.key(), index), value);
    }
  }
}
