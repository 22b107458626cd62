package io.firstseen.events;

/** The reason why bytes are not an event, without a stack trace, because it may be frequent. */
final class MalformedEventException extends Exception {
  private static final long serialVersionUID = 1;

  MalformedEventException(String reason) {
    super(reason, null, false, false);
  }
}
