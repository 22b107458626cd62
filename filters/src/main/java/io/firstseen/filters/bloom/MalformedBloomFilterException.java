package io.firstseen.filters.bloom;

import java.io.IOException;

/** Thrown if bytes are not a serialised Bloom filter; the message states the reason. */
public final class MalformedBloomFilterException extends IOException {
  private static final long serialVersionUID = 1L;

  MalformedBloomFilterException(String message) {
    super(message);
  }
}
