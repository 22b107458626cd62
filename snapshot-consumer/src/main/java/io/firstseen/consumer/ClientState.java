package io.firstseen.consumer;

/**
 * The state of a {@link SnapshotClient}: {@code EMPTY → LOADING → READY ↔ STALE}, and in the end
 * {@code CLOSED}. A client that was ready keeps the last good snapshot, so it is never empty or
 * loading again.
 */
public enum ClientState {
  /** No usable manifest of the set has been seen. */
  EMPTY,

  /** A manifest has been seen, but not all of its snapshots are loaded and verified yet. */
  LOADING,

  /** A verified snapshot is active. */
  READY,

  /**
   * There is a verified snapshot, but its manifest has expired, or was published longer ago than
   * the configured bound.
   */
  STALE,

  /** The client was closed. */
  CLOSED
}
