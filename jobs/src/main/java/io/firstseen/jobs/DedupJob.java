package io.firstseen.jobs;

import io.firstseen.jobs.events.EventWatermarks;
import io.firstseen.jobs.kafka.KafkaSinks;
import io.firstseen.jobs.kafka.KafkaSources;
import io.firstseen.jobs.kafka.Topics;
import io.firstseen.jobs.options.DedupOptions;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.StreamOptions;
import io.firstseen.jobs.shared.OperatorUids;
import io.firstseen.jobs.shared.SingleTask;
import io.firstseen.jobs.shared.UserErrorException;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Rejected;
import io.firstseen.serializers.RejectedSerializer;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import java.util.OptionalLong;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Separates first-seen keys from repeats, and emits an outcome for every event. */
public final class DedupJob {
  /** The prefix of the uids of the dedup's operators, in every job here. */
  public static final String UID_PREFIX = "firstseen";

  private static final TypeInformation<SourceEvent> EVENT = TypeInformation.of(SourceEvent.class);
  private static final TypeInformation<Outcome> OUTCOME = TypeInformation.of(Outcome.class);

  private DedupJob() {}

  /**
   * Adds the job to the environment.
   *
   * @param source the source of events, each split in order
   * @param sink receives outcomes; those of one key in the order of its events
   * @throws UserErrorException if options contradict each other
   * @throws IllegalArgumentException if an option is out of its bounds
   */
  public static void build(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> source,
      Sink<Outcome> sink,
      JobOptions options) {
    JobEnvironment.requireParallelismOfDedup(options);
    JobEnvironment.configure(env, options.stream());
    EventWatermarks watermarks = watermarks(options.stream(), OptionalLong.empty());
    if (options.dedup().ttl().isPresent()) {
      watermarks = watermarks.forExpiry(options.dedup().ttl().get(), options.dedup().shards());
    }
    attach(events(env, source, watermarks), sink, options);
  }

  /** The watermarks of a source. */
  static EventWatermarks watermarks(StreamOptions options, OptionalLong windowMillis) {
    return EventWatermarks.of(options.outOfOrderness(), options.idleTimeout(), windowMillis);
  }

  /** The source with watermarks. */
  static SingleOutputStreamOperator<SourceEvent> events(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> source,
      EventWatermarks watermarks) {
    return env.fromSource(source, watermarks, OperatorUids.SOURCE, EVENT).uid(OperatorUids.SOURCE);
  }

  /** Adds everything behind the source. Returns the accepted changes. */
  static DataStream<Change<SourceEvent>> attach(
      SingleOutputStreamOperator<SourceEvent> events, Sink<Outcome> sink, JobOptions options) {
    OutputTag<Rejected<SourceEvent>> malformed =
        new OutputTag<>("malformed", RejectedSerializer.info(EVENT));
    SingleOutputStreamOperator<SourceEvent> wellFormed =
        events
            .process(new WellFormedFunction(malformed), EVENT)
            .name(OperatorUids.WELL_FORMED)
            .uid(OperatorUids.WELL_FORMED);
    DedupStreams<SourceEvent> dedup =
        described(
                Firstseen.dedup(wellFormed),
                options.keys(),
                options.keyHashSource(),
                options.dedup())
            .key(SourceEvent::key)
            .operation(SourceEvent::operation)
            .scope(SourceEvent::scope)
            .apply();
    DataStream<Outcome> accepted =
        outcomes(
            dedup.accepted(),
            change ->
                Outcome.of(
                    change.operation() == Operation.ADD
                        ? Outcome.Kind.ACCEPTED
                        : Outcome.Kind.REMOVED,
                    change.key(),
                    change.event()),
            OperatorUids.ACCEPTED);
    DataStream<Outcome> duplicates =
        outcomes(
            dedup.duplicates(),
            change -> Outcome.of(Outcome.Kind.DUPLICATE, change.key(), change.event()),
            OperatorUids.DUPLICATES);
    DataStream<Outcome> falseDuplicates =
        outcomes(
            dedup.falselyDropped(),
            change -> Outcome.of(Outcome.Kind.FALSE_DUPLICATE, change.key(), change.event()),
            OperatorUids.FALSE_DUPLICATES);
    DataStream<Outcome> unknownDeletes =
        outcomes(
            dedup.unknownDeletes(),
            change -> Outcome.of(Outcome.Kind.UNKNOWN_DELETE, change.key(), change.event()),
            OperatorUids.UNKNOWN_DELETES);
    DataStream<Outcome> deadLetters =
        outcomes(
            dedup.deadLetters().union(wellFormed.getSideOutput(malformed)),
            rejected -> Outcome.deadLetter(rejected.event(), rejected.reason()),
            OperatorUids.DEAD_LETTERS);
    var written =
        accepted
            .union(duplicates, falseDuplicates, unknownDeletes, deadLetters)
            .sinkTo(sink)
            .name(OperatorUids.OUTCOMES_SINK)
            .uid(OperatorUids.OUTCOMES_SINK);
    if (sink instanceof SingleTask) {
      written.setParallelism(1);
    }
    return dedup.accepted();
  }

