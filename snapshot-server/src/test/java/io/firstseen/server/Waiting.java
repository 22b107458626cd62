package io.firstseen.server;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits for a condition that another thread fulfils. */
final class Waiting {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private Waiting() {}

  static void until(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(what + ": not within " + TIMEOUT);
      }
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }
}
