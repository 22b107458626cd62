package io.firstseen.consumer.internal;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The clock of a {@link TopicFollower}. Tests use a faster clock. */
public interface FollowerTime {

  /** The time of the system. */
  FollowerTime SYSTEM =
      new FollowerTime() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public boolean await(CountDownLatch latch, long millis) throws InterruptedException {
          return latch.await(millis, TimeUnit.MILLISECONDS);
        }
      };

  /** Like {@link System#nanoTime}. */
  long nanoTime();

  /** Waits for a latch for at most {@code millis}. Returns whether the latch is at 0. */
  boolean await(CountDownLatch latch, long millis) throws InterruptedException;
}
