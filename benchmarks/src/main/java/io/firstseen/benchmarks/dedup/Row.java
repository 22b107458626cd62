package io.firstseen.benchmarks.dedup;

import static io.firstseen.benchmarks.Bound.atLeast;
import static io.firstseen.benchmarks.Bound.atMost;
import static io.firstseen.benchmarks.dedup.Subject.EMPTY;
import static io.firstseen.benchmarks.dedup.Subject.HASH_HEAP;
import static io.firstseen.benchmarks.dedup.Subject.HASH_ROCKSDB;
import static io.firstseen.benchmarks.dedup.Subject.OURS_HEAP;
import static io.firstseen.benchmarks.dedup.Subject.OURS_HEAP_TTL;
import static io.firstseen.benchmarks.dedup.Subject.OURS_ROCKSDB;
import static io.firstseen.benchmarks.dedup.Subject.OURS_ROCKSDB_EIGHTH;
import static io.firstseen.benchmarks.dedup.Subject.OURS_ROCKSDB_QUARTER;
import static io.firstseen.benchmarks.dedup.Subject.URL_HEAP;
import static io.firstseen.benchmarks.dedup.Subject.URL_ROCKSDB;

import io.firstseen.benchmarks.Bound;
import io.firstseen.benchmarks.dedup.Measurements.CheckpointedRates;
import io.firstseen.benchmarks.dedup.PipelineRun.Sizes;
import io.firstseen.benchmarks.shared.Turns;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The rows of the table: each with its bound, the measurements that it needs, and its figure. */
enum Row {
  HEAP_HASH("rate on heap / exact by hash on heap", atLeast(1.5), ratio(OURS_HEAP, HASH_HEAP)),
  HEAP_URL("rate on heap / exact by URL on heap", atLeast(2), ratio(OURS_HEAP, URL_HEAP)),
  ROCKSDB_HASH(
      "rate on RocksDB, all pages in the cache / exact by hash on RocksDB",
      atLeast(2),
      ratio(OURS_ROCKSDB, HASH_ROCKSDB)),
  ROCKSDB_URL(
      "rate on RocksDB, all pages in the cache / exact by URL on RocksDB",
      atLeast(4),
      ratio(OURS_ROCKSDB, URL_ROCKSDB)),
  QUARTER_HASH(
      "rate on RocksDB, 1/4 of the pages in the cache / exact by hash on RocksDB",
      Bound.none(),
      ratio(OURS_ROCKSDB_QUARTER, HASH_ROCKSDB)),
  QUARTER_URL(
      "rate on RocksDB, 1/4 of the pages in the cache / exact by URL on RocksDB",
      Bound.none(),
      ratio(OURS_ROCKSDB_QUARTER, URL_ROCKSDB)),
  EIGHTH_HASH(
      "rate on RocksDB, 1/8 of the pages in the cache / exact by hash on RocksDB",
      atLeast(0.5),
      ratio(OURS_ROCKSDB_EIGHTH, HASH_ROCKSDB)),
  EIGHTH_URL(
      "rate on RocksDB, 1/8 of the pages in the cache / exact by URL on RocksDB",
      atLeast(1),
      ratio(OURS_ROCKSDB_EIGHTH, URL_ROCKSDB)),
  EXACT_0(
      "mode exact / exact by hash, RocksDB, no repeats",
      Bound.none(),
      ratio(Subject.EXACT_NO_REPEATS, Subject.HASH_NO_REPEATS)),
  EXACT_5(
      "mode exact / exact by hash, RocksDB, 5 % repeats",
      atLeast(1.5), ratio(Subject.EXACT_5, Subject.HASH_5)),
  EXACT_20(
      "mode exact / exact by hash, RocksDB, 20 % repeats",
      Bound.none(), ratio(Subject.EXACT_20, Subject.HASH_20)),
  EXACT_50(
      "mode exact / exact by hash, RocksDB, 50 % repeats",
      Bound.none(), ratio(Subject.EXACT_50, Subject.HASH_50)),
  EXACT_80(
      "mode exact / exact by hash, RocksDB, 80 % repeats",
      Bound.none(), ratio(Subject.EXACT_80, Subject.HASH_80)),
  EXACT_SAVEPOINT_BYTES(
      "canonical savepoint bytes per key, mode exact, RocksDB",
      Bound.none(),
      bytesPerKey(Sizes::savepointBytes, Subject.EXACT_5, Subject.HASH_5)),
  ROCKSDB_HEAP(
      "rate on RocksDB, all pages in the cache / own rate on heap",
      atLeast(0.6),
      ratio(OURS_ROCKSDB, OURS_HEAP)),
  EMPTY_JOB(
      "rate on heap / the same job with an empty keyed function",
      atLeast(0.7),
      ratio(OURS_HEAP, EMPTY)),
  HEAP_BYTES(
      "heap bytes per key, heap",
      atMost(3),
      bytesPerKey(Sizes::heapBytes, OURS_HEAP, HASH_HEAP, URL_HEAP)),
  CHECKPOINT_BYTES(
      "checkpoint bytes per key, heap",
      atMost(2.3),
      bytesPerKey(Sizes::checkpointBytes, OURS_HEAP, HASH_HEAP, URL_HEAP)),
  ROCKSDB_SAVEPOINT_BYTES(
      "canonical savepoint bytes per key, RocksDB",
      atMost(2.3),
      bytesPerKey(Sizes::savepointBytes, OURS_ROCKSDB, HASH_ROCKSDB, URL_ROCKSDB)),
  ROCKSDB_CHECKPOINT_BYTES(
      "bytes per key of RocksDB's first incremental checkpoint, with what compaction has left",
      Bound.none(),
      bytesPerKey(Sizes::checkpointBytes, OURS_ROCKSDB, HASH_ROCKSDB, URL_ROCKSDB)),
  INCREMENT(
      "bytes per new key of an incremental checkpoint after 1 % new keys, mean of 50, RocksDB",
      atMost(25),
      bySizes(
          (sizes, keys) -> (double) sizes.incrementBytes() / sizes.incrementKeys(),
          "%.1f",
          OURS_ROCKSDB,
          HASH_ROCKSDB)),
  REFERENCED(
      "bytes that these checkpoints reference / bytes of the pages",
      atMost(2.2),
      new Plan(
          EnumSet.of(OURS_ROCKSDB),
          measured ->
              measured
                  .sizes(OURS_ROCKSDB)
                  .map(
                      sizes ->
                          new Figure(
                              sizes.referenced(),
                              "%.2f (highest %.2f)"
                                  .formatted(sizes.referenced(), sizes.mostReferenced())))
                  .orElse(Figure.MISSING))),
  CHECKPOINTS(
      "rate with a checkpoint each second / without, in a heap of 2.5 x the filters + 512 MiB",
      atLeast(0.75),
      checkpoints(OURS_HEAP)),
  CHECKPOINTS_ROCKSDB(
      "the same on RocksDB, incremental, all pages in the cache",
      atLeast(0.9),
      checkpoints(OURS_ROCKSDB)),
  EXPIRY_RATE("rate on heap with a ttl / without", atLeast(0.85), ratio(OURS_HEAP_TTL, OURS_HEAP)),
  EXPIRY_BITS(
      "checkpoint bits per key that a ttl adds, twice the keys in one task, of nine epochs",
      atMost(4.5),
      expiry(expiry -> new Figure(expiry.extraBits(), "%.2f".formatted(expiry.extraBits())))),
  EXPIRY_CALL(
      "longest call while a ninth of twice the keys expires in one task, ms",
      atMost(5),
      expiry(
          expiry ->
              new Figure(
                  expiry.longestMillis(),
                  "%.2f (of all rounds %.2f; where all are due at once %.2f)"
                      .formatted(
                          expiry.longestMillis(),
                          expiry.longestOfAllMillis(),
                          expiry.longestOfJumpMillis())))),
  EXPIRY_SWEEP(
      "rate of the operator alone while a ninth of its keys expires / while none does",
      atLeast(0.8),
      expiry(
          expiry ->
              new Figure(
                  expiry.restNanos() / expiry.sweepNanos(),
                  "%.2f (%.0f ns, %.0f ns; where all are due at once %.0f ns)"
                      .formatted(
                          expiry.restNanos() / expiry.sweepNanos(),
                          expiry.sweepNanos(),
                          expiry.restNanos(),
                          expiry.jumpNanos())))),
  ALLOCATION(
      // The smallest object has 16 bytes; network buffers cost one or two bytes per record.
      "bytes allocated a repeat, above the empty job's", atMost(4), allocation());

