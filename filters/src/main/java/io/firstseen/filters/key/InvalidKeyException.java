package io.firstseen.filters.key;

/**
 * A key has no canonical form. The message is the reason for a dead letter: one clause with the
 * bound and the value, with at most a shortened part of the key. There is no stack trace, because
 * bad keys are data and may be frequent.
 */
public final class InvalidKeyException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates the exception for {@code reason}. */
  public InvalidKeyException(String reason) {
    super(reason, null, false, false);
  }
}
