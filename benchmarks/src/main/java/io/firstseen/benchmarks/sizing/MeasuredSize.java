package io.firstseen.benchmarks.sizing;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.firstseen.benchmarks.recovery.RecoveryRun;
import io.firstseen.benchmarks.shared.Backend;
import org.jspecify.annotations.Nullable;

/**
 * What a run of a dedup has measured, at a rate of 0.1 % unless it says otherwise. Whatever is null
 * was not measured. Other programs may write it as JSON, an array of such objects.
 *
 * @param what names the run
 * @param keys live keys, which are also the capacity
 * @param falsePositiveRate at that capacity; null for 0.001
 * @param backend where state was
 * @param cached the share of the pages that the page caches held on RocksDB; null for 1
 * @param parallelism of the dedup
 * @param eventsPerSecond of all tasks, half of them new keys
 * @param heapBytes live objects of all tasks; of the heap backend only
 * @param checkpointBytes files of a checkpoint of all state
 * @param checkpointSeconds how long it took
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record MeasuredSize(
    String what,
    long keys,
    @Nullable Double falsePositiveRate,
    Backend backend,
    @Nullable Double cached,
    int parallelism,
    @Nullable Double eventsPerSecond,
    @Nullable Double heapBytes,
    @Nullable Double checkpointBytes,
    @Nullable Double checkpointSeconds) {

  /** What a run of recoveries has measured with one task. */
  static MeasuredSize of(RecoveryRun.Result run) {
    RecoveryRun.Start start = run.start(RecoveryRun.OF_ONE, 1);
    return new MeasuredSize(
        "%s, %,d keys".formatted(run.backend().id(), run.keys()),
        run.keys(),
        null,
        run.backend(),
        null,
        1,
        start.steadyRate(),
        run.backend() == Backend.HASHMAP ? (double) run.heapBytes() : null,
        (double) run.checkpointBytes(),
        run.checkpointSeconds());
  }
}
