package io.firstseen.filters.gcs;

import java.io.IOException;

/**
 * Thrown if bytes are not a Golomb-coded set in the expected format; the message states the reason.
 */
public final class MalformedGolombCodedSetException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with a reason. */
  public MalformedGolombCodedSetException(String message) {
    super(message);
  }
}
