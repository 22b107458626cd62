package io.firstseen.operators.restores;

import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.operators.restores.EventScript.Outcome;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.Operation;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A script, how far the source has let it through, and what came out; over one job or several. */
final class DedupTrial {
  /** Filters of a trial's dedup unless it says otherwise. */
  static final int SHARDS = 8;

  /** Few enough for a list, enough for a page, and for more than one. */
  private static final int[] KEYS_OF_SHARDS = {40, 600, 40, 4_500};

  private static final List<String> KEYS =
      List.copyOf(EventScript.keysOfShards("key", SHARDS, KEYS_OF_SHARDS));

  final EventScript script;
  final Valve valve = new Valve();
  final Outcomes outcomes = new Outcomes();

  private final InTest<EventScript> scriptInTest;
  private final InTest<Valve> valveInTest = InTest.of(valve);
  private final InTest<Outcomes> outcomesInTest = InTest.of(outcomes);
  private TestCluster cluster;
  private JobClient job;

  DedupTrial(EventScript script) {
    this.script = script;
    this.scriptInTest = InTest.of(script);
  }

  /** Keys for every kind of filter, in each half of the shards. */
  static List<String> keys() {
    return KEYS;
  }

  /** How a job of the trial is built. */
  static final class Settings {
    private final Configuration flink = new Configuration();
    private final int parallelism;
    private UnaryOperator<Firstseen<KeyEvent>> dedup = builder -> builder;
    private int maxParallelism;
    private int first;
    private boolean timed;
    private int maxParallelismOfSource;

