package io.firstseen.jobs;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.jobs.files.BlobDirectoryFunction;
import io.firstseen.jobs.kafka.Continued;
import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.options.ChangelogOptions;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.jobs.options.StreamOptions;
import io.firstseen.jobs.shared.JobSink;
import io.firstseen.jobs.shared.KeyFiles;
import io.firstseen.jobs.shared.OperatorUids;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.operators.compaction.Snapshots;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.serializers.SourceEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFilterFunction;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Publishes windowed snapshots of the changelog of accepted keys. */
public final class SnapshotJob {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotJob.class);
  private static final TypeInformation<HashedOperation> OPERATION =
      TypeInformation.of(HashedOperation.class);

  private static final TypeInformation<SnapshotRecord> RECORD =
      TypeInformation.of(SnapshotRecord.class);

  private static final String OPERATIONS_COUNTER = "firstseen-snapshots-operations";

  private SnapshotJob() {}

  /**
   * Adds the job to the environment.
   *
   * @param acceptedChangelog accepted and deleted keys. An event's key is the canonical key
   *     prefixed with its scope; the event's scope is ignored; an event with a problem is skipped
   * @param sink receives blobs and manifests, in order
   * @throws UserErrorException if options contradict each other
   * @throws IllegalArgumentException if an option is out of its bounds
   */
  public static void build(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> acceptedChangelog,
      JobSink<SnapshotRecord> sink,
      JobOptions options) {
    build(env, acceptedChangelog, sink, options, options.snapshots().publication());
  }

  static void build(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> acceptedChangelog,
      JobSink<SnapshotRecord> sink,
      JobOptions options,
      Publication publication) {
    JobEnvironment.requireParallelismOfSnapshots(options);
    JobEnvironment.configure(env, options.stream());
    DataStream<HashedOperation> operations =
        DedupJob.events(
                env, acceptedChangelog, options.stream(), windowMillis(options), Optional.empty())
            .filter(new WellFormedFilter())
            .name(OperatorUids.WELL_FORMED)
            .uid(OperatorUids.WELL_FORMED)
            .flatMap(new HashFunction(options), OPERATION)
            .name(OperatorUids.HASHED)
            .uid(OperatorUids.HASHED);
    attach(operations, sink, options, publication);
  }

  /**
   * The number of accepted and deleted keys that the job has read since its last start.
   *
   * @param accumulators of {@code JobClient} or {@code JobExecutionResult}
   */
  public static long operations(Map<String, Object> accumulators) {
    return accumulators.get(OPERATIONS_COUNTER) instanceof Long count ? count : 0;
  }

  private static final class HashFunction extends SetHashes<SourceEvent> {
    private static final long serialVersionUID = 1;

    private transient LongCounter counter;

    HashFunction(JobOptions options) {
      super(options);
    }

    @Override
    public void open(OpenContext context) {
      super.open(context);
      counter = getRuntimeContext().getLongCounter(OPERATIONS_COUNTER);
    }

    @Override
    public void flatMap(SourceEvent event, Collector<HashedOperation> out) {
      counter.add(1L);
      emit(event.operation(), event.key(), out);
    }
  }

  static void attach(
      DataStream<HashedOperation> operations,
      JobSink<SnapshotRecord> sink,
      JobOptions options,
      Publication publication) {
    SingleOutputStreamOperator<SnapshotRecord> records =
        Snapshots.of(
            operations,
            spec(options),
            publication.endingWindowsAfter(options.stream().idleTimeout()));
    if (options.snapshots().blobDirectory().isPresent()) {
      records =
          inOneTask(
              records.flatMap(
                  new BlobDirectoryFunction(options.snapshots().blobDirectory().get()), RECORD),
              OperatorUids.BLOB_DIRECTORY);
    }
    if (options.snapshots().signingKey().isPresent()) {
      records =
          inOneTask(
              records.map(new SigningFunction(options.snapshots().signingKey().get()), RECORD),
              OperatorUids.SIGNED);
    }
    sink.addTo(records, OperatorUids.SNAPSHOTS_SINK);
  }

  private static SnapshotSpec spec(JobOptions options) {
    return SnapshotSpec.of(
            options.snapshots().setName(),
            windowMillis(options),
            options.snapshots().shards(),
            options.snapshotFalsePositiveRate(),
            options.snapshotKeyHash(),
            options.keys().canonicaliser())
        .withTtlMillis(options.snapshotTtlMillis())
        .withNear(options.near().orElse(null));
  }

  private static SingleOutputStreamOperator<SnapshotRecord> inOneTask(
      SingleOutputStreamOperator<SnapshotRecord> operator, String uid) {
    return operator.name(uid).uid(uid).setParallelism(1);
  }

  static long windowMillis(JobOptions options) {
    return options.snapshots().window().toMillis();
  }

  static void check(KafkaOptions kafka, JobOptions options) {
    kafka.topics().requireChangelog();
    JobEnvironment.requireParallelismOfSnapshots(options);
    var unused = spec(options);
    var unusedToo = options.snapshots().publication();
  }

  /** The rules of publication. A take-over continues from the newest manifest of the topic. */
  static Publication publication(JobOptions options, Continued continued) {
    Publication publication = options.snapshots().publication();
    long latestEndMillis =
        Clock.systemUTC().millis() + options.maxAhead().toMillis() + windowMillis(options);
    return continued
        .set()
        .newest()
        .map(newest -> takingOver(publication, newest, latestEndMillis))
        .orElse(publication);
  }

  /**
   * The publication that continues after a manifest. The job does not wait for a window end after
   * {@code latestEndMillis}.
   */
  static Publication takingOver(Publication publication, Manifest newest, long latestEndMillis) {
    if (newest.sequence() == Long.MAX_VALUE) {
      throw new UserErrorException(
          ("set %s has manifest %d, which has the highest possible sequence, so no manifest can "
                  + "follow: replace its record with a tombstone, publish under another --set, or "
                  + "sign manifests, so that unsigned manifests are skipped (--signing-key)")
              .formatted(newest.setName(), newest.sequence()));
    }
    long endMillis = newest.windowEndMillis();
    if (endMillis > latestEndMillis) {
      LOG.warn(
          "the window of manifest {} of set {} ends at {}, which is too far ahead of the system "
              + "clock: earlier windows are published nevertheless",
          newest.sequence(),
          newest.setName(),
          Instant.ofEpochMilli(endMillis));
      endMillis = 0;
    }
    return publication.takingOver(newest.sequence(), newest.count(), endMillis);
  }

  /** Checks a command line, like {@link DedupJob#check(String...)}. */
  public static JobNeeds check(String... words) {
    return JobMain.check(new Arguments(), words);
  }

  /** Runs the job against Kafka; {@code --help} lists the options. */
  public static void main(String[] words) throws Exception {
    JobMain.run(new Arguments(), words, "firstseen-snapshots");
  }

  @Command(
      name = "SnapshotJob",
      footer = {
        "  flink run -d -c io.firstseen.jobs.SnapshotJob JAR --bootstrap-servers kafka:9092",
        "  flink run -d -c io.firstseen.jobs.SnapshotJob JAR --bootstrap-servers kafka:9092 \\",
        "      --ttl 7d --canonicaliser url --window 15m --set urls"
      },
      description = "Publishes windowed snapshots of the changelog of accepted keys.")
  private static final class Arguments extends JobMain.Arguments {
    @Mixin private KeyOptions keys;
    @Mixin private StreamOptions stream;
    @Mixin private ChangelogOptions changelog;
    @Mixin private SnapshotOptions snapshots;

    @Override
    JobNeeds needs() {
      return new JobNeeds(
          JobNeeds.Job.SNAPSHOTS,
          kafka,
          JobOptions.forSnapshots(keys, stream, changelog, snapshots));
    }
  }

  /**
   * Skips records that are not changes of keys, or whose time is too far ahead of the system clock.
   * Our jobs never write such records to the accepted topic. The first record of each kind is
   * logged, and all are counted.
   */
  private static final class WellFormedFilter extends RichFilterFunction<SourceEvent> {
    private static final long serialVersionUID = 1;

    private transient Counter passedOver;
    private transient UnusableEvents unusable;

    @Override
    public void open(OpenContext context) {
      passedOver = getRuntimeContext().getMetricGroup().counter("passedOver");
      unusable = new UnusableEvents(getRuntimeContext().getMetricGroup());
    }

    @Override
    public boolean filter(SourceEvent event) {
      boolean firstOfItsKind = unusable.count(event);
      if (!event.isWellFormed()) {
        passedOver.inc();
        if (firstOfItsKind) {
          LOG.warn("skipped {}: {}", event.place(), event.problem());
        }
      }
      return event.isWellFormed();
    }
  }

  /** Signs manifests. The task reads the key from its file; the job graph holds only the path. */
  private static final class SigningFunction
      extends RichMapFunction<SnapshotRecord, SnapshotRecord> {
    private static final long serialVersionUID = 1;

    private final String keyFile;
    private transient SigningKey key;

    SigningFunction(Path keyFile) {
      this.keyFile = keyFile.toAbsolutePath().toString();
    }

    @Override
    public void open(OpenContext context) {
      key = KeyFiles.signingKey(Path.of(keyFile));
    }

    @Override
    public SnapshotRecord map(SnapshotRecord record) throws IOException {
      if (record.kind() != SnapshotRecord.Kind.MANIFEST) {
        return record;
      }
      Manifest signed = key.sign(Manifest.read(record.value()));
      return new SnapshotRecord(record.kind(), record.key(), signed.toBytes());
    }
  }
}
