package io.firstseen.benchmarks.compaction;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.shared.Turns;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.types.Operation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import picocli.CommandLine.Option;

/**
 * Prints the time to close a window of the compaction, and the size of its state. Runs the whole
 * operator in Flink's harness, on the heap. Each window changes 1 % of the keys, half by adds of
 * new keys and half by deletes of live ones. The time is from the watermark to the reports: reading
 * the pending operations, making the new live set, the section and the digest of the set. Windows
 * in which shards also cut bases are reported separately. Exits with status 1 if a bound is missed.
 */
// Closing Flink's harness may throw InterruptedException.
@SuppressWarnings("try")
public final class CompactionFigures extends FiguresProgram {
  private static final double MAX_NANOS = 60;
  private static final double MAX_STATE_BYTES = 7;
  private static final long WINDOW_MILLIS = 3_600_000;
  private static final double CHANGED = 0.01;

  @Option(
      names = "--windows",
      defaultValue = "50",
      description =
          "windows of 10 million keys, of which the median counts, and in proportion more of fewer"
              + " keys; some have bases (default: ${DEFAULT-VALUE})")
  private int windows;

  @Option(
      names = "--keys",
      split = ",",
      defaultValue = "1000000,10000000",
      description = "live keys (default: ${DEFAULT-VALUE})")
  private int[] keys;

  public static void main(String[] arguments) {
    exit(new CompactionFigures(), arguments);
  }

  @Override
  protected void measure(Path work) throws Exception {
    for (int count : keys) {
      for (int shards : new int[] {16, 1}) {
        measure(count, shards, 0);
      }
      measure(count, 16, (windowsOf(count) + 1) * WINDOW_MILLIS);
    }
  }

  private long windowsOf(int count) {
    return Math.max(windows, windows * 10_000_000L / count);
  }

  private void measure(int count, int shards, long ttlMillis) throws Exception {
    SplittableRandom random = new SplittableRandom(20261120);
    long[] live = random.longs(count).toArray();
    SnapshotSpec spec =
        SnapshotSpec.of(
                "figures", WINDOW_MILLIS, shards, 0.001, KeyHash.fixed(), Canonicaliser.NONE)
            .withTtlMillis(ttlMillis);
    try (KeyedOneInputStreamOperatorTestHarness<Object, HashedOperation, ShardSnapshot> harness =
        WindowPublisher.open(spec, Publication.OF_ALL, "-compaction")) {
      long start = 0;
      for (long hash : live) {
        harness.processElement(record(hash, Operation.ADD, start));
      }
      closeWindow(harness, start);
      harness.getOutput().clear();
      List<Double> withoutBases = new ArrayList<>();
      List<Double> withBases = new ArrayList<>();
      for (long window = 0; window < windowsOf(count); window++) {
        start += WINDOW_MILLIS;
        for (int i = 0; i < count * CHANGED / 2; i++) {
          int place = random.nextInt(count);
          harness.processElement(record(live[place], Operation.DELETE, start));
          live[place] = random.nextLong();
          harness.processElement(record(live[place], Operation.ADD, start));
        }
        double nanos = (double) closeWindow(harness, start) / count;
        boolean hasBase =
            harness.extractOutputValues().stream()
                .anyMatch(closed -> closed.change() != null && closed.change().base() != null);
        (hasBase ? withBases : withoutBases).add(nanos);
        harness.getOutput().clear();
      }
      double stateBytes = (double) harness.snapshot(1, start).getStateSize() / count;
      String name = "%,d keys in %d%s: ".formatted(count, shards, ttlMillis > 0 ? ", ttl" : "");
      double median = Turns.median(withoutBases, Double::doubleValue);
      double most = ttlMillis == 0 ? MAX_NANOS : Double.POSITIVE_INFINITY;
      figures.atMost(name + "a window, of a key", median, most, "ns");
      figures.plain(
          name + "least", withoutBases.stream().min(Double::compare).orElse(Double.NaN), "ns");
      figures.plain(name + "with bases", Turns.median(withBases, Double::doubleValue), "ns");
      double mostBytes =
          ttlMillis == 0 && count / shards == 1_000_000
              ? MAX_STATE_BYTES
              : Double.POSITIVE_INFINITY;
      figures.atMost(name + "state of a key", stateBytes, mostBytes, "bytes");
    }
  }

  /** Nanoseconds from the watermark to the reports of all shards. */
  private static long closeWindow(
      KeyedOneInputStreamOperatorTestHarness<Object, HashedOperation, ShardSnapshot> harness,
      long start)
      throws Exception {
    long before = System.nanoTime();
    harness.processWatermark(start + WINDOW_MILLIS - 1);
    return System.nanoTime() - before;
  }

  private static StreamRecord<HashedOperation> record(long hash, Operation operation, long time) {
    return new StreamRecord<>(new HashedOperation(hash, operation), time);
  }
}
