package io.firstseen.cli;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits for a condition that another process or thread fulfils. */
public final class Waiting {
  private Waiting() {}

  public static void until(String what, Duration timeout, Callable<Boolean> condition)
      throws Exception {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(what + ": not within " + timeout);
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }
}
