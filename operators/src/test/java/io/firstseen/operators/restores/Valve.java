package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Lets a source's positions through as far as the test has opened it. */
final class Valve {
  private long open;
  private long reached;
  private long end = Long.MAX_VALUE;
  private CompletableFuture<Void> opened = new CompletableFuture<>();

  /** Lets all events before a position through. */
  synchronized void openTo(long position) {
    open = position;
    signal();
  }

  /** Ends the input at a position; all events before it are let through. */
  synchronized void endAt(long position) {
    open = position;
    end = position;
    signal();
  }

  /** Removes the end, for a job that resumes after it. */
  synchronized void goOn() {
    end = Long.MAX_VALUE;
  }

  synchronized boolean isOpen(long position) {
    reached = Math.max(reached, position);
    notifyAll();
    return position < open;
  }

  /** Waits until the source has come to a position. */
  synchronized void awaitReached(long position) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (reached < position) {
      long left = (deadline - System.nanoTime()) / 1_000_000;
      assertThat(left).as("patience, at %d of %d", reached, position).isPositive();
      wait(left);
    }
  }

  synchronized boolean isEnd(long position) {
    return position >= end;
  }

  /** Done when a position is let through, or the input has ended before it. */
  synchronized CompletableFuture<Void> available(long position) {
    return position < open || position >= end ? CompletableFuture.completedFuture(null) : opened;
  }

  private void signal() {
    CompletableFuture<Void> before = opened;
    opened = new CompletableFuture<>();
    before.complete(null);
  }
}
