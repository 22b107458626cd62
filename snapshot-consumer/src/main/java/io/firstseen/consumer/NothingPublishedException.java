package io.firstseen.consumer;

import io.firstseen.filters.snapshot.SnapshotException;

/** Thrown if no snapshot of a set has been published yet. */
public final class NothingPublishedException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  NothingPublishedException(String message) {
    super(message);
  }
}