  /**
   * A figure and its composition.
   *
   * @param value NaN if it was not measured
   * @param text for the table
   */
  record Figure(double value, String text) {
    static final Figure MISSING = new Figure(Double.NaN, "not measured");
  }

  static final Set<Row> OF_EXPIRY =
      Collections.unmodifiableSet(EnumSet.of(EXPIRY_BITS, EXPIRY_CALL, EXPIRY_SWEEP));

  /** The rows that {@link CheckpointedRun} measures, and the jobs. */
  static final Map<Row, Subject> OF_CHECKPOINTS =
      Collections.unmodifiableMap(
          new EnumMap<>(Map.of(CHECKPOINTS, OURS_HEAP, CHECKPOINTS_ROCKSDB, OURS_ROCKSDB)));

  private record Plan(Set<Subject> subjects, Function<Measurements, Figure> figure) {}

  private final String what;

  @SuppressWarnings("ImmutableEnumChecker") // A record of constants.
  private final Bound bound;

  @SuppressWarnings("ImmutableEnumChecker") // A record of constants and a function without state.
  private final Plan plan;

  Row(String what, Bound bound, Plan plan) {
    this.what = what;
    this.bound = bound;
    this.plan = plan;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String what() {
    return what;
  }

  Bound bound() {
    return bound;
  }

  Set<Subject> subjects() {
    return plan.subjects();
  }

  Figure figure(Measurements measured) {
    return plan.figure().apply(measured);
  }

  private static Plan ratio(Subject ours, Subject other) {
    return new Plan(
        EnumSet.of(ours, other), measured -> ratio(measured.rate(ours), measured.rate(other)));
  }

  private static Figure ratio(double rate, double other) {
    return Double.isNaN(rate) || Double.isNaN(other)
        ? Figure.MISSING
        : new Figure(
            rate / other,
            "%.2f (%.2f M/s, %.2f M/s)".formatted(rate / other, rate / 1e6, other / 1e6));
  }

  private static Plan bytesPerKey(ToLongFunction<Sizes> bytes, Subject ours, Subject... others) {
    return bySizes((sizes, keys) -> (double) bytes.applyAsLong(sizes) / keys, "%.2f", ours, others);
  }

  /** Our figure, followed by the figures of exact dedup. */
  private static Plan bySizes(
      ToDoubleBiFunction<Sizes, Long> figure, String format, Subject ours, Subject... others) {
    return new Plan(
        EnumSet.of(ours, others),
        measured -> {
          if (measured.sizes(ours).isEmpty()) {
            return Figure.MISSING;
          }
          double value = figure.applyAsDouble(measured.sizes(ours).get(), measured.keys);
          String ofOthers =
              List.of(others).stream()
                  .flatMap(
                      other ->
                          measured.sizes(other).stream()
                              .map(
                                  sizes ->
                                      other.title()
                                          + " "
                                          + format.formatted(
                                              figure.applyAsDouble(sizes, measured.keys))))
                  .collect(Collectors.joining("; "));
          return new Figure(value, format.formatted(value) + " (" + ofOthers + ")");
        });
  }

  private static Plan allocation() {
    return new Plan(
        EnumSet.of(EMPTY, OURS_HEAP, OURS_ROCKSDB),
        measured -> {
          if (Stream.of(EMPTY, OURS_HEAP, OURS_ROCKSDB)
              .anyMatch(subject -> measured.sizes(subject).isEmpty())) {
            return Figure.MISSING;
          }
          double repeatOnHeap = overEmpty(measured, OURS_HEAP);
          double repeatOnRocksDb = overEmpty(measured, OURS_ROCKSDB);
          return new Figure(
              Math.max(repeatOnHeap, repeatOnRocksDb),
              "heap %.2f, RocksDB %.2f (empty job %.0f; with half of the records new, above it: %.1f, %.1f)"
                  .formatted(
                      repeatOnHeap,
                      repeatOnRocksDb,
                      measured.sizes(EMPTY).get().allocatedPerRepeat(),
                      measured.allocatedPerRecord(OURS_HEAP) - measured.allocatedPerRecord(EMPTY),
                      measured.allocatedPerRecord(OURS_ROCKSDB)
                          - measured.allocatedPerRecord(EMPTY)));
        });
  }

  private static double overEmpty(Measurements measured, Subject subject) {
    return measured.sizes(subject).orElseThrow().allocatedPerRepeat()
        - measured.sizes(EMPTY).orElseThrow().allocatedPerRepeat();
  }

  private static Plan expiry(Function<ExpiryRun.Result, Figure> figure) {
    return new Plan(
        EnumSet.noneOf(Subject.class),
        measured -> measured.expiry == null ? Figure.MISSING : figure.apply(measured.expiry));
  }

  private static Plan checkpoints(Subject subject) {
    return new Plan(
        EnumSet.noneOf(Subject.class), measured -> figure(measured.checkpointed.get(subject)));
  }

  private static Figure figure(@Nullable CheckpointedRates rates) {
    if (rates == null) {
      return Figure.MISSING;
    }
    if (rates.failure() != null) {
      return new Figure(Double.NaN, rates.failure());
    }
    double ratio = Turns.median(rates.rounds(), CheckpointedRun.Result::ratio);
    return new Figure(
        ratio,
        "%.2f (%.2f M/s, %.2f M/s); %.0f MiB of filters with %,d keys, heap of %,d MiB; checkpoints: %s"
            .formatted(
                ratio,
                Turns.median(rates.rounds(), CheckpointedRun.Result::rateWith) / 1e6,
                Turns.median(rates.rounds(), CheckpointedRun.Result::rateWithout) / 1e6,
                rates.prefill().filterBytes() / 1048576.0,
                rates.prefill().keys(),
                rates.heapMebibytes(),
                rates.rounds().stream()
                    .map(
                        round ->
                            "%d, %,d ms each".formatted(round.checkpoints(), round.meanMillis()))
                    .collect(Collectors.joining("; "))));
  }
}