  private static <T> Firstseen<T> described(
      Firstseen<T> dedup, KeyOptions keys, KeyHashSource hash, DedupOptions options) {
    dedup
        .uidPrefix(UID_PREFIX)
        .canonicaliser(keys.canonicaliser())
        .hash(hash)
        .capacity(options.capacity())
        .falsePositiveRate(options.falsePositiveRate())
        .shards(options.shards())
        .mode(options.mode())
        .audit(options.auditSlices())
        .pageCacheBytes(options.pageCacheBytes());
    options.ttl().ifPresent(dedup::ttl);
    return dedup;
  }

  /**
   * The parameters of the dedup state for these options.
   *
   * @throws UserErrorException if options contradict each other
   */
  public static DedupParameters parameters(KeyOptions keys, DedupOptions options) {
    try {
      return described(
              Firstseen.withoutEvents(), keys, KeyHashSource.inJob(keys.keyHash()), options)
          .parameters();
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("these options do not fit together: " + e.getMessage());
    }
  }

  private static <T> SingleOutputStreamOperator<Outcome> outcomes(
      DataStream<T> stream, MapFunction<T, Outcome> toOutcome, String uid) {
    return stream.map(new OutcomeCounts.Counting<>(toOutcome), OUTCOME).name(uid).uid(uid);
  }

  /** Passes on well-formed events; the others become dead letters. */
  private static final class WellFormedFunction extends ProcessFunction<SourceEvent, SourceEvent> {
    private static final long serialVersionUID = 1;

    private final OutputTag<Rejected<SourceEvent>> malformed;
    private transient UnusableEvents unusable;

    WellFormedFunction(OutputTag<Rejected<SourceEvent>> malformed) {
      this.malformed = malformed;
    }

    @Override
    public void open(OpenContext context) {
      unusable = new UnusableEvents(getRuntimeContext().getMetricGroup());
    }

    @Override
    public void processElement(SourceEvent event, Context context, Collector<SourceEvent> out) {
      unusable.count(event, context.timerService());
      if (event.isWellFormed()) {
        out.collect(event);
      } else {
        context.output(malformed, new Rejected<>(event.problem(), event));
      }
    }
  }

  /**
   * Adds the job to the environment, reading from and writing to Kafka. Sets up checkpoints, checks
   * the broker, and prepares the topics.
   *
   * @throws UserErrorException if options contradict each other, or the broker or a topic does not
   *     meet the job's needs
   * @throws IllegalArgumentException if an option is out of its bounds
   */
  public static void buildOnKafka(
      StreamExecutionEnvironment env, KafkaOptions kafka, JobOptions options) {
    kafka.check();
    JobEnvironment.configureCheckpoints(env, kafka);
    build(
        env,
        KafkaSources.events(kafka, options.dedup().maxAhead()),
        KafkaSinks.outcomes(kafka),
        options);
    Topics.prepareDedup(kafka);
  }

  /** Runs the job against Kafka; {@code --help} lists the options. */
  public static void main(String[] words) throws Exception {
    Arguments arguments = new Arguments();
    JobMain.run(arguments, words, arguments::build, "firstseen-dedup");
  }

  @Command(
      name = "DedupJob",
      mixinStandardHelpOptions = true,
      sortOptions = true,
      description = "Tells first-seen keys from repeats.")
  private static final class Arguments {
    @Mixin private KeyOptions keys;
    @Mixin private StreamOptions stream;
    @Mixin private DedupOptions dedup;
    @Mixin private KafkaOptions kafka;

    void build(StreamExecutionEnvironment env) {
      JobOptions options = JobOptions.forDedup(keys, stream, dedup);
      JobMain.warnOfHashKeys(options);
      buildOnKafka(env, kafka, options);
    }
  }
}
