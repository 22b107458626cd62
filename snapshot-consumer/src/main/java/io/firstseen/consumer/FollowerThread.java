package io.firstseen.consumer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The daemon thread that follows one or more sets. */
final class FollowerThread extends Thread {
  private static final Logger LOG = LoggerFactory.getLogger(FollowerThread.class);
  private static final long CLOSE_TIMEOUT_MILLIS = 10_000;

  FollowerThread(String name, Runnable follower) {
    super(follower, "firstseen-" + name);
    setDaemon(true);
  }

  /**
   * Waits until the thread ends, at most a few seconds. Does not wait if a listener calls this
   * method on the thread itself.
   */
  void awaitEnd() {
    if (this == Thread.currentThread()) {
      return;
    }
    try {
      join(CLOSE_TIMEOUT_MILLIS);
      if (isAlive()) {
        LOG.warn("thread {} is still busy and ends later", getName());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
