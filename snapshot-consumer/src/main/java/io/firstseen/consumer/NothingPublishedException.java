package io.firstseen.consumer;

import io.firstseen.filters.snapshot.SnapshotException;

/** There is no snapshot of a set yet; the message says so in one sentence. */
public final class NothingPublishedException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  NothingPublishedException(String message) {
    super(message);
  }
}
