package io.firstseen.consumer;

import io.firstseen.consumer.internal.FollowerTime;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Clients that check twenty times as often whether their broker and their topic still exist. Their
 * time-out for answers is unchanged.
 */
public final class FasterClients {
  private static final int TIMES = 20;

  private static final FollowerTime FASTER =
      new FollowerTime() {
        @Override
        public long nanoTime() {
          return TIMES * System.nanoTime();
        }

        @Override
        public boolean await(CountDownLatch latch, long millis) throws InterruptedException {
          return latch.await(millis / TIMES, TimeUnit.MILLISECONDS);
        }
      };

  private FasterClients() {}

  /** As {@link SnapshotClient#start}. */
  public static SnapshotClient start(SnapshotClientOptions options) {
    return SnapshotClient.startAll(List.of(options), FASTER).get(0);
  }
}