    private Settings(String backend, int parallelism) {
      this.parallelism = parallelism;
      flink.set(StateBackendOptions.STATE_BACKEND, backend);
      flink.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
      // State goes into files, however small it is.
      flink.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, MemorySize.ZERO);
      // Only what the test asks for.
      flink.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofHours(1));
      flink.set(
          CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
          ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
      flink.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
      flink.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 3);
      flink.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
      flink.set(PipelineOptions.GENERIC_TYPES, false);
    }

    static Settings of(Backend backend, int parallelism) {
      return of(backend.option, parallelism);
    }

    static Settings of(String backend, int parallelism) {
      return new Settings(backend, parallelism);
    }

    <V> Settings with(ConfigOption<V> option, V value) {
      flink.set(option, value);
      return this;
    }

    /** A savepoint or checkpoint to start from. */
    Settings from(Object path) {
      return with(StateRecoveryOptions.SAVEPOINT_PATH, path.toString());
    }

    /**
     * State of the dedup and of nothing else to start from; the source starts at a position of the
     * script.
     */
    Settings fromForeign(Object path, int newFirst) {
      first = newFirst;
      return from(path).with(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE, true);
    }

    /** Sets how the job configures its dedup. */
    Settings dedup(UnaryOperator<Firstseen<KeyEvent>> newDedup) {
      dedup = newDedup;
      return this;
    }

    /** A set of the live keys behind filters that mistake one key in a hundred for another. */
    Settings exact() {
      return dedup(dedup -> dedup.mode(DedupMode.EXACT_KEYS).capacity(10).falsePositiveRate(0.1));
    }

    /** Gives the events the times of the script, and a watermark as late behind each. */
    Settings timed() {
      timed = true;
      return this;
    }

    /** Gives the source as many key groups as the dedup has, so that it can have the same task. */
    Settings sourceLikeDedup() {
      maxParallelismOfSource = SHARDS;
      return this;
    }

    /** Sets the key groups of the dedup behind the back of the entry point. */
    Settings maxParallelism(int newMaxParallelism) {
      maxParallelism = newMaxParallelism;
      return this;
    }
  }

  /**
   * Starts a job from the state that the settings select; the source resumes at the position in its
   * state.
   */
  JobClient start(TestCluster newCluster, Settings settings) throws Exception {
    StreamExecutionEnvironment env = environment(newCluster, settings);
    build(source(env, settings, "from-" + settings.first, settings.first, valveInTest), settings);
    return start(newCluster, env);
  }

  /** As above, but a separate source emits the events from a position on. */
  JobClient startWithTwoSources(
      TestCluster newCluster, Settings settings, int firstOfSecond, Valve second) throws Exception {
    StreamExecutionEnvironment env = environment(newCluster, settings);
    build(
        source(env, settings, "first", 0, valveInTest)
            .union(source(env, settings, "second", firstOfSecond, InTest.of(second))),
        settings);
    return start(newCluster, env);
  }

  private JobClient start(TestCluster newCluster, StreamExecutionEnvironment env) throws Exception {
    cluster = newCluster;
    job = cluster.start(env);
    return job;
  }

  /** Lets the script through up to a position and waits for every outcome. */
  void play(int to) throws Exception {
    valve.openTo(to);
    await(to);
  }

  /** Waits for a number of outcomes, as long as the job lives. */
  void await(int wanted) throws Exception {
    outcomes.awaitSize(wanted, () -> cluster.requireNotFailed(job));
  }

  private static StreamExecutionEnvironment environment(TestCluster cluster, Settings settings) {
    StreamExecutionEnvironment env = cluster.environment(settings.flink);
    env.configure(settings.flink);
    return env.setParallelism(settings.parallelism);
  }

  private DataStream<KeyEvent> source(
      StreamExecutionEnvironment env,
      Settings settings,
      String name,
      int first,
      InTest<Valve> gate) {
    var positions =
        env.fromSource(new GatedSource(first, gate), WatermarkStrategy.noWatermarks(), "positions")
            .setParallelism(1)
            .uid("test-positions-" + name);
    if (settings.maxParallelismOfSource > 0) {
      positions.setMaxParallelism(settings.maxParallelismOfSource);
    }
    return positions
        .map(new EventScript.ToEvent(scriptInTest), TypeInformation.of(KeyEvent.class))
        .setParallelism(1)
        .uid("test-events-" + name);
  }

  private void build(DataStream<KeyEvent> untimed, Settings settings) {
    DataStream<KeyEvent> events = settings.timed ? timed(untimed) : untimed;
    DedupStreams<KeyEvent> streams =
        settings
            .dedup
            .apply(
                // So low a rate that the model is exact.
                Firstseen.dedup(events)
                    .capacity(50_000)
                    .falsePositiveRate(1e-9)
                    .shards(SHARDS)
                    // Room for a part of a task's pages.
                    .pageCacheBytes(30_000))
            .key(event -> event.key)
            .operation(event -> event.delete ? Operation.DELETE : Operation.ADD)
            .apply();
    if (settings.maxParallelism > 0) {
      streams.accepted().setMaxParallelism(settings.maxParallelism);
    }
    codes(streams.accepted(), Outcome.ACCEPTED, Outcome.REMOVED)
        .union(
            codes(streams.duplicates(), Outcome.DUPLICATE, null),
            codes(streams.unknownDeletes(), null, Outcome.UNKNOWN_DELETE))
        // Else one task would be followed one to one, and Flink restores no record that was in
        // flight between many into that.
        .rebalance()
        .process(new Outcomes.Recorder(outcomesInTest), Types.VOID)
        .setParallelism(1)
        .uid("test-outcomes-from-" + settings.first);
  }

  private DataStream<KeyEvent> timed(DataStream<KeyEvent> events) {
    InTest<EventScript> times = scriptInTest;
    return events
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<KeyEvent>forGenerator(context -> new EachTime())
                .withTimestampAssigner((event, before) -> times.get().timeMillis(event.position)))
        .setParallelism(1)
        .uid("test-times");
  }

  private static final class EachTime implements WatermarkGenerator<KeyEvent> {
    @Override
    public void onEvent(KeyEvent event, long timestamp, WatermarkOutput output) {
      // No event of an earlier instant comes any more.
      output.emitWatermark(new Watermark(timestamp - 1));
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
      // Each event has had its own.
    }
  }

  private static DataStream<Long> codes(
      DataStream<Change<KeyEvent>> changes, Outcome ofAdd, Outcome ofDelete) {
    return changes.map(new ToCode(ofAdd, ofDelete), Types.LONG);
  }

  /** Runs in the task of the dedup. */
  private static final class ToCode extends RichMapFunction<Change<KeyEvent>, Long> {
    private static final long serialVersionUID = 1;

    private final Outcome ofAdd;
    private final Outcome ofDelete;

    ToCode(Outcome ofAdd, Outcome ofDelete) {
      this.ofAdd = ofAdd;
      this.ofDelete = ofDelete;
    }

    @Override
    public Long map(Change<KeyEvent> change) {
      return Outcomes.code(
          change.event().position,
          getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(),
          change.operation() == Operation.ADD ? ofAdd : ofDelete);
    }
  }
}
