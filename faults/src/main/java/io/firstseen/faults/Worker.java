package io.firstseen.faults;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A daemon thread that repeats a step until it is closed or has failed. The program can end while
 * it runs.
 */
final class Worker implements AutoCloseable {
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private final Thread thread;
  private volatile boolean closed;

  /** A step of the work. */
  @FunctionalInterface
  interface Step {
    /** Does the step; an exception ends the thread and is its failure. */
    void run() throws Exception;
  }

  /** Creates the thread, which {@link #start} starts. */
  Worker(String name, Step step) {
    thread = new Thread(() -> repeat(step), name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void repeat(Step step) {
    try {
      while (isRunning()) {
        step.run();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      fail(e);
    }
  }

  /** Whether the thread continues with the next step. */
  boolean isRunning() {
    return !closed && failure.get() == null;
  }

  /** Ends the thread with a failure; keeps an earlier failure. */
  void fail(Exception e) {
    failure.compareAndSet(null, e);
  }

  /** The reason why the thread has failed; null if it has not. */
  @Nullable Exception failure() {
    return failure.get();
  }

  /** Waits until the current step has ended; does no further step. */
  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
