package io.firstseen.server.http;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** The memory that the bodies of all current requests and their replies may take. */
final class BodyBudget {
  private final long maxBytes;
  private final AtomicLong taken = new AtomicLong();

  BodyBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Takes bytes for a part of a body.
   *
   * @throws HttpFailure with 503 if they are too many
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
   * Takes bytes for a reply that was made already, even if they are too many. Later bodies must
   * wait.
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
