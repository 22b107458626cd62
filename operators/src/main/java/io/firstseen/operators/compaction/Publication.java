package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.Manifest;
import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Rules for which manifests are published, and when unused blobs are removed. The rules are not
 * kept in state, so a job may be restarted with different rules.
 *
 * @param bounds how far the number of live keys may jump
 * @param jumpAllowedAfter the sequence of the published manifest after which the number may jump
 *     further, or {@link #NO_JUMP}. This allows one jump, because the next jump would follow a
 *     different manifest
 * @param graceMillis how long a blob is kept after the last manifest that names it was replaced, or
 *     {@link #KEEP_BLOBS}
 * @param expiryMillis how long after its publication a manifest becomes stale, or {@link
 *     #NO_EXPIRY}
 * @param takenOver the newest manifest that another job has published for this set
 * @param idleTimeoutMillis the time within which the system clock ends windows if event time does
 *     not advance, or {@link #EVENT_TIME_ONLY}
 */
public record Publication(
    ChangeBounds bounds,
    long jumpAllowedAfter,
    long graceMillis,
    long expiryMillis,
    TakenOver takenOver,
    long idleTimeoutMillis)
    implements Serializable {

  /**
   * The newest manifest of another job, after which this job continues.
   *
   * @param sequence all sequences of this job are higher; 0 if there is no other job
   * @param count the number of its live keys; the first manifest is compared with it
   * @param windowEndMillis the end of its window; windows that end earlier are held, because
   *     consumers already have newer data
   */
  public record TakenOver(long sequence, long count, long windowEndMillis) implements Serializable {
    /** There is no other job. */
    public static final TakenOver NOTHING = new TakenOver(0, 0, 0);

    /** Rejects a negative sequence with {@link IllegalArgumentException}. */
    public TakenOver {
      if (sequence < 0) {
        throw new IllegalArgumentException("takenOverSequence must be at least 0, got " + sequence);
      }
    }
  }

  /** No jump is allowed. */
  public static final long NO_JUMP = -1;

  /** Blobs are kept forever. */
  public static final long KEEP_BLOBS = -1;

  /** Manifests do not expire. */
  public static final long NO_EXPIRY = -1;

  /** Only event time ends windows. */
  public static final long EVENT_TIME_ONLY = -1;

  /** The maximum time until manifests expire, so that the year of an expiry has four digits. */
  public static final Duration MAX_EXPIRY = Duration.ofDays(36_500);

  /** Publishes every manifest and does not remove blobs. */
  public static final Publication OF_ALL =
      new Publication(
          ChangeBounds.NONE, NO_JUMP, KEEP_BLOBS, NO_EXPIRY, TakenOver.NOTHING, EVENT_TIME_ONLY);

  /** Rejects values that are out of bounds with {@link IllegalArgumentException}. */
  public Publication {
    Objects.requireNonNull(bounds, "bounds");
    Objects.requireNonNull(takenOver, "takenOver");
    if (jumpAllowedAfter < NO_JUMP) {
      throw new IllegalArgumentException(
          "jumpAllowedAfter must be at least -1, got " + jumpAllowedAfter);
    }
    if (graceMillis < KEEP_BLOBS) {
      throw new IllegalArgumentException("graceMillis must be at least -1, got " + graceMillis);
    }
    if (expiryMillis != NO_EXPIRY && (expiryMillis < 1 || expiryMillis > MAX_EXPIRY.toMillis())) {
      throw new IllegalArgumentException(
          "expiryMillis must be -1 or in [1, %d], got %d"
              .formatted(MAX_EXPIRY.toMillis(), expiryMillis));
    }
    if (idleTimeoutMillis < EVENT_TIME_ONLY) {
      throw new IllegalArgumentException(
          "idleTimeoutMillis must be at least -1, got " + idleTimeoutMillis);
    }
  }

  /** Returns a copy with these bounds; windows that exceed them are held. */
  public Publication within(ChangeBounds newBounds) {
    return new Publication(
        newBounds, jumpAllowedAfter, graceMillis, expiryMillis, takenOver, idleTimeoutMillis);
  }

  /** Returns a copy that allows one jump after the manifest of a sequence. */
  public Publication allowingJumpAfter(long sequence) {
    return new Publication(
        bounds, sequence, graceMillis, expiryMillis, takenOver, idleTimeoutMillis);
  }

  /** Returns a copy that removes blobs which no manifest has named for the grace period. */
  public Publication removingBlobsAfter(Duration grace) {
    return new Publication(
        bounds, jumpAllowedAfter, grace.toMillis(), expiryMillis, takenOver, idleTimeoutMillis);
  }

  /** Returns a copy whose manifests become stale this long after their publication. */
  public Publication expiringAfter(Duration expiry) {
    return new Publication(
        bounds, jumpAllowedAfter, graceMillis, expiry.toMillis(), takenOver, idleTimeoutMillis);
  }

  /**
   * Returns a copy that also publishes the operations of a quiet stream. If event time has not
   * advanced for half of the timeout, a window with operations is published at most the whole
   * timeout after the later of its end and the arrival of its first operation, by the system clock.
   */
  public Publication endingWindowsAfter(Duration idleTimeout) {
    return new Publication(
        bounds, jumpAllowedAfter, graceMillis, expiryMillis, takenOver, idleTimeout.toMillis());
  }

  /** Returns whether the system clock ends windows. */
  boolean hasIdleTimeout() {
    return idleTimeoutMillis != EVENT_TIME_ONLY;
  }

  /** Returns how long each of the two operators waits for event time: half of the idle timeout. */
  long waitMillis() {
    return Math.max(1, idleTimeoutMillis / 2);
  }

  /** Returns the instant until which an operator waits, starting from the later of two instants. */
  long waitUntil(long windowEndMillis, long sinceMillis) {
    long from = Math.max(windowEndMillis, sinceMillis);
    long until = from + waitMillis();
    return until < from ? Long.MAX_VALUE : until;
  }

  /** Returns when a manifest that is published now expires; null if it never expires. */
  public @Nullable Long expiresMillis(long nowMillis) {
    return expiryMillis == NO_EXPIRY ? null : Long.valueOf(nowMillis + expiryMillis);
  }

  /** Returns an unsigned copy of a manifest, with the fields that the publisher chooses. */
  public Manifest published(Manifest manifest, long nowMillis) {
    return manifest.withTimes(nowMillis, expiresMillis(nowMillis));
  }

  /** Returns a copy that continues after the newest manifest of another job. */
  public Publication takingOver(long sequence, long count, long windowEndMillis) {
    TakenOver newest = new TakenOver(sequence, count, windowEndMillis);
    return new Publication(
        bounds, jumpAllowedAfter, graceMillis, expiryMillis, newest, idleTimeoutMillis);
  }
}
