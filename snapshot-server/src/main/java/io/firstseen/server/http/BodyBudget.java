package io.firstseen.server.http;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** The memory budget of the bodies of all current requests and their replies. */
final class BodyBudget {
  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  BodyBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Reserves bytes for a part of a body.
   *
   * @throws HttpFailure with 503 if this exceeds the budget
   */
  void take(long bytes) throws HttpFailure {
    long now = taken.addAndGet(bytes);
    if (now > maxBytes) {
      taken.addAndGet(-bytes);
      throw new HttpFailure(
          503,
          ("the bodies of all current requests may take %d bytes, they take %d, and %d more are too"
                  + " many: try again later")
              .formatted(maxBytes, now - bytes, bytes),
          Map.of("retry-after", "1"));
    }
  }

  /**
   * Reserves bytes for an existing reply, even if this exceeds the budget. Later bodies must wait.
   */
  void takeForReply(long bytes) {
    taken.addAndGet(bytes);
  }

  void giveBack(long bytes) {
    taken.addAndGet(-bytes);
  }

  long taken() {
    return taken.get();
  }
}
