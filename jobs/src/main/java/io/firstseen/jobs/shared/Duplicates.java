package io.firstseen.jobs.shared;

import io.firstseen.serializers.Outcome;

/** Which repeats and unknown deletes a dedup job writes; it counts all of them. */
public enum Duplicates {
  /** None of them. */
  NONE,
  /** The repeats of one key in {@value #SAMPLE_SLICES}, and all the rest. */
  SAMPLE,
  /** All of them. */
  TOPIC;

  /** A key is in the sample if its hash, unsigned, is a multiple of this. */
  public static final int SAMPLE_SLICES = 100;

  /**
   * Whether an outcome is written.
   *
   * @param hash the hash of its key
   */
  public boolean isWritten(Outcome.Kind kind, long hash) {
    return switch (kind) {
      case ACCEPTED, REMOVED, DEAD_LETTER, WRITTEN -> true;
      case FALSE_DUPLICATE, UNKNOWN_DELETE -> this != NONE;
      case DUPLICATE ->
          this == TOPIC || (this == SAMPLE && Long.remainderUnsigned(hash, SAMPLE_SLICES) == 0);
    };
  }
}
