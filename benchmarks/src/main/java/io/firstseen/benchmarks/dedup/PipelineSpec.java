package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.LocalFlink;
import java.nio.file.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/**
 * One run of one subject.
 *
 * @param subject the subject to run
 * @param keys number of different keys; the source adds repeats
 * @param warmUpKeys keys of the warm-up run or stages in the same JVM
 * @param capacity live keys that Firstseen is told to expect
 * @param flink the settings of Flink
 * @param directory that the run may write to
 * @param sizes whether to measure bytes and allocation after the rate
 * @param savepoint the savepoint to start from; null for none
 */
record PipelineSpec(
    Subject subject,
    long keys,
    long warmUpKeys,
    long capacity,
    FlinkSettings flink,
    String directory,
    boolean sizes,
    @Nullable String savepoint) {

  /** A run from empty state without checkpoints, which measures only the rate. */
  static PipelineSpec of(
      Subject subject, long keys, long warmUpKeys, FlinkSettings flink, Path directory) {
    return new PipelineSpec(
        subject, keys, warmUpKeys, keys, flink, directory.toString(), false, null);
  }

  PipelineSpec withSizes(boolean newSizes) {
    return new PipelineSpec(
        subject, keys, warmUpKeys, capacity, flink, directory, newSizes, savepoint);
  }

  /** A run that starts from a savepoint. */
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

  /** The warm-up run, from empty state. */
  PipelineSpec warmUp() {
    return new PipelineSpec(subject, warmUpKeys, 0, capacity, flink, directory, false, null);
  }

  /** An environment to build the run's job on. */
  StreamExecutionEnvironment environment(LocalFlink cluster) {
    return cluster.environment(subject.backend(), flink, sizes, savepoint);
  }
}
