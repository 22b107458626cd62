package io.firstseen.jobs.events;

/** The reason why bytes are no event. Has no stack trace: malformed input may come in floods. */
final class MalformedEventException extends Exception {
  private static final long serialVersionUID = 1;

  MalformedEventException(String reason) {
    super(reason, null, false, false);
  }
}
