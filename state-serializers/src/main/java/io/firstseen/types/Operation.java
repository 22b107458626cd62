package io.firstseen.types;

/** The operation that an event requests. */
public enum Operation {
  /** The key was seen. */
  ADD,
  /** The key is to be forgotten. */
  DELETE
}
