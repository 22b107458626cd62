package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.jobs.OperatorUids;
import io.firstseen.jobs.SingleTask;
import io.firstseen.types.SnapshotRecord;
import java.io.IOException;
import java.util.Collection;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.api.connector.sink2.CommitterInitContext;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.SupportsCommitter;
import org.apache.flink.api.connector.sink2.SupportsWriterState;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaWriterState;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.SupportsPostCommitTopology;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreWriteTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.Collector;

/**
 * A Kafka sink with a guard and a cutter before it: one job alone publishes a set, a record of the
 * topic takes a chunk, not a blob, and a removed blob needs a tombstone for each. All else is the
 * Kafka sink's, which is not open to extension.
 */
final class ChunkedSnapshotSink
    implements Sink<SnapshotRecord>,
        SupportsPreWriteTopology<SnapshotRecord>,
        SupportsWriterState<SnapshotRecord, KafkaWriterState>,
        SupportsCommitter<KafkaCommittable>,
        SupportsPostCommitTopology<KafkaCommittable>,
        SingleTask {
  private static final long serialVersionUID = 1;

  private final PublisherFunction publisher;
  private final KafkaSink<SnapshotRecord> kafka;

  ChunkedSnapshotSink(PublisherFunction publisher, KafkaSink<SnapshotRecord> kafka) {
    this.publisher = publisher;
    this.kafka = kafka;
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

  /** Cuts blobs; the order stays. */
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

  /**
   * A job without state asks here whether it may publish: Flink makes the writer before it starts
   * the publisher, and the writer ends what transactions of its ids are open, so a job that is
   * refused later would have ended those of the job that runs.
   */
  @Override
  public SinkWriter<SnapshotRecord> createWriter(WriterInitContext context) throws IOException {
    publisher.requireMayBeginWithoutState();
    return kafka.createWriter(context);
  }

  @Override
  public StatefulSinkWriter<SnapshotRecord, KafkaWriterState> restoreWriter(
      WriterInitContext context, Collection<KafkaWriterState> recovered) throws IOException {
    return kafka.restoreWriter(context, recovered);
  }

  @Override
  public SimpleVersionedSerializer<KafkaWriterState> getWriterStateSerializer() {
    return kafka.getWriterStateSerializer();
  }

  @Override
  public Committer<KafkaCommittable> createCommitter(CommitterInitContext context)
      throws IOException {
    return kafka.createCommitter(context);
  }

  @Override
  public SimpleVersionedSerializer<KafkaCommittable> getCommittableSerializer() {
    return kafka.getCommittableSerializer();
  }

  @Override
  public void addPostCommitTopology(DataStream<CommittableMessage<KafkaCommittable>> committables) {
    kafka.addPostCommitTopology(committables);
  }
}
