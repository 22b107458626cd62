package io.firstseen.benchmarks.kafka;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.Continued;
import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.kafka.KafkaSinks;
import io.firstseen.jobs.kafka.KafkaSources;
import io.firstseen.jobs.kafka.Preflight;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.StreamOptions;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.SourceEvent;
import java.time.Duration;
import java.util.Optional;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Builds the jobs. All have the dedup job's source and sink; those that are compared with it have
 * no watermarks, and Flink's settings as it sets them.
 */
final class Pipelines {
  private static final TypeInformation<SourceEvent> EVENT = TypeInformation.of(SourceEvent.class);
  private static final TypeInformation<Outcome> OUTCOME = TypeInformation.of(Outcome.class);
  private static final Duration MAX_AHEAD = Duration.ofHours(1);
  private static final KeyHash HASH = KeyHash.fixed();
  private static final int HEAP_WRITE_BUFFER_BYTES = (1 << 20) - 64;
  private static final int WRITE_BUFFER_BYTES = 1 << 16;

  private Pipelines() {}

  static void build(
      Subject subject, StreamExecutionEnvironment env, KafkaOptions kafka, JobOptions options) {
    if (subject.isOurs()) {
      JobMain.buildOnKafka(env, Job.DEDUP, kafka, options);
    } else {
      buildToCompare(subject, env, kafka, options);
      Preflight.require(new JobNeeds(Job.DEDUP, kafka, JobOptions.parse()), Optional.empty());
    }
  }

  /** One of the jobs that are not ours, without a look at its topics. */
  static void buildToCompare(
      Subject subject, StreamExecutionEnvironment env, KafkaOptions kafka, JobOptions options) {
    configure(env, kafka, options.stream());
    DataStream<SourceEvent> events =
        env.fromSource(
            KafkaSources.events(kafka, MAX_AHEAD), WatermarkStrategy.noWatermarks(), "source");
    DataStream<Outcome> outcomes =
        switch (subject) {
          case PASS_THROUGH -> events.map(Pipelines::accepted, OUTCOME);
          case EXACT ->
              events
                  .map(new Canonicalise(options.keys().canonicaliser()), EVENT)
                  .keyBy(event -> HASH.hash(event.key()), Types.LONG)
                  .process(new Exact(), OUTCOME)
                  .uid(io.firstseen.benchmarks.dedup.Pipelines.EXACT_UID);
          case OURS, OURS_WITHOUT_DUPLICATES -> throw new AssertionError(subject);
        };
    KafkaSinks.outcomes(kafka, options, Continued.NOTHING).decided().addTo(outcomes, "sink");
  }

  private static void configure(
      StreamExecutionEnvironment env, KafkaOptions kafka, StreamOptions options) {
    Configuration settings = new Configuration();
    settings.set(PipelineOptions.GENERIC_TYPES, false);
    settings.set(PipelineOptions.OBJECT_REUSE, true);
    settings.set(StateBackendOptions.STATE_BACKEND, options.stateBackend().flinkName());
    settings.set(
        CheckpointingOptions.FS_WRITE_BUFFER_SIZE,
        options.stateBackend() == StateBackend.HEAP ? HEAP_WRITE_BUFFER_BYTES : WRITE_BUFFER_BYTES);
    settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, kafka.checkpointInterval());
    settings.set(
        CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
    env.configure(settings);
    env.setParallelism(options.parallelism());
  }

  private static Outcome accepted(SourceEvent event) {
    return Outcome.of(Outcome.Kind.ACCEPTED, event.key(), event);
  }

  /** Gives an event its canonical key, so that one key is on the wire. */
  private record Canonicalise(Canonicaliser canonicaliser)
      implements MapFunction<SourceEvent, SourceEvent> {
    private static final long serialVersionUID = 1;

    @Override
    public SourceEvent map(SourceEvent event) throws InvalidKeyException {
      byte[] key = ScopedKey.join(event.scope(), canonicaliser.canonicalise(event.key()));
      return SourceEvent.of(
          event.operation(), null, key, event.payload(), event.timestampMillis(), event.place());
    }
  }

  /** A boolean in state for each hash. */
  private static final class Exact extends KeyedProcessFunction<Long, SourceEvent, Outcome> {
    private static final long serialVersionUID = 1;

    private transient ValueState<Boolean> seen;

    @Override
    public void open(OpenContext context) {
      seen = getRuntimeContext().getState(new ValueStateDescriptor<>("seen", Types.BOOLEAN));
    }

    @Override
    public void processElement(SourceEvent event, Context context, Collector<Outcome> out)
        throws Exception {
      if (seen.value() == null) {
        seen.update(true);
        out.collect(accepted(event));
      } else {
        out.collect(Outcome.of(Outcome.Kind.DUPLICATE, event.key(), event));
      }
    }
  }
}
