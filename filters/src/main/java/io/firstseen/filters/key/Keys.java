package io.firstseen.filters.key;

/** Bounds of every key. */
public final class Keys {
  /**
   * The highest length, inclusive, of a key before canonicalisation, of its canonical form, and of
   * a scope, in bytes: 65,536 each.
   */
  public static final int MAX_KEY_BYTES = 65_536;

  private Keys() {}
}
