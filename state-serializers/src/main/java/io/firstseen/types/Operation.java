package io.firstseen.types;

/** What an event asks for. */
public enum Operation {
  /** The key is seen. */
  ADD,
  /** The key shall be forgotten. */
  DELETE
}
