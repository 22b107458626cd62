package io.firstseen.consumer;

/**
 * Thrown if a client cannot use a set with its configuration, so that neither waiting nor retrying
 * helps: the publisher has a different hash key, or the client is too old for the set, has too
 * little memory, or may not read the location of the blobs. The message names the reason and the
 * fix.
 */
public final class UnusableSetException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnusableSetException(String message) {
    super(message);
  }
}
