package io.firstseen.benchmarks.dedup;

import java.nio.file.Path;

/**
 * One run of one subject.
 *
 * @param subject what is run
 * @param keys number of different keys; the source makes repeats besides
 * @param warmUpKeys keys of a run, or of stages, before what is measured, in the same JVM
 * @param capacity live keys that Firstseen is told to expect
 * @param flink how Flink is set up
 * @param directory that the run may write to
 * @param sizes whether to measure bytes and allocation after the rate
 * @param savepoint where the state comes from; null for none
 */
record PipelineSpec(
    Subject subject,
    long keys,
    long warmUpKeys,
    long capacity,
    FlinkSettings flink,
    String directory,
    boolean sizes,
    String savepoint) {

  /** From nothing, without checkpoints, for the rate alone. */
  static PipelineSpec of(
      Subject subject, long keys, long warmUpKeys, FlinkSettings flink, Path directory) {
    return new PipelineSpec(
        subject, keys, warmUpKeys, keys, flink, directory.toString(), false, null);
  }

  PipelineSpec withSizes(boolean newSizes) {
    return new PipelineSpec(
        subject, keys, warmUpKeys, capacity, flink, directory, newSizes, savepoint);
  }

  /** On top of what a savepoint holds. */
  PipelineSpec from(PrefillRun.Result prefill) {
    return new PipelineSpec(
        subject,
        keys,
        warmUpKeys,
        prefill.capacity(),
        flink,
        directory,
        sizes,
        prefill.savepoint());
  }

  /** The run before the run, from nothing. */
  PipelineSpec warmUp() {
    return new PipelineSpec(subject, warmUpKeys, 0, capacity, flink, directory, false, null);
  }
}
