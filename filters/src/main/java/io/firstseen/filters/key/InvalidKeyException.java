package io.firstseen.filters.key;

/**
 * A key that has no canonical form. The message is the reason, fit for a dead letter: one clause
 * with the bound and the value, without the key itself. It carries no stack trace, because bad keys
 * are data and may come in floods.
 */
public final class InvalidKeyException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Makes the exception for {@code reason}. */
  public InvalidKeyException(String reason) {
    super(reason, null, false, false);
  }
}
