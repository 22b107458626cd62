package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.dedup.PipelineResult.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** All that one run of the command has measured. */
final class Measurements {
  private final long keys;
  private final List<PipelineResult> pipelines = new ArrayList<>();
  private CheckpointedRates checkpointed;
  private CanonicaliserRun.Result canonicaliser;
  private ExpiryRun.Result expiry;

  /**
   * The rates with filters of some size, at a heap bound to them.
   *
   * @param prefill what is in the filters
   * @param heapMebibytes all the heap that there was
   * @param rounds one result a round
   * @param failure why there are none; null if there are
   */
  record CheckpointedRates(
      PrefillRun.Result prefill,
      long heapMebibytes,
      List<CheckpointedRun.Result> rounds,
      String failure) {}

  /**
   * @param keys the number that the table is about; results of other numbers are for the plot
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

  /** Records a second, the median of the rounds; not a number if there were none. */
  double rate(Subject subject) {
    return rate(of(subject, keys));
  }

  static double rate(List<PipelineResult> results) {
    return results.isEmpty()
        ? Double.NaN
        : Median.of(results.stream().mapToDouble(PipelineResult::recordsPerSecond).toArray());
  }

  /** Bytes allocated a record while half of them were new; not a number if not measured. */
  double allocatedPerRecord(Subject subject) {
    List<PipelineResult> results = of(subject, keys);
    return results.isEmpty()
        ? Double.NaN
        : Median.of(results.stream().mapToDouble(PipelineResult::allocatedPerRecord).toArray());
  }

  /** The bytes of a subject. */
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
  CheckpointedRates checkpointed() {
    return checkpointed;
  }

  /** Null if not measured. */
  ExpiryRun.Result expiry() {
    return expiry;
  }

  /** Null if not measured. */
  CanonicaliserRun.Result canonicaliser() {
    return canonicaliser;
  }
}
