package io.firstseen.consumer;

/** A query that no snapshot may answer; the message says why in one sentence. */
public final class NoSnapshotException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ClientState state;

  NoSnapshotException(ClientState state, String message) {
    super(message);
    this.state = state;
  }

  /** The state of the client when it was asked. */
  public ClientState state() {
    return state;
  }
}
