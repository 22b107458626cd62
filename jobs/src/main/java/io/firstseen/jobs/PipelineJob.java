package io.firstseen.jobs;

import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.shared.JobSink;
import io.firstseen.jobs.shared.OperatorUids;
import io.firstseen.jobs.shared.OutcomeSinks;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.util.Optional;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@link DedupJob} and {@link SnapshotJob} in one graph, without a topic between them. */
public final class PipelineJob {

  private PipelineJob() {}

  /**
   * Adds the job to the environment.
   *
   * @param source the source of events, each split in order
   * @param snapshots receives blobs and manifests, in order
   * @throws UserErrorException if options contradict each other
   * @throws IllegalArgumentException if an option is out of its bounds
   */
  public static void build(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> source,
      OutcomeSinks outcomes,
      JobSink<SnapshotRecord> snapshots,
      JobOptions options) {
    build(env, source, outcomes, snapshots, options, options.snapshots().publication());
  }

  static void build(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> source,
      OutcomeSinks outcomes,
      JobSink<SnapshotRecord> snapshots,
      JobOptions options,
      Publication publication) {
    JobEnvironment.requireParallelismOfDedup(options);
    JobEnvironment.requireParallelismOfSnapshots(options);
    JobEnvironment.configure(env, options.stream());
    var events =
        DedupJob.events(
            env,
            source,
            options.stream(),
            SnapshotJob.windowMillis(options),
            Optional.of(options.dedup()));
    DataStream<HashedOperation> operations =
        DedupJob.attach(events, outcomes, options)
            .flatMap(new HashFunction(options), TypeInformation.of(HashedOperation.class))
            .name(OperatorUids.HASHED)
            .uid(OperatorUids.HASHED);
    SnapshotJob.attach(operations, snapshots, options, publication);
  }

  private static final class HashFunction extends SetHashes<Outcome> {
    private static final long serialVersionUID = 1;

    HashFunction(JobOptions options) {
      super(options);
    }

    @Override
    public void flatMap(Outcome outcome, Collector<HashedOperation> out) {
      switch (outcome.kind()) {
        case ACCEPTED -> emit(Operation.ADD, outcome.canonicalKey(), out);
        case REMOVED -> emit(Operation.DELETE, outcome.canonicalKey(), out);
        default -> {
          // Other outcomes do not change the set.
        }
      }
    }
  }

  /** Checks a command line, like {@link DedupJob#check(String...)}. */
  public static JobNeeds check(String... words) {
    return JobMain.check(new Arguments(), words);
  }

  /** Runs the job against Kafka; {@code --help} lists the options. */
  public static void main(String[] words) throws Exception {
    JobMain.run(new Arguments(), words, "firstseen-pipeline");
  }

  @Command(
      name = "PipelineJob",
      footer = {
        "  flink run -d -c io.firstseen.jobs.PipelineJob JAR --bootstrap-servers kafka:9092",
        "  flink run -d -c io.firstseen.jobs.PipelineJob JAR --bootstrap-servers kafka:9092 \\",
        "      --ttl 7d --state-backend rocksdb --parallelism 4 --window 15m"
      },
      description =
          "Detects the first occurrence of each key and publishes snapshots of the "
              + "live keys, in one job.")
  private static final class Arguments extends JobMain.Arguments {
    @Mixin private JobOptions options;

    @Override
    JobNeeds needs() {
      return new JobNeeds(JobNeeds.Job.PIPELINE, kafka, options);
    }
  }
}
