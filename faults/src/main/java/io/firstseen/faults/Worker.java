package io.firstseen.faults;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A daemon thread that repeats a step until it is closed or has failed. The program can end while
 * it runs.
 */
abstract class Worker implements AutoCloseable {
  private final AtomicReference<Exception> failure = new AtomicReference<>();
  private final Thread thread;
  private volatile boolean closed;

  /** Creates the thread, which {@link #start} starts. */
  Worker(String name) {
    thread = new Thread(this::repeat, name);
    thread.setDaemon(true);
  }

  /** Does a step; an exception ends the thread and is its failure. */
  abstract void step() throws Exception;

  final void start() {
    thread.start();
  }

  private void repeat() {
    try {
      while (isRunning()) {
        step();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      fail(e);
    }
  }

  /** Whether the thread continues with the next step. */
  final boolean isRunning() {
    return !closed && failure.get() == null;
  }

  /** Ends the thread with a failure; keeps an earlier failure. */
  final void fail(Exception e) {
    failure.compareAndSet(null, e);
  }

  /** The reason why the thread has failed; null if it has not. */
  final @Nullable Exception failure() {
    return failure.get();
  }

  /** Waits until the current step has ended; does no further step. */
  final void stop() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    stop();
  }
}
