package io.firstseen.filters.gcs;

import java.io.IOException;

/** Bytes that are no Golomb-coded set of their format; the message says why. */
public final class MalformedGolombCodedSetException extends IOException {
  private static final long serialVersionUID = 1L;

  /** With the reason, a sentence. */
  public MalformedGolombCodedSetException(String message) {
    super(message);
  }
}
