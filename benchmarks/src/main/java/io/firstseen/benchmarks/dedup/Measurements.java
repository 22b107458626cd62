package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.dedup.PipelineResult.Sizes;
import io.firstseen.benchmarks.shared.Median;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** All measurements of one run of the command. */
final class Measurements {
  private final long keys;
  private final List<PipelineResult> pipelines = new ArrayList<>();
  private CheckpointedRates checkpointed;
  private CanonicaliserRun.Result canonicaliser;
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

  void add(PipelineResult result) {
    pipelines.add(result);
  }

  void set(CheckpointedRates rates) {
    checkpointed = rates;
  }

  void set(CanonicaliserRun.Result result) {
    canonicaliser = result;
  }

  void set(ExpiryRun.Result result) {
    expiry = result;
  }

  long keys() {
    return keys;
  }

  /** Records per second, the median of the rounds; NaN if there were none. */
  double rate(Subject subject) {
    return rate(of(subject, keys));
  }

  static double rate(List<PipelineResult> results) {
    return results.isEmpty()
        ? Double.NaN
        : Median.of(results.stream().mapToDouble(PipelineResult::recordsPerSecond).toArray());
  }

  /** Bytes allocated per record while half of the records were new keys; NaN if not measured. */
  double allocatedPerRecord(Subject subject) {
    List<PipelineResult> results = of(subject, keys);
    return results.isEmpty()
        ? Double.NaN
        : Median.of(results.stream().mapToDouble(PipelineResult::allocatedPerRecord).toArray());
  }

  /** The sizes measured for a subject. */
  Optional<Sizes> sizes(Subject subject) {
    return sizes(of(subject, keys));
  }

  static Optional<Sizes> sizes(List<PipelineResult> results) {
    return results.stream().map(PipelineResult::sizes).filter(sizes -> sizes != null).findFirst();
  }

  List<PipelineResult> of(Subject subject, long ofKeys) {
    return pipelines.stream()
        .filter(result -> result.subject() == subject && result.keys() == ofKeys)
        .toList();
  }

  List<PipelineResult> pipelines() {
    return List.copyOf(pipelines);
  }

  /** Null if not measured. */
  @Nullable CheckpointedRates checkpointed() {
    return checkpointed;
  }

  /** Null if not measured. */
  ExpiryRun.@Nullable Result expiry() {
    return expiry;
  }

  /** Null if not measured. */
  CanonicaliserRun.@Nullable Result canonicaliser() {
    return canonicaliser;
  }
}
