package io.firstseen.benchmarks.kafka;

import java.util.Locale;

/** The compared jobs. All read the same events, and write exactly-once. */
enum Subject {
  /** Accepts every event, in one chain from the source to the sink. */
  PASS_THROUGH,
  /** The dedup job with its default options. */
  OURS,
  /** The same with {@code --duplicates none}. */
  OURS_WITHOUT_DUPLICATES,
  /** A boolean in state for the hash of each key. */
  EXACT;

  /** Whether it tells repeats from new keys. */
  boolean dedups() {
    return this != PASS_THROUGH;
  }

  boolean isOurs() {
    return this == OURS || this == OURS_WITHOUT_DUPLICATES;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
