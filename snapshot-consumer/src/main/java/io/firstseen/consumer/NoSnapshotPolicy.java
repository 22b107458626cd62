package io.firstseen.consumer;

/** What a query does while there is no snapshot that may answer it. */
public enum NoSnapshotPolicy {
  /** It throws {@link NoSnapshotException}. */
  THROW,

  /** It answers 'present': for callers that would rather drop than let through. */
  ANSWER_PRESENT,

  /** It answers 'absent': for callers that would rather let through than drop. */
  ANSWER_ABSENT
}
