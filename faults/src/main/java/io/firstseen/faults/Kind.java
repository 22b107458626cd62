package io.firstseen.faults;

/** What becomes of an event. */
enum Kind {
  ACCEPTED,
  REMOVED,
  DUPLICATE,
  UNKNOWN_DELETE;

  boolean isAccepted() {
    return this == ACCEPTED || this == REMOVED;
  }

  boolean isDelete() {
    return this == REMOVED || this == UNKNOWN_DELETE;
  }
}
