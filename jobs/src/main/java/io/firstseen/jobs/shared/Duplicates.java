package io.firstseen.jobs.shared;

import io.firstseen.serializers.Outcome;

/** The duplicates and unknown deletes that a dedup job writes; it counts all of them. */
public enum Duplicates {
  NONE,
  /** The duplicates of one key in {@value #SAMPLE_SLICES}, and all unknown deletes. */
  SAMPLE,
  TOPIC;

  /** A key is in the sample if its hash, unsigned, is a multiple of this. */
  public static final int SAMPLE_SLICES = 100;

  /**
   * Whether an outcome is written.
   *
   * @param hash the hash of the outcome's key
   */
  public boolean isWritten(Outcome.Kind kind, long hash) {
    return switch (kind) {
      case ACCEPTED, REMOVED, DEAD_LETTER -> true;
      case FALSE_DUPLICATE, UNKNOWN_DELETE -> this != NONE;
      case DUPLICATE ->
          this == TOPIC || (this == SAMPLE && Long.remainderUnsigned(hash, SAMPLE_SLICES) == 0);
    };
  }
}
