package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.operators.compaction.SnapshotPipeline.Backend;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.types.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.statistics.Statistics;
import net.jqwik.api.statistics.StatisticsReport;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Random histories through the real operators, against {@link SnapshotModel}: some inputs, each in
 * order and with its own watermarks, that fall idle and come back; several subtasks that hear of
 * them at uneven speeds; failures that lose what came since the last checkpoint, and replay it to
 * another number of subtasks, in another order between inputs.
 */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class SnapshotHistoriesTest {

  private static final int WINDOW_MILLIS = 10;
  private static final int KEYS = 14;
  private static final int INPUTS = 3;

  /** One thing that happens at an input, or to all; the input may be one that does not exist. */
  sealed interface Step {
    /** The time counts from the last watermark of the input. */
    record Operate(int input, int key, boolean add, int ahead) implements Step {}

    record Advance(int input, int millis) implements Step {}

    record AdvanceAll(int millis) implements Step {}

    record FallIdle(int input) implements Step {}

    /** The clock, which is near event time at first. */
    record PassTime(int millis) implements Step {}

    /** Unless it is the first. */
    record End(int input) implements Step {}

    /** With what is on its way as a part of it, or behind that. */
    record Checkpoint(boolean unaligned) implements Step {}

    /** The inputs continue with times that may be behind; a held set may be released. */
    record Fail(int parallelism, Backend backend, int behind, int ttlEighths, boolean allowJump)
        implements Step {}
  }

  @Provide
  Arbitrary<List<Step>> histories() {
    Arbitrary<Integer> inputs = Arbitraries.integers().between(0, INPUTS - 1);
    Arbitrary<Step> operate =
        Combinators.combine(
                inputs,
                Arbitraries.integers().between(0, KEYS - 1),
                Arbitraries.of(true, true, false),
                Arbitraries.frequencyOf(
                    Tuple.of(6, Arbitraries.integers().between(0, 12)),
                    Tuple.of(2, Arbitraries.integers().between(-40, 0)),
                    Tuple.of(1, Arbitraries.integers().between(12, 60))))
            .as(Step.Operate::new);
    Arbitrary<Integer> advances =
        Arbitraries.frequencyOf(
            Tuple.of(6, Arbitraries.integers().between(0, 12)),
            Tuple.of(1, Arbitraries.integers().between(13, 100)));
    Arbitrary<Step> advance = Combinators.combine(inputs, advances).as(Step.Advance::new);
    Arbitrary<Step> advanceAll = advances.map(Step.AdvanceAll::new);
    Arbitrary<Step> fallIdle = inputs.map(Step.FallIdle::new);
    Arbitrary<Step> passTime =
        Arbitraries.frequencyOf(
                Tuple.of(4, Arbitraries.integers().between(1, 20)),
                Tuple.of(1, Arbitraries.integers().between(20, 100)))
            .map(Step.PassTime::new);
    Arbitrary<Step> end = inputs.map(Step.End::new);
    Arbitrary<Step> checkpoint = Arbitraries.of(true, false, false).map(Step.Checkpoint::new);
    Arbitrary<Step> fail =
        Combinators.combine(
                Arbitraries.integers().between(1, 4),
                Arbitraries.of(Backend.class),
                Arbitraries.frequencyOf(
                    Tuple.of(2, Arbitraries.just(0)),
                    Tuple.of(1, Arbitraries.integers().between(0, 40))),
                // The ttl of the next run, if there is one.
                Arbitraries.of(8, 8, 8, 1, 5, 9, 30),
                Arbitraries.of(true, false))
            .as(Step.Fail::new);
    return Arbitraries.frequencyOf(
            Tuple.of(60, operate),
            Tuple.of(10, advance),
            Tuple.of(16, advanceAll),
            Tuple.of(4, fallIdle),
            Tuple.of(12, passTime),
            Tuple.of(1, end),
            Tuple.of(3, checkpoint),
            Tuple.of(2, fail))
        .list()
        .ofMinSize(1)
        .ofMaxSize(150)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  /** None, shorter than a window, some windows, and longer than most histories. */
  @Provide
  Arbitrary<Long> ttls() {
    return Arbitraries.frequencyOf(
        Tuple.of(2, Arbitraries.just(0L)),
        Tuple.of(1, Arbitraries.longs().between(1, 10)),
        Tuple.of(4, Arbitraries.longs().between(10, 120)),
        Tuple.of(1, Arbitraries.longs().between(120, 1000)));
  }

  @Provide
  Arbitrary<Publication> publications() {
    // None, short, and longer than most histories.
    Arbitrary<Integer> idleTimeouts = Arbitraries.of(-1, 20, 40, 100);
    Arbitrary<ChangeBounds> bounds =
        Arbitraries.of(
            ChangeBounds.NONE,
            new ChangeBounds(0.3, Double.POSITIVE_INFINITY, 2),
            new ChangeBounds(1, 2, 2),
            new ChangeBounds(0.4, 1.5, 0));
    return Combinators.combine(bounds, Arbitraries.of(-1, 0, 0, 30), idleTimeouts)
        .as(
            (each, grace, idleTimeout) ->
                Publication.OF_ALL
                    .within(each)
                    .removingBlobsAfter(Duration.ofMillis(grace))
                    .endingWindowsAfter(Duration.ofMillis(idleTimeout)));
  }

  /** Keys that are there from the first window on: a small set is all headers, and no changes. */
  @Provide
  Arbitrary<Integer> crowds() {
    return Arbitraries.of(0, 0, 1500);
  }

  @Property(tries = 30, seed = "20261120", edgeCases = EdgeCasesMode.NONE)
  @StatisticsReport(StatisticsReport.StatisticsReportMode.OFF)
  void onTheHeapThePublishedSetsAreThoseOfTheModel(
      @ForAll("histories") List<Step> history,
      @ForAll @IntRange(min = 0, max = 4) int shardBits,
      @ForAll @IntRange(min = 1, max = INPUTS) int inputs,
      @ForAll @IntRange(min = 1, max = 3) int parallelism,
      @ForAll("ttls") long ttlMillis,
      @ForAll("publications") Publication publication,
      @ForAll("crowds") int crowd,
      @ForAll long speeds)
      throws Exception {
    checkOnTheHeap(history, shardBits, inputs, parallelism, ttlMillis, publication, crowd, speeds);
  }

  @Tag("slow")
  @Property(tries = 300, seed = "20261120", edgeCases = EdgeCasesMode.NONE)
  @StatisticsReport(StatisticsReport.StatisticsReportMode.OFF)
  void onTheHeapThePublishedSetsAreThoseOfTheModelInManyHistories(
      @ForAll("histories") List<Step> history,
      @ForAll @IntRange(min = 0, max = 4) int shardBits,
      @ForAll @IntRange(min = 1, max = INPUTS) int inputs,
      @ForAll @IntRange(min = 1, max = 3) int parallelism,
      @ForAll("ttls") long ttlMillis,
      @ForAll("publications") Publication publication,
      @ForAll("crowds") int crowd,
      @ForAll long speeds)
      throws Exception {
    checkOnTheHeap(history, shardBits, inputs, parallelism, ttlMillis, publication, crowd, speeds);
  }

  private void checkOnTheHeap(
      List<Step> history,
      int shardBits,
      int inputs,
      int parallelism,
      long ttlMillis,
      Publication publication,
      int crowd,
      long speeds)
      throws Exception {
    try (Run run =
        new Run(
            1 << shardBits, inputs, Backend.HEAP, parallelism, ttlMillis, publication, speeds)) {
      run.addCrowd(crowd);
      SnapshotModel model = run.check(history);
      Statistics.label("at least five manifests")
          .collect(model.manifests().size() >= 5)
          .coverage(coverage -> coverage.check(true).percentage(share -> share > 50));
      Statistics.label("changes of sets in packs")
          .collect(run.published.sections().stream().anyMatch(section -> !section.isWhole()))
          .coverage(coverage -> coverage.check(true).percentage(share -> share > 10));
      Statistics.label("readers that follow packs")
          .collect(run.published.followed() > 0)
          .coverage(coverage -> coverage.check(true).percentage(share -> share > 50));
      Statistics.label("blobs that no manifest named")
          .collect(!run.published.neverNamed().isEmpty())
          .coverage(coverage -> coverage.check(true).percentage(share -> share > 2));
      for (SnapshotModel.Rule rule : SnapshotModel.Rule.values()) {
        if (ttlMillis == 0 && SnapshotModel.RULES_OF_A_TTL.contains(rule)) {
          continue;
        }
        Statistics.label(rule.name())
            .collect(run.wouldTellIfBroken(rule, model))
            .coverage(coverage -> coverage.check(true).percentage(share -> share > 2));
      }
      run.checkThatNothingStaysForEver();
    }
  }

  @Property(tries = 5, seed = "20261121", edgeCases = EdgeCasesMode.NONE)
  void onBothBackendsThePublishedSetsAreThoseOfTheModel(
      @ForAll("histories") List<Step> history,
      @ForAll @IntRange(min = 0, max = 4) int shardBits,
      @ForAll @IntRange(min = 1, max = INPUTS) int inputs,
      @ForAll @IntRange(min = 1, max = 3) int parallelism,
      @ForAll("ttls") long ttlMillis,
      @ForAll("publications") Publication publication,
      @ForAll("crowds") int crowd,
      @ForAll long speeds)
      throws Exception {
    checkOnBothBackends(
        history, shardBits, inputs, parallelism, ttlMillis, publication, crowd, speeds);
  }

  @Tag("slow")
  @Property(tries = 15, seed = "20261121", edgeCases = EdgeCasesMode.NONE)
  void onBothBackendsThePublishedSetsAreThoseOfTheModelInManyHistories(
      @ForAll("histories") List<Step> history,
      @ForAll @IntRange(min = 0, max = 4) int shardBits,
      @ForAll @IntRange(min = 1, max = INPUTS) int inputs,
      @ForAll @IntRange(min = 1, max = 3) int parallelism,
      @ForAll("ttls") long ttlMillis,
      @ForAll("publications") Publication publication,
      @ForAll("crowds") int crowd,
      @ForAll long speeds)
      throws Exception {
    checkOnBothBackends(
        history, shardBits, inputs, parallelism, ttlMillis, publication, crowd, speeds);
  }

  private void checkOnBothBackends(
      List<Step> history,
      int shardBits,
      int inputs,
      int parallelism,
      long ttlMillis,
      Publication publication,
      int crowd,
      long speeds)
      throws Exception {
    try (Run run =
        new Run(1 << shardBits, inputs, null, parallelism, ttlMillis, publication, speeds)) {
      run.addCrowd(crowd);
      run.check(history);
      run.checkThatNothingStaysForEver();
    }
  }

  /** A history that goes through the operators. */
  private static final class Run implements AutoCloseable {
    private record Sent(int input, StreamElement element) {}

    private final SnapshotSpec first;
    private final Publication publication;
    private final Backend onlyBackend;
    private final long speeds;
    private final long[] timeOfInput;
    private final boolean[] ended;
    private final PublishedSets published = new PublishedSets();
    private final List<Sent> sentSinceCheckpoint = new ArrayList<>();
    private SnapshotPipeline pipeline;
    private SnapshotPipeline.Savepoint newest;
    private long liveKeysOfNewest;
    private int failures;

    /** Failures change the backend if there is not to be only one. */
    Run(
        int shardCount,
        int inputs,
        Backend onlyBackend,
        int parallelism,
        long ttlMillis,
        Publication publication,
        long speeds)
        throws Exception {
      this.publication = publication;
      this.first =
          SnapshotSpec.of(
                  "spam", WINDOW_MILLIS, shardCount, 0.1, KeyHash.fixed(), Canonicaliser.NONE)
              .withTtlMillis(ttlMillis);
      this.onlyBackend = onlyBackend;
      this.speeds = speeds;
      this.timeOfInput = new long[inputs];
      this.ended = new boolean[inputs];
      Arrays.fill(timeOfInput, 40);
      start(
          first,
          onlyBackend == null ? Backend.ROCKSDB : onlyBackend,
          parallelism,
          Publication.NO_JUMP);
    }

    private void start(SnapshotSpec spec, Backend backend, int parallelism, long jumpAllowedAfter)
        throws Exception {
      pipeline =
          new SnapshotPipeline(
              spec,
              publication.allowingJumpAfter(jumpAllowedAfter),
              backend,
              timeOfInput.length,
              parallelism,
              newest,
              speeds + failures);
    }

    void addCrowd(int keys) {
      SplittableRandom random = new SplittableRandom(speeds);
      for (int i = 0; i < keys; i++) {
        HashedOperation add = new HashedOperation(random.nextLong(), Operation.ADD);
        send(0, new StreamRecord<>(add, timeOfInput[0]));
      }
    }

    SnapshotModel check(List<Step> history) throws Exception {
      for (Step step : history) {
        take(step);
        pipeline.deliverSome();
      }
      pipeline.endOfInput();
      published.add(pipeline.recordsSoFar());
      SnapshotModel model = newModel(null);
      pipeline.tell(model);
      assertThat(model.allArrivalsWereExpected()).as("what was sent on").isTrue();
      published.mustBeThoseOf(model, first);
      assertThat(pipeline.liveKeys()).isEqualTo(model.live().size());
      assertThat(pipeline.timers()).as("timers after the end of the input").isZero();
      return model;
    }

    /**
     * Goes on for three windows: then whatever the last ones left has had its time, and nothing is
     * kept that is not in use, whether a manifest named it or not. In use are also the bases that
     * the next list will name, at most one of a shard.
     */
    void checkThatNothingStaysForEver() throws Exception {
      if (publication.graceMillis() != 0 || !publication.bounds().equals(ChangeBounds.NONE)) {
        return;
      }
      newest = pipeline.savepoint();
      pipeline.close();
      start(first, Backend.HEAP, 1, Publication.NO_JUMP);
      Arrays.fill(ended, false);
      long time = 100_000;
      for (int i = 0; i < 3; i++, time += WINDOW_MILLIS) {
        HashedOperation last = new HashedOperation(hash(i), Operation.ADD);
        send(0, new StreamRecord<>(last, time));
        for (int input = 0; input < inputs(); input++) {
          send(input, new Watermark(time + WINDOW_MILLIS));
        }
        published.add(pipeline.records());
      }
      Set<String> unlisted = new HashSet<>(published.kept());
      unlisted.removeAll(published.named(2));
      assertThat(published.kinds(unlisted))
          .allMatch(kind -> kind == BlobFrame.Kind.BASE)
          .hasSizeLessThanOrEqualTo(first.snapshotShards());
    }

    boolean wouldTellIfBroken(SnapshotModel.Rule rule, SnapshotModel model) {
      SnapshotModel broken = newModel(rule);
      pipeline.tell(broken);
      return !broken.allArrivalsWereExpected() || !broken.manifests().equals(model.manifests());
    }

    private SnapshotModel newModel(SnapshotModel.Rule broken) {
      return new SnapshotModel(
          first.snapshotShards(),
          WINDOW_MILLIS,
          first.ttlMillis(),
          inputs(),
          publication.hasIdleTimeout() ? publication.waitMillis() : SnapshotModel.EVENT_TIME_ONLY,
          broken);
    }

    private int inputs() {
      return timeOfInput.length;
    }

    private void take(Step step) throws Exception {
      if (step instanceof Step.Operate operate) {
        int input = operate.input % inputs();
        long eventTime = Math.max(0, timeOfInput[input] + operate.ahead);
        HashedOperation operation =
            new HashedOperation(hash(operate.key), operate.add ? Operation.ADD : Operation.DELETE);
        send(input, new StreamRecord<>(operation, eventTime));
      } else if (step instanceof Step.Advance advance) {
        advance(advance.input % inputs(), advance.millis);
      } else if (step instanceof Step.AdvanceAll advance) {
        for (int input = 0; input < inputs(); input++) {
          advance(input, advance.millis);
        }
      } else if (step instanceof Step.FallIdle idle) {
        send(idle.input % inputs(), WatermarkStatus.IDLE);
      } else if (step instanceof Step.PassTime pass) {
        pipeline.passTime(pass.millis);
      } else if (step instanceof Step.End end && end.input % inputs() != 0) {
        send(end.input % inputs(), WatermarkStatus.ACTIVE);
        send(end.input % inputs(), Watermark.MAX_WATERMARK);
        ended[end.input % inputs()] = true;
      } else if (step instanceof Step.Checkpoint checkpoint) {
        newest = checkpoint.unaligned ? pipeline.checkpoint() : pipeline.savepoint();
        liveKeysOfNewest = pipeline.liveKeys();
        published.add(pipeline.recordsSoFar());
        sentSinceCheckpoint.clear();
      } else if (step instanceof Step.Fail fail) {
        fail(fail);
      }
    }

    private void advance(int input, int millis) {
      timeOfInput[input] += millis;
      send(input, WatermarkStatus.ACTIVE);
      send(input, new Watermark(timeOfInput[input]));
    }

    private void send(int input, StreamElement element) {
      if (!ended[input]) {
        sentSinceCheckpoint.add(new Sent(input, element));
        pipeline.send(input, element);
      }
    }

    /** Loses what was published since the last checkpoint, and sends again what was sent since. */
    private void fail(Step.Fail fail) throws Exception {
      pipeline.close();
      failures++;
      int parallelism =
          newest != null && newest.somethingIsOnTheWay() ? newest.parallelism() : fail.parallelism;
      long ttlMillis = (first.ttlMillis() * fail.ttlEighths + 7) / 8;
      start(
          first.withTtlMillis(ttlMillis),
          onlyBackend == null ? fail.backend : onlyBackend,
          parallelism,
          fail.allowJump ? published.lastSequence() : Publication.NO_JUMP);
      assertThat(pipeline.liveKeys()).as("live keys after a restart").isEqualTo(liveKeysOfNewest);
      for (Sent sent : sentSinceCheckpoint) {
        pipeline.send(sent.input, sent.element);
      }
      for (int input = 0; input < inputs(); input++) {
        if (ended[input]) {
          pipeline.send(input, Watermark.MAX_WATERMARK);
        }
        timeOfInput[input] = Math.max(0, timeOfInput[input] - fail.behind);
      }
    }

    @Override
    public void close() throws Exception {
      pipeline.close();
    }
  }

  /** Some hashes agree in all the bits that a snapshot keeps, or are the ends of the range. */
  private static long hash(int key) {
    return switch (key) {
      case 0 -> 0;
      case 1 -> -1;
      case 2 -> Long.MIN_VALUE;
      case 3 -> Long.MAX_VALUE;
      case 4 -> 1;
      default -> 0x9E3779B97F4A7C15L * (key / 2) + key % 2;
    };
  }
}
