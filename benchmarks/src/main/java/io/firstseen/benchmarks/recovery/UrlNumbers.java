package io.firstseen.benchmarks.recovery;

import io.firstseen.benchmarks.shared.Url;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.functions.MapFunction;

/**
 * Turns the numbers of records into URLs, half of them new ones and half repeats of one of the last
 * million new ones. Fails once when it is told to.
 */
final class UrlNumbers implements MapFunction<Long, Url> {
  private static final long serialVersionUID = 1;

  private static final long REMEMBERED = 1_000_000;

  private static volatile boolean failing;

  private static volatile boolean slow;

  private final long first;

  /**
   * @param first the number of the job's first record
   */
  UrlNumbers(long first) {
    this.first = first;
  }

  /** Makes the task that handles the next record fail. */
  static void failOnce() {
    failing = true;
  }

  /** Lets each task handle a few hundred records per second only, or all that it can. */
  static void slowDown(boolean isSlow) {
    slow = isSlow;
  }

  @Override
  public Url map(Long number) throws InterruptedException {
    if (slow) {
      // Short, since barriers of checkpoints wait for it.
      TimeUnit.MILLISECONDS.sleep(2);
    }
    if (failing) {
      failing = false;
      throw new IllegalStateException("the benchmark made this task fail");
    }
    boolean isNew = (number & 1) == 0;
    long known = Math.min(REMEMBERED, (number - first) / 2 + 1);
    return Url.of(isNew ? number : number - 1 - 2 * Url.drawn(number, known));
  }
}
