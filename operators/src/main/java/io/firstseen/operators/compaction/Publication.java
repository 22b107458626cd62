package io.firstseen.operators.compaction;

import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;

/**
 * Which of the manifests go out, and when blobs that none of them names are removed. Nothing of it
 * is kept in state: a job may be restarted with other rules.
 *
 * @param bounds how far the number of live keys may jump
 * @param jumpAllowedAfter the sequence of the manifest after which it may jump further, or {@link
 *     #NO_JUMP}. Holds for that one jump: another one follows another manifest
 * @param graceMillis how long a blob is kept when no manifest names it any more, or {@link
 *     #KEEP_BLOBS}
 * @param takenOverSequence every sequence is higher than this, which another job has published; 0
 *     if none has
 * @param takenOverCount the live keys of that manifest, with which the first one is compared
 * @param takenOverWindowEndMillis the end of its window: windows that end before it are held, since
 *     consumers have what came later
 */
public record Publication(
    ChangeBounds bounds,
    long jumpAllowedAfter,
    long graceMillis,
    long takenOverSequence,
    long takenOverCount,
    long takenOverWindowEndMillis)
    implements Serializable {

  /** No jump is allowed. */
  public static final long NO_JUMP = -1;

  /** Blobs are kept for ever. */
  public static final long KEEP_BLOBS = -1;

  /** Publishes every manifest and removes nothing. */
  public static final Publication OF_ALL =
      new Publication(ChangeBounds.NONE, NO_JUMP, KEEP_BLOBS, 0, 0, 0);

  /** Refuses values out of bounds with {@link IllegalArgumentException}. */
  public Publication {
    Objects.requireNonNull(bounds, "bounds");
    if (jumpAllowedAfter < NO_JUMP) {
      throw new IllegalArgumentException(
          "jumpAllowedAfter must be at least -1, got " + jumpAllowedAfter);
    }
    if (graceMillis < KEEP_BLOBS) {
      throw new IllegalArgumentException("graceMillis must be at least -1, got " + graceMillis);
    }
    if (takenOverSequence < 0) {
      throw new IllegalArgumentException(
          "takenOverSequence must be at least 0, got " + takenOverSequence);
    }
  }

  /** The same, but windows that break these bounds are held. */
  public Publication within(ChangeBounds newBounds) {
    return new Publication(
        newBounds,
        jumpAllowedAfter,
        graceMillis,
        takenOverSequence,
        takenOverCount,
        takenOverWindowEndMillis);
  }

  /** The same, but the set may jump after the manifest of a sequence. */
  public Publication allowingJumpAfter(long sequence) {
    return new Publication(
        bounds, sequence, graceMillis, takenOverSequence, takenOverCount, takenOverWindowEndMillis);
  }

  /** The same, but blobs are removed that no manifest has named for so long. */
  public Publication removingBlobsAfter(Duration grace) {
    return new Publication(
        bounds,
        jumpAllowedAfter,
        grace.toMillis(),
        takenOverSequence,
        takenOverCount,
        takenOverWindowEndMillis);
  }

  /** The same, but going on after the newest manifest of another job. */
  public Publication takingOver(long sequence, long count, long windowEndMillis) {
    return new Publication(bounds, jumpAllowedAfter, graceMillis, sequence, count, windowEndMillis);
  }
}
