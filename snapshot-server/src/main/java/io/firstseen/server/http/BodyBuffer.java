package io.firstseen.server.http;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/**
 * The body of one request while it arrives. Its bytes are reserved in the budget of all requests.
 */
final class BodyBuffer {
  private static final byte[] NOTHING = new byte[0];
  private static final int MIN_BYTES = 1024;

  private final BodyBudget budget;
  private final int maxBytes;
  private byte[] bytes = NOTHING;
  private int length;
  // The bytes reserved in the budget, for the array and the reply.
  private long taken;

  BodyBuffer(BodyBudget budget, int maxBytes) {
    this.budget = budget;
    this.maxBytes = maxBytes;
  }

  /**
   * Reserves the whole length in the budget before the first byte, so that other requests cannot
   * interrupt a body half-way.
   *
   * @throws HttpFailure with 413 or 503 if it is too long
   */
  void expect(long contentLength) throws HttpFailure {
    requireShort(contentLength);
    if (contentLength > 0) {
      budget.take(contentLength);
      taken += contentLength;
    }
  }

  /**
   * Adds received bytes.
   *
   * @throws HttpFailure with 413 or 503 if they exceed the budget
   */
  void add(ByteBuf content) throws HttpFailure {
    int more = content.readableBytes();
    long needed = (long) length + more;
    requireShort(needed);
    if (needed > bytes.length) {
      if (needed > taken) {
        long room = Math.max(needed, Math.min(maxBytes, Math.max(2L * bytes.length, MIN_BYTES)));
        budget.take(room - taken);
        taken = room;
      }
      bytes = Arrays.copyOf(bytes, (int) taken);
    }
    content.readBytes(bytes, length, more);
    length += more;
  }

  /** Returns the body; not a copy if its length was known. */
  byte[] bytes() {
    return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
  }

  /** Counts the reply to a request that has a body. */
  void countReply(long replyBytes) {
    if (length > 0) {
      budget.takeForReply(replyBytes);
      taken += replyBytes;
    }
  }

  void release() {
    bytes = NOTHING;
    length = 0;
    budget.giveBack(taken);
    taken = 0;
  }

  private void requireShort(long all) throws HttpFailure {
    if (all > maxBytes) {
      throw new HttpFailure(413, "the body must have at most " + maxBytes + " bytes");
    }
  }
}
