package io.firstseen.consumer;

/**
 * Thrown if a query cannot be answered because no snapshot is available; the message states the
 * reason.
 */
public final class NoSnapshotException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ClientState state;

  NoSnapshotException(ClientState state, String message) {
    super(message);
    this.state = state;
  }

  /** Returns the state of the client at the time of the query. */
  public ClientState state() {
    return state;
  }
}
