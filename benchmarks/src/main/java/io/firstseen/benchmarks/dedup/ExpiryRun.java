package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.operator.SwallowingOutput;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Harnesses;
import io.firstseen.benchmarks.shared.Turns;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.SplittableRandom;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;

/**
 * The process that measures one task whose keys expire, in Flink's harness, without network and
 * serializers.
 *
 * <p>First, keys are added evenly over the eight epochs of a ttl in event time. Then records are
 * processed in rounds. Of each four records, one adds a new key, one deletes that key, and two
 * repeat keys of the newest epochs; a watermark follows every 200 records. In a round without a
 * sweep, time stands still. In a round with a sweep, time advances by one epoch, so that a ninth of
 * the keys is due and every page is swept. In the last round, time advances by ten epochs at once,
 * so that all keys are due.
 */
final class ExpiryRun {
  private static final long EPOCH_MILLIS = 3_600_000;
  private static final TimeToLive TTL = TimeToLive.of(Duration.ofMillis(8 * EPOCH_MILLIS));
  private static final int RECORDS_A_WATERMARK = 200;

  /**
   * What to measure.
   *
   * @param keys in the task when measuring begins
   * @param records of a round
   * @param rounds of each kind
   */
  record Spec(int keys, int records, int rounds) {}

  /**
   * What was measured.
   *
   * @param extraBits per key in a checkpoint, more than without a ttl
   * @param restNanos nanoseconds per record while no key is due, the median of the rounds
   * @param sweepNanos nanoseconds per record while a ninth of the keys is swept, the median of the
   *     rounds
   * @param longestMillis the longest call of a round with a sweep, the median of the rounds
   * @param longestOfAllMillis the longest call of all rounds with a sweep
   * @param jumpNanos nanoseconds per record of the round in which all keys are due at once
   * @param longestOfJumpMillis the longest call of that round
   */
  record Result(
      double extraBits,
      double restNanos,
      double sweepNanos,
      double longestMillis,
      double longestOfAllMillis,
      double jumpNanos,
      double longestOfJumpMillis) {}

  private final Spec spec;
  private final SplittableRandom random = new SplittableRandom(20261120);
  private final KeyedOneInputStreamOperatorTestHarness<Object, Change<Long>, Change<Long>> harness;
  private long nextKey;
  private long longestNanos;
  private double nowMillis = 100 * EPOCH_MILLIS;

  private ExpiryRun(Spec spec, @Nullable TimeToLive ttl) throws Exception {
    this.spec = spec;
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    Firstseen<Long> description =
        Firstseen.dedup(env.fromSequence(0, 0)).key(Harnesses::key).capacity(spec.keys());
    if (ttl != null) {
      description.ttl(ttl);
    }
    harness = Harnesses.of(description.apply().accepted().getTransformation(), null);
    SwallowingOutput<Change<Long>> output = new SwallowingOutput<>();
    harness.setOutputCreator(serializer -> output);
    harness.open();
  }

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
  }

  static Result run(Spec spec) throws Exception {
    ExpiryRun without = new ExpiryRun(spec, null);
    without.fill();
    long bytesWithout = without.checkpointBytes();
    without.harness.close();

    ExpiryRun run = new ExpiryRun(spec, TTL);
    run.fill();
    double extraBits = 8.0 * (run.checkpointBytes() - bytesWithout) / spec.keys();
    double[] rest = new double[spec.rounds()];
    double[] sweep = new double[spec.rounds()];
    double[] longest = new double[spec.rounds()];
    double longestOfAll = 0;
    for (int round = -1; round < spec.rounds(); round++) {
      run.replaceHalfOfWhatWillBeDue();
      double restNanos = run.round(0);
      run.replaceHalfOfWhatWillBeDue();
      double sweepNanos = run.round(EPOCH_MILLIS);
      if (round >= 0) {
        rest[round] = restNanos;
        sweep[round] = sweepNanos;
        longest[round] = run.longestNanos / 1e6;
        longestOfAll = Math.max(longestOfAll, longest[round]);
      }
    }
    run.nowMillis += 10 * EPOCH_MILLIS;
    double jumpNanos = run.round(0);
    run.harness.close();
    return new Result(
        extraBits,
        Turns.median(rest),
        Turns.median(sweep),
        Turns.median(longest),
        longestOfAll,
        jumpNanos,
        run.longestNanos / 1e6);
  }

  /** Adds the keys, evenly over the eight epochs before now. */
  private void fill() throws Exception {
    double end = nowMillis;
    for (int i = 0; i < spec.keys(); i++) {
      nowMillis = end - 8.0 * EPOCH_MILLIS * (spec.keys() - i) / spec.keys();
      add(nextKey++);
      if (i % RECORDS_A_WATERMARK == 0) {
        watermark();
      }
    }
    nowMillis = end;
    watermark();
  }

  /**
   * Adds half as many new keys as the next epoch expires. Called before a round without a sweep and
   * again before one with a sweep, so that on average both have the same number of keys, on which
   * the time of an insertion depends.
   */
  private void replaceHalfOfWhatWillBeDue() throws Exception {
    for (int i = 0; i < spec.keys() / 16; i++) {
      add(nextKey++);
    }
  }

  /** Runs a round. Returns the mean time per record, in nanoseconds. */
  private double round(double millis) throws Exception {
    System.gc();
    long newest = nextKey;
    // Repeat only keys of the two newest epochs, of which none becomes due within a round.
    int repeated = spec.keys() / 8;
    double begin = nowMillis;
    longestNanos = 0;
    long start = System.nanoTime();
    long last = start;
    for (int i = 0; i < spec.records(); i += 4) {
      add(-1 - i);
      last = called(last);
      harness.processElement(record(Operation.DELETE, -1 - i));
      last = called(last);
      for (int repeat = 0; repeat < 2; repeat++) {
        add(newest - 1 - random.nextInt(repeated));
        last = called(last);
      }
      if (i % RECORDS_A_WATERMARK == 0) {
        nowMillis = begin + millis * i / spec.records();
        watermark();
        last = called(last);
      }
    }
    return (double) (last - start) / spec.records();
  }

  private long called(long before) {
    long now = System.nanoTime();
    longestNanos = Math.max(longestNanos, now - before);
    return now;
  }

  private void add(long key) throws Exception {
    harness.processElement(record(Operation.ADD, key));
  }

  private void watermark() throws Exception {
    harness.processWatermark(new Watermark((long) nowMillis));
  }

  private long checkpointBytes() throws Exception {
    return harness.snapshot(1, 1).getStateSize();
  }

  private StreamRecord<Change<Long>> record(Operation operation, long key) {
    return Harnesses.record(operation, key, (long) nowMillis);
  }
}
