package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.Figures;
import io.firstseen.benchmarks.dedup.PipelineResult.Sizes;
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
  private final long keys;
  private final List<PipelineResult> pipelines = new ArrayList<>();
  private final Map<Subject, CheckpointedRates> checkpointed = new EnumMap<>(Subject.class);
  private ExpiryRun.Result expiry;

  /**
   * The rates with filters of a given size, in a heap bounded for them.
   *
   * @param prefill the content of the filters
   * @param heapMebibytes the heap size
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

  void add(PipelineResult result) {
    pipelines.add(result);
  }

  void set(Subject subject, CheckpointedRates rates) {
    checkpointed.put(subject, rates);
  }

  void set(ExpiryRun.Result result) {
    expiry = result;
  }

  long keys() {
    return keys;
  }

  /** Records per second, the median of the rounds; NaN if there were none. */
  double rate(Subject subject) {
    return Turns.median(of(subject), PipelineResult::recordsPerSecond);
  }

  /** Bytes allocated per record while half of the records were new keys; NaN if not measured. */
  double allocatedPerRecord(Subject subject) {
    return Turns.median(of(subject), PipelineResult::allocatedPerRecord);
  }

  /** The sizes measured for a subject. */
  Optional<Sizes> sizes(Subject subject) {
    return of(subject).stream().map(PipelineResult::sizes).filter(Objects::nonNull).findFirst();
  }

  private List<PipelineResult> of(Subject subject) {
    return pipelines.stream()
        .filter(result -> result.subject() == subject && result.keys() == keys)
        .toList();
  }

  List<PipelineResult> pipelines() {
    return List.copyOf(pipelines);
  }

  /** Null if not measured. */
  @Nullable CheckpointedRates checkpointed(Subject subject) {
    return checkpointed.get(subject);
  }

  /** Null if not measured. */
  ExpiryRun.@Nullable Result expiry() {
    return expiry;
  }
}
