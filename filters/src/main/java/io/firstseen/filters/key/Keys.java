package io.firstseen.filters.key;

/** Bounds that every key obeys. */
public final class Keys {
  /**
   * The longest key in bytes, as it comes, in its canonical form, and as a scope: 65,536 each. A
   * key of exactly this length is allowed.
   */
  public static final int MAX_KEY_BYTES = 65_536;

  private Keys() {}
}
