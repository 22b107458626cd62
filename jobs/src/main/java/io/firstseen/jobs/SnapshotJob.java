package io.firstseen.jobs;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.operators.compaction.Snapshots;
import io.firstseen.types.HashedOperation;
import io.firstseen.types.SnapshotRecord;
import io.firstseen.types.SourceEvent;
import java.util.OptionalLong;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Turns the changelog of accepted keys into windowed snapshots. */
public final class SnapshotJob {
  private static final TypeInformation<HashedOperation> OPERATION =
      TypeInformation.of(HashedOperation.class);

  private SnapshotJob() {}

  /**
   * Adds the job to the environment.
   *
   * @param acceptedChangelog accepted keys and removals; an event's key is the joined canonical
   *     key, its scope is not looked at, and one with a problem is passed over
   * @param sink where blobs and manifests go, in order
   * @throws UserErrorException if options contradict each other
   * @throws IllegalArgumentException if an option is out of its bounds
   */
  public static void build(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> acceptedChangelog,
      Sink<SnapshotRecord> sink,
      JobOptions options) {
    JobEnvironment.requireParallelismOfSnapshots(options);
    JobEnvironment.configure(env, options.stream());
    KeyHash hash = options.keys().keyHash();
    DataStream<HashedOperation> operations =
        DedupJob.events(env, acceptedChangelog, options.stream(), windowMillis(options))
            .filter(SourceEvent::isWellFormed)
            .name(OperatorUids.WELL_FORMED)
            .uid(OperatorUids.WELL_FORMED)
            .map(event -> new HashedOperation(hash.hash(event.key()), event.operation()), OPERATION)
            .name(OperatorUids.HASHED)
            .uid(OperatorUids.HASHED);
    attach(operations, sink, options);
  }

  /** Adds everything behind the accepted operations. */
  static void attach(
      DataStream<HashedOperation> operations, Sink<SnapshotRecord> sink, JobOptions options) {
    SnapshotSpec spec =
        SnapshotSpec.of(
            options.snapshots().setName(),
            options.snapshots().window().toMillis(),
            options.snapshots().shards(),
            options.snapshotFalsePositiveRate(),
            options.keys().keyHash(),
            options.keys().canonicaliser());
    Snapshots.of(operations, spec)
        .sinkTo(sink)
        .name(OperatorUids.SNAPSHOTS_SINK)
        .uid(OperatorUids.SNAPSHOTS_SINK)
        .setParallelism(1);
  }

  static OptionalLong windowMillis(JobOptions options) {
    return OptionalLong.of(options.snapshots().window().toMillis());
  }
}
