package io.firstseen.operators.restores;

/** A user's event, mutable and without a copy in sight: what object reuse can spoil. */
public final class KeyEvent {
  /** Where the event stands in its script. */
  public long position;

  public boolean delete;
  public byte[] key;
}
