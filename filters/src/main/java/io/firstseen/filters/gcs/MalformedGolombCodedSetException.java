package io.firstseen.filters.gcs;

import java.io.IOException;

/** The bytes are not a Golomb-coded set in their format; the message says why. */
public final class MalformedGolombCodedSetException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with a one-sentence reason. */
  public MalformedGolombCodedSetException(String message) {
    super(message);
  }
}
