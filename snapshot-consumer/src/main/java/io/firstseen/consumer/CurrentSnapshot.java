package io.firstseen.consumer;

import io.firstseen.consumer.internal.ActiveSnapshot;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The single reference that queries read. Threads can wait for it to change. */
final class CurrentSnapshot {

  /**
   * The view that queries use. Immutable, replaced as a whole.
   *
   * @param active null in the states EMPTY, LOADING and CLOSED
   * @param trouble see {@link ClientStatus}; null if there is none
   * @param unusable why no snapshot can be used with the configuration of this client; null if a
   *     snapshot is active or may still become active
   */
  record View(
      ClientState state,
      @Nullable ActiveSnapshot active,
      @Nullable String trouble,
      @Nullable String unusable) {}

  // Written under the lock of this object, read without the lock.
  private volatile View view = new View(ClientState.EMPTY, null, null, null);

  private volatile OptionalLong pinned;

  CurrentSnapshot(OptionalLong pinned) {
    this.pinned = pinned;
  }

  View view() {
    return view;
  }

  OptionalLong pinned() {
    return pinned;
  }

  /**
   * After this method returns, no other sequence becomes active. An empty value removes the pin.
   */
  synchronized void pin(OptionalLong sequence) {
    pinned = sequence;
  }

  /**
   * Publishes a view with a different snapshot, unless a different sequence is pinned. Returns
   * whether it was published.
   */
  synchronized boolean showNext(View next) {
    long sequence = next.active().manifest().sequence();
    if (pinned.isPresent() && pinned.getAsLong() != sequence) {
      return false;
    }
    show(next);
    return true;
  }

  /** Publishes a view; a closed client stays closed. */
  synchronized void show(View next) {
    if (view.state != ClientState.CLOSED) {
      view = next;
      notifyAll();
    }
  }

  /** Waits until a condition holds or the timeout ends, and returns the view at that time. */
  synchronized View await(Predicate<View> condition, long timeoutNanos)
      throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    long startNanos = System.nanoTime();
    long leftNanos = timeoutNanos;
    while (!condition.test(view) && leftNanos > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, leftNanos);
      leftNanos = timeoutNanos - (System.nanoTime() - startNanos);
    }
    return view;
  }
}
