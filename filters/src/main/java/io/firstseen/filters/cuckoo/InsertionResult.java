package io.firstseen.filters.cuckoo;

/** The result of an insertion. */
public enum InsertionResult {
  /** The key's identity was stored; a later delete of the key removes it. */
  STORED,
  /** {@code insertIfAbsent} found the key's identity in the filter; nothing changed. */
  PRESENT,
  /**
   * The filter already holds {@value CuckooPage#MAX_COPIES} copies of this identity; nothing
   * changed and nothing grew. Look-ups report the key as present, but this insertion does not
   * count, so the caller must not delete the key for it.
   */
  SATURATED
}
