package io.firstseen.benchmarks.recovery;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** How many records were decided at which time after a beginning. */
final class Timeline {
  /** A later rate counts as full from this share of the steady rate on. */
  static final double FULL = 0.9;

  private final List<Sample> samples = new ArrayList<>();

  /**
   * One moment.
   *
   * @param seconds since the beginning
   * @param records decided until then
   */
  record Sample(double seconds, long records) {}

  void add(double seconds, long records) {
    samples.add(new Sample(seconds, records));
  }

  /**
   * Watches the decisions of a job until some seconds have passed since the first of them.
   *
   * @param beginNanos the beginning, by {@link System#nanoTime}
   * @param attempt of the tasks whose records count, and of all later ones
   * @param fullSeconds how long to watch from the first record on
   */
  static Timeline watch(long beginNanos, int attempt, double fullSeconds) {
    Timeline timeline = new Timeline();
    double end = Double.POSITIVE_INFINITY;
    double now;
    do {
      LockSupport.parkNanos(5_000_000);
      long records = Decisions.since(attempt);
      now = (System.nanoTime() - beginNanos) / 1e9;
      timeline.add(now, records);
      if (records > 0 && end == Double.POSITIVE_INFINITY) {
        end = now + fullSeconds;
      }
    } while (now < end && !Thread.currentThread().isInterrupted());
    return timeline;
  }

  /** When the first record had been decided. */
  double firstRecord() {
    return samples.stream()
        .filter(sample -> sample.records() > 0)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no record was decided"))
        .seconds();
  }

  /** Records a second from half of the time since the first record to the end. */
  double steadyRate() {
    Sample last = samples.get(samples.size() - 1);
    double half = (firstRecord() + last.seconds()) / 2;
    Sample middle =
        samples.stream().filter(sample -> sample.seconds() >= half).findFirst().orElse(last);
    return rate(middle, last);
  }

  /**
   * The beginning of the first stretch of time, from the first record on, in which the rate is
   * full; NaN if there is none.
   */
  double fullRate(double stretchSeconds) {
    double full = FULL * steadyRate();
    double first = firstRecord();
    int end = 0;
    for (Sample begin : samples) {
      while (end < samples.size()
          && samples.get(end).seconds() < begin.seconds() + stretchSeconds) {
        end++;
      }
      if (end == samples.size()) {
        break;
      }
      if (begin.seconds() >= first && rate(begin, samples.get(end)) >= full) {
        return begin.seconds();
      }
    }
    return Double.NaN;
  }

  private static double rate(Sample begin, Sample end) {
    return (end.records() - begin.records()) / (end.seconds() - begin.seconds());
  }
}
