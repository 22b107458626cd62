package io.firstseen.jobs;

import io.firstseen.events.EventWatermarks;
import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.options.DedupOptions;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.StreamOptions;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.jobs.shared.OperatorUids;
import io.firstseen.jobs.shared.OutcomeSinks;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Extractor;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.operators.dedup.OutcomeFunction;
import io.firstseen.operators.dedup.OutcomeStream;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Rejected;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.DedupParameters;
import java.util.Optional;
import org.apache.flink.api.common.functions.AbstractRichFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

/** Separates new keys from duplicates, and emits an outcome for every event. */
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
   * @throws UserErrorException if options contradict each other
   * @throws IllegalArgumentException if an option is out of its bounds
   */
  public static void build(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> source,
      OutcomeSinks sinks,
      JobOptions options) {
    JobEnvironment.requireParallelismOfDedup(options);
    JobEnvironment.configure(env, options.stream());
    attach(events(env, source, options.stream(), 0, Optional.of(options.dedup())), sinks, options);
  }

  /** The events of a source. A job without windows has windows of 0 ms. */
  static SingleOutputStreamOperator<SourceEvent> events(
      StreamExecutionEnvironment env,
      Source<SourceEvent, ?, ?> source,
      StreamOptions options,
      long windowMillis,
      Optional<DedupOptions> dedup) {
    EventWatermarks watermarks =
        new EventWatermarks(
            options.outOfOrderness(),
            options.idleTimeout(),
            windowMillis,
            dedup.flatMap(DedupOptions::ttl).orElse(null),
            dedup.map(DedupOptions::shards).orElse(0));
    return env.fromSource(source, watermarks, OperatorUids.SOURCE, EVENT).uid(OperatorUids.SOURCE);
  }

  /** Adds all operators after the source. Returns all outcomes except dead letters. */
  static DataStream<Outcome> attach(
      SingleOutputStreamOperator<SourceEvent> events, OutcomeSinks sinks, JobOptions options) {
    Firstseen<SourceEvent> description =
        described(Firstseen.dedup(events), options.keys(), options.keyHashSource(), options.dedup())
            .problem(new Problems())
            .key(SourceEvent::key)
            .operation(SourceEvent::operation)
            .scope(SourceEvent::scope);
    if (options.dedup().canShareTask()) {
      events.setMaxParallelism(options.dedup().shards());
      if (options.stream().parallelism() == 1) {
        description.inTaskOfInput();
      }
    } else {
      Configuration settings = new Configuration();
      settings.set(
          PipelineOptions.OPERATOR_CHAINING_CHAIN_OPERATORS_WITH_DIFFERENT_MAX_PARALLELISM, false);
      events.getExecutionEnvironment().configure(settings);
    }
    OutcomeStream<SourceEvent, Outcome> dedup =
        description.apply(new Outcomes(sinks.duplicates()), OUTCOME);
    sinks.decided().addTo(dedup.outcomes(), OperatorUids.OUTCOMES_SINK);
    SingleOutputStreamOperator<Outcome> deadLetters =
        dedup
            .deadLetters()
            .map(new DeadLetters(), OUTCOME)
            .name(OperatorUids.DEAD_LETTERS)
            .uid(OperatorUids.DEAD_LETTERS);
    sinks.deadLetters().addTo(deadLetters, OperatorUids.DEAD_LETTERS_SINK);
    return dedup.outcomes();
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
    options.near().ifPresent(dedup::near);
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
      throw new UserErrorException("these options contradict each other: " + e.getMessage());
    }
  }

  private static final class Problems extends AbstractRichFunction
      implements Extractor<SourceEvent, String> {
    private static final long serialVersionUID = 1;

    private transient UnusableEvents unusable;

    @Override
    public void open(OpenContext context) {
      unusable = new UnusableEvents(getRuntimeContext().getMetricGroup());
    }

    @Override
    public @Nullable String extract(SourceEvent event) {
      unusable.count(event);
      return event.problem();
    }
  }

  private static final class Outcomes extends AbstractRichFunction
      implements OutcomeFunction<SourceEvent, Outcome> {
    private static final long serialVersionUID = 1;

    private final Duplicates duplicates;
    private transient OutcomeCounts.Counters counters;

    Outcomes(Duplicates duplicates) {
      this.duplicates = duplicates;
    }

    @Override
    public void open(OpenContext context) {
      counters = new OutcomeCounts.Counters(getRuntimeContext());
    }

    @Override
    public @Nullable Outcome apply(Outcome.Kind kind, Change<SourceEvent> change) {
      counters.count(kind);
      return duplicates.isWritten(kind, change.keyHash())
          ? Outcome.of(kind, change.key(), change.event(), change.match())
          : null;
    }
  }

  private static final class DeadLetters extends RichMapFunction<Rejected<SourceEvent>, Outcome> {
    private static final long serialVersionUID = 1;

    private transient OutcomeCounts.Counters counters;

    @Override
    public void open(OpenContext context) {
      counters = new OutcomeCounts.Counters(getRuntimeContext());
    }

    @Override
    public Outcome map(Rejected<SourceEvent> rejected) {
      counters.count(Outcome.Kind.DEAD_LETTER);
      return Outcome.deadLetter(rejected.event(), rejected.reason());
    }
  }

  static void check(KafkaOptions kafka, JobOptions options) {
    kafka.events().checkCanonicaliser(options.keys().canonicaliser());
    JobEnvironment.requireParallelismOfDedup(options);
    var unused = parameters(options.keys(), options.dedup());
  }

  /**
   * Runs the checks of a command line that the job runs before it contacts brokers.
   *
   * @throws ParameterException if an option is invalid
   * @throws UserErrorException if options contradict each other, or a file cannot be read
   */
  public static JobNeeds check(String... words) {
    return JobMain.check(new Arguments(), words);
  }

  /** Runs the job against Kafka; {@code --help} lists the options. */
  public static void main(String[] words) throws Exception {
    JobMain.run(new Arguments(), words, "firstseen-dedup");
  }

  @Command(
      name = "DedupJob",
      footer = {
        "  flink run -d -c io.firstseen.jobs.DedupJob JAR --bootstrap-servers kafka:9092",
        "  flink run -d -c io.firstseen.jobs.DedupJob JAR --bootstrap-servers kafka:9092 \\",
        "      --ttl 7d --canonicaliser url --checkpoint-dir s3://bucket/checkpoints"
      },
      description = "Detects the first occurrence of each key in a stream of events.")
  private static final class Arguments extends JobMain.Arguments {
    @Mixin private KeyOptions keys;
    @Mixin private StreamOptions stream;
    @Mixin private DedupOptions dedup;

    @Override
    JobNeeds needs() {
      return new JobNeeds(JobNeeds.Job.DEDUP, kafka, JobOptions.forDedup(keys, stream, dedup));
    }
  }
}
