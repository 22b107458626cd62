package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.compaction.SnapshotPipeline.Backend;
import java.util.List;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.statistics.Statistics;
import net.jqwik.api.statistics.StatisticsReport;

/** Random histories through the real operators, against {@link SnapshotModel}. */
class SnapshotHistoriesTest {

  private static final int WINDOW_MILLIS = 10;
  private static final int KEYS = 14;

  /** One thing that happens; times count from the watermark, or from 40 if there is none yet. */
  sealed interface Step {
    record Operate(int key, boolean add, int ahead) implements Step {}

    record Advance(int millis) implements Step {}

    /** A savepoint, and a new start from it; the watermark begins anew and may be behind. */
    record Restart(int parallelism, Backend backend, int behind) implements Step {}
  }

  @Provide
  Arbitrary<List<Step>> histories() {
    Arbitrary<Step> operate =
        Combinators.combine(
                Arbitraries.integers().between(0, KEYS - 1),
                Arbitraries.of(true, true, false),
                Arbitraries.frequencyOf(
                    Tuple.of(6, Arbitraries.integers().between(0, 12)),
                    Tuple.of(2, Arbitraries.integers().between(-40, 0)),
                    Tuple.of(1, Arbitraries.integers().between(12, 60))))
            .as(Step.Operate::new);
    Arbitrary<Step> advance =
        Arbitraries.frequencyOf(
                Tuple.of(6, Arbitraries.integers().between(0, 12)),
                Tuple.of(1, Arbitraries.integers().between(13, 100)))
            .map(Step.Advance::new);
    Arbitrary<Step> restart =
        Combinators.combine(
                Arbitraries.integers().between(1, 4),
                Arbitraries.of(Backend.class),
                Arbitraries.integers().between(0, 40))
            .as(Step.Restart::new);
    return Arbitraries.frequencyOf(
            Tuple.of(30, operate), Tuple.of(12, advance), Tuple.of(1, restart))
        .list()
        .ofMinSize(1)
        .ofMaxSize(150)
        .withSizeDistribution(RandomDistribution.uniform());
  }

  @Property(tries = 300, seed = "20261120", edgeCases = EdgeCasesMode.NONE)
  @StatisticsReport(StatisticsReport.StatisticsReportMode.OFF)
  void onTheHeapThePublishedSetsAreThoseOfTheModel(
      @ForAll("histories") List<Step> history,
      @ForAll @IntRange(min = 0, max = 4) int shardBits,
      @ForAll @IntRange(min = 1, max = 3) int parallelism,
      @ForAll long speeds)
      throws Exception {
    check(history, 1 << shardBits, Backend.HEAP, false, parallelism, speeds);
  }

  @Property(tries = 15, seed = "20261121", edgeCases = EdgeCasesMode.NONE)
  @StatisticsReport(StatisticsReport.StatisticsReportMode.OFF)
  void onBothBackendsThePublishedSetsAreThoseOfTheModel(
      @ForAll("histories") List<Step> history,
      @ForAll @IntRange(min = 0, max = 4) int shardBits,
      @ForAll @IntRange(min = 1, max = 3) int parallelism,
      @ForAll long speeds)
      throws Exception {
    check(history, 1 << shardBits, Backend.ROCKSDB, true, parallelism, speeds);
  }

  @Property(tries = 300, seed = "20261120", edgeCases = EdgeCasesMode.NONE)
  @StatisticsReport(StatisticsReport.StatisticsReportMode.OFF)
  void theHistoriesTellWhenARuleIsBroken(
      @ForAll("histories") List<Step> history, @ForAll SnapshotModel.Rule rule) {
    SnapshotModel model = new SnapshotModel(4, WINDOW_MILLIS);
    SnapshotModel broken = new SnapshotModel(4, WINDOW_MILLIS, rule);
    for (SnapshotModel each : List.of(model, broken)) {
      Watermarks watermarks = new Watermarks();
      for (Step step : history) {
        if (step instanceof Step.Operate operate) {
          each.operation(hash(operate.key), operate.add, watermarks.eventTime(operate));
        } else if (step instanceof Step.Advance advance) {
          watermarks.advance(advance).ifPresent(each::watermark);
        } else if (step instanceof Step.Restart restart) {
          watermarks.restart(restart);
          each.restart();
        }
      }
      each.watermark(Long.MAX_VALUE);
    }
    Statistics.label(rule.name())
        .collect(!model.manifests().equals(broken.manifests()))
        .coverage(coverage -> coverage.check(true).percentage(share -> share > 10));
  }

  /** The event time of a history. */
  private static final class Watermarks {
    private long watermark = Long.MIN_VALUE;
    private long base = 40;

    long eventTime(Step.Operate operate) {
      return Math.max(0, base + operate.ahead);
    }

    /** The next watermark, if there is one. */
    OptionalLong advance(Step.Advance advance) {
      base += advance.millis;
      if (base <= watermark) {
        return OptionalLong.empty();
      }
      watermark = base;
      return OptionalLong.of(watermark);
    }

    void restart(Step.Restart restart) {
      base = Math.max(0, base - restart.behind);
      watermark = Long.MIN_VALUE;
    }
  }

  private static void check(
      List<Step> history,
      int shardCount,
      Backend first,
      boolean changeBackends,
      int parallelism,
      long speeds)
      throws Exception {
    SnapshotSpec spec =
        SnapshotSpec.of(
            "spam", WINDOW_MILLIS, shardCount, 0.1, KeyHash.fixed(), Canonicaliser.NONE);
    SnapshotModel model = new SnapshotModel(shardCount, WINDOW_MILLIS);
    PublishedSets published = new PublishedSets();
    SnapshotPipeline pipeline = new SnapshotPipeline(spec, first, parallelism, null, speeds);
    try {
      Watermarks watermarks = new Watermarks();
      for (Step step : history) {
        if (step instanceof Step.Operate operate) {
          long eventTime = watermarks.eventTime(operate);
          if (operate.add) {
            pipeline.add(hash(operate.key), eventTime);
          } else {
            pipeline.delete(hash(operate.key), eventTime);
          }
          model.operation(hash(operate.key), operate.add, eventTime);
        } else if (step instanceof Step.Advance advance) {
          OptionalLong watermark = watermarks.advance(advance);
          if (watermark.isPresent()) {
            pipeline.watermark(watermark.getAsLong());
            model.watermark(watermark.getAsLong());
          }
        } else if (step instanceof Step.Restart restart) {
          SnapshotPipeline.Savepoint savepoint = pipeline.savepoint();
          long liveKeys = pipeline.liveKeys();
          published.add(pipeline.records());
          pipeline.close();
          pipeline =
              new SnapshotPipeline(
                  spec,
                  changeBackends ? restart.backend : first,
                  restart.parallelism,
                  savepoint,
                  speeds);
          assertThat(pipeline.liveKeys()).as("live keys after a restart").isEqualTo(liveKeys);
          watermarks.restart(restart);
          model.restart();
        }
      }
      pipeline.endOfInput();
      model.watermark(Long.MAX_VALUE);
      published.add(pipeline.records());
      assertThat(pipeline.liveKeys()).isEqualTo(model.live().size());
      assertThat(pipeline.timers()).as("timers after the end of the input").isZero();
    } finally {
      pipeline.close();
    }
    published.mustBeThoseOf(model, spec);
    Statistics.label("at least five manifests")
        .collect(model.manifests().size() >= 5)
        .coverage(coverage -> coverage.check(true).percentage(share -> share > 60));
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
