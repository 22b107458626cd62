package io.firstseen.server.http;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** The memory that the bodies of all requests under way, and the replies to them, may take. */
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
          ("the bodies under way may take %d bytes in all, they take %d, and %d more are too many:"
                  + " try again later")
              .formatted(maxBytes, now - bytes, bytes),
          Map.of("retry-after", "1"));
    }
  }

  /** Takes bytes for a reply, which was made already: the bodies that follow must wait. */
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
