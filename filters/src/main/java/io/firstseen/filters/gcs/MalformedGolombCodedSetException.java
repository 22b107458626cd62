package io.firstseen.filters.gcs;

import java.io.IOException;

/** Bytes that are not the canonical form of any Golomb-coded set; the message says why. */
public final class MalformedGolombCodedSetException extends IOException {
  private static final long serialVersionUID = 1L;

  MalformedGolombCodedSetException(String message) {
    super(message);
  }
}
