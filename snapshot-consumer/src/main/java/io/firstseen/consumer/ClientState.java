package io.firstseen.consumer;

/**
 * What a {@link SnapshotClient} can answer from: {@code EMPTY → LOADING → READY ↔ STALE}, and in
 * the end {@code CLOSED}. A client that was ready never goes back: it keeps the last good snapshot.
 */
public enum ClientState {
  /** No usable manifest of the set has been seen. */
  EMPTY,

  /** A manifest has been seen; its snapshots are not all loaded and verified yet. */
  LOADING,

  /** A verified snapshot answers. */
  READY,

  /** There is a verified snapshot, but it was published longer ago than the configured bound. */
  STALE,

  /** The client was closed. */
  CLOSED
}
