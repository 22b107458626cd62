package io.firstseen.filters.key;

/**
 * Thrown if a key has no canonical form. The message is used as the reason of a dead letter: it
 * states the bound and the value, and contains at most a shortened part of the key. There is no
 * stack trace, because bad keys are data and may be frequent.
 */
public final class InvalidKeyException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates the exception for {@code reason}. */
  public InvalidKeyException(String reason) {
    super(reason, null, false, false);
  }
}
