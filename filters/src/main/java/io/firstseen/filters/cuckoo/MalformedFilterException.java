package io.firstseen.filters.cuckoo;

import java.io.IOException;

/** The bytes are not those of a filter or a page of one. */
public final class MalformedFilterException extends IOException {
  private static final long serialVersionUID = 1L;

  MalformedFilterException(String message) {
    super(message);
  }
}
