package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.Figures;
import io.firstseen.benchmarks.dedup.PipelineRun.Sizes;
import io.firstseen.benchmarks.shared.Turns;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All measurements of one run of the command. */
final class Measurements {
  final long keys;
  final List<PipelineRun.Result> pipelines = new ArrayList<>();
  final Map<Subject, CheckpointedRates> checkpointed = new EnumMap<>(Subject.class);
  ExpiryRun.@Nullable Result expiry;

  /**
   * The rates with filters of a given size, in a heap bounded for them.
   *
   * @param rounds one result a round
   * @param failure why there are no rounds; null if there are
   */
  record CheckpointedRates(
      PrefillRun.Result prefill,
      long heapMebibytes,
      List<CheckpointedRun.Result> rounds,
      @Nullable String failure) {}

  /**
   * @param keys the number of keys of the table; results for other numbers are for the plot
   */
  Measurements(long keys) {
    this.keys = keys;
  }

  /** Adds the figures of rows and the results of all runs. */
  void report(Set<Row> rows, Figures figures) {
    for (Row row : rows) {
      Row.Figure figure = row.figure(this);
      figures.add(row.toString(), row.what(), figure.value(), row.bound(), figure.text());
    }
    figures.detail("runs", pipelines);
    figures.detail("checkpointed", checkpointed);
    figures.detail("expiry", expiry);
  }

  /** Records per second, the median of the rounds; NaN if there were none. */
  double rate(Subject subject) {
    return Turns.median(of(subject), PipelineRun.Result::recordsPerSecond);
  }

  /** Bytes allocated per record while half of the records were new keys; NaN if not measured. */
  double allocatedPerRecord(Subject subject) {
    return Turns.median(of(subject), PipelineRun.Result::allocatedPerRecord);
  }

  Optional<Sizes> sizes(Subject subject) {
    return of(subject).stream().map(PipelineRun.Result::sizes).filter(Objects::nonNull).findFirst();
  }

  private List<PipelineRun.Result> of(Subject subject) {
    return pipelines.stream()
        .filter(result -> result.subject() == subject && result.keys() == keys)
        .toList();
  }
}
