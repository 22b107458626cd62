package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.CountingSink;
import io.firstseen.benchmarks.shared.ExactDedup;
import io.firstseen.benchmarks.shared.HashedUrl;
import io.firstseen.benchmarks.shared.Stage;
import io.firstseen.benchmarks.shared.StagedSource;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.benchmarks.shared.UrlSerializer;
import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.util.Collector;

/** Builds the subjects' jobs. All have one source, one hash and one kind of sink. */
public final class Pipelines {
  public static final double FALSE_POSITIVE_RATE = 0.001;
  public static final KeyHash HASH = KeyHash.fixed();

  /** The operator of exact dedup by hash. */
  public static final String EXACT_UID = "exact";

  static final int SHARDS = Firstseen.DEFAULT_SHARDS;

  /**
   * The most expensive ttl: it reads a clock, and looks up each repeat's epoch. No key expires
   * during a run.
   */
  private static final TimeToLive TTL =
      TimeToLive.of(Duration.ofHours(1))
          .by(TimeToLive.Clock.PROCESSING)
          .since(TimeToLive.Since.LAST_SEEN);

  private Pipelines() {}

  /**
   * A subject's job.
   *
   * @param capacity live keys that Firstseen is told to expect
   */
  public static StreamGraph build(
      Subject subject, long capacity, List<Stage> stages, StreamExecutionEnvironment env) {
    DataStream<Url> urls = urls(stages, WatermarkStrategy.noWatermarks(), env);
    return switch (subject.kind()) {
      case OURS, OURS_EXACT -> graph(dedup(subject, capacity, urls).accepted());
      case EMPTY -> graph(emptied(dedup(subject, capacity, urls), env));
      case EXACT_BY_URL ->
          graph(
              urls.keyBy(url -> url, UrlSerializer.TYPE)
                  .process(new ExactDedup<>(), UrlSerializer.TYPE));
      case EXACT_BY_HASH ->
          graph(
              urls.map(url -> new HashedUrl(HASH.hash(url.utf8()), url), HashedUrl.TYPE)
                  .keyBy(HashedUrl::hash, Types.LONG)
                  .process(new ExactDedup<>(), HashedUrl.TYPE)
                  .uid(EXACT_UID));
    };
  }

  /**
   * The input of all subjects.
   *
   * @param stamps what gives the records time stamps, if any; watermarks come from the source
   */
  public static DataStream<Url> urls(
      List<Stage> stages, WatermarkStrategy<Url> stamps, StreamExecutionEnvironment env) {
    // The number of key groups that Firstseen uses by default.
    env.setMaxParallelism(SHARDS);
    return env.fromSource(new StagedSource(stages), stamps, "urls", UrlSerializer.TYPE).uid("urls");
  }

  /**
   * The size of the subject's page cache, a part of all pages' bytes, which are estimated by
   * building one shard.
   */
  private static long pageCacheBytes(Subject subject, long keys) {
    long pages = pageBytes(keys, keys);
    // Half empty after a split, pages may need more room before all keys are added.
    return subject.cacheDivisor() == 1 ? 2 * pages : pages / subject.cacheDivisor();
  }

  /** Returns the bytes of all pages with a number of keys, estimated by building one shard. */
  static long pageBytes(long capacity, long keys) {
    CuckooFilter filter =
        CuckooFilter.forCapacity((capacity - 1) / SHARDS + 1, FALSE_POSITIVE_RATE);
    SplittableRandom hashes = new SplittableRandom(keys);
    for (long i = 0; i < (keys - 1) / SHARDS + 1; i++) {
      filter.insertIfAbsent(hashes.nextLong());
    }
    return filter.sizeBytes() * SHARDS;
  }

  private static DedupStreams<Url> dedup(Subject subject, long capacity, DataStream<Url> urls) {
    Firstseen<Url> dedup =
        Firstseen.dedup(urls)
            .key(Url::utf8)
            .hash(HASH)
            .capacity(capacity)
            .falsePositiveRate(FALSE_POSITIVE_RATE);
    if (subject == Subject.OURS_HEAP_TTL) {
      dedup.ttl(TTL);
    }
    if (subject.kind() == Subject.Kind.OURS_EXACT) {
      dedup.mode(DedupMode.EXACT);
    }
    if (subject.backend() == Backend.ROCKSDB) {
      dedup.pageCacheBytes(
          pageCacheBytes(subject, capacity) / urls.getExecutionEnvironment().getParallelism());
    }
    return dedup.apply();
  }

  /** The same job with a function that does nothing in place of the dedup operator. */
  @SuppressWarnings("unchecked") // The operator's transformation and its input have these types.
  private static DataStream<Change<Url>> emptied(
      DedupStreams<Url> streams, StreamExecutionEnvironment env) {
    OneInputTransformation<Change<Url>, Change<Url>> dedup =
        (OneInputTransformation<Change<Url>, Change<Url>>)
            (Transformation<?>) streams.accepted().getTransformation();
    OneInputTransformation<Change<Url>, Change<Url>> empty =
        new OneInputTransformation<>(
            (Transformation<Change<Url>>) dedup.getInputs().get(0),
            dedup.getName(),
            SimpleOperatorFactory.of(new KeyedProcessOperator<>(new EmptyFunction())),
            dedup.getOutputType(),
            dedup.getParallelism());
    empty.setStateKeySelector(dedup.getStateKeySelector());
    empty.setStateKeyType(dedup.getStateKeyType());
    empty.setMaxParallelism(dedup.getMaxParallelism());
    return new DataStream<>(env, empty);
  }

  private static final class EmptyFunction
      extends KeyedProcessFunction<Integer, Change<Url>, Change<Url>> {
    private static final long serialVersionUID = 1;

    @Override
    public void processElement(Change<Url> change, Context context, Collector<Change<Url>> out) {}
  }

  /** The graph of a stream with a sink; excludes the rest of the environment. */
  public static <T> StreamGraph graph(DataStream<T> stream) {
    return stream
        .getExecutionEnvironment()
        .generateStreamGraph(
            List.of(stream.sinkTo(new CountingSink<>()).uid("sink").getTransformation()));
  }
}
