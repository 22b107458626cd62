package io.firstseen.consumer;

/** The behaviour of queries while no snapshot is available. */
public enum NoSnapshotPolicy {
  /** Queries throw {@link NoSnapshotException}. */
  THROW,

  /** Queries return 'present': for callers that prefer to drop events. */
  ANSWER_PRESENT,

  /** Queries return 'absent': for callers that prefer to let events through. */
  ANSWER_ABSENT
}
