package io.firstseen.filters.bloom;

import java.io.IOException;

/** Bytes that are not the serialised form of a Bloom filter; the message says why. */
public final class MalformedBloomFilterException extends IOException {
  private static final long serialVersionUID = 1L;

  MalformedBloomFilterException(String message) {
    super(message);
  }
}
