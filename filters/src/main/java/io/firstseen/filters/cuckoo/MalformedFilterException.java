package io.firstseen.filters.cuckoo;

import java.io.IOException;

/** Thrown if bytes are neither a serialised filter nor a page of a filter. */
public final class MalformedFilterException extends IOException {
  private static final long serialVersionUID = 1L;

  MalformedFilterException(String message) {
    super(message);
  }
}
