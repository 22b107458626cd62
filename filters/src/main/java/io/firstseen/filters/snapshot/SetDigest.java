package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.Universe;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.PrimitiveIterator;

/**
 * The digest that identifies a set: SHA-256 over buckets and width of its universe and its values
 * in ascending order, each as 8 bytes, big-endian. Does not store the values.
 */
public final class SetDigest {
  private static final int BLOCK_BYTES = 8192;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final MessageDigest digest = Sha256.newDigest();
  private final byte[] block = new byte[BLOCK_BYTES];
  private int filled;

  /** Begins with an empty set. */
  public SetDigest(Universe universe) {
    add(universe.buckets());
    add(universe.width());
  }

  /**
   * Adds the next value. The caller must give the values in ascending order; this is not checked.
   */
  public void add(long value) {
    if (filled == BLOCK_BYTES) {
      flush();
    }
    LONGS.set(block, filled, value);
    filled += Long.BYTES;
  }

  /** Adds the first {@code length} values of an array. */
  public void add(long[] values, int length) {
    for (int i = 0; i < length; ) {
      if (filled == BLOCK_BYTES) {
        flush();
      }
      int end = Math.min(length, i + (BLOCK_BYTES - filled) / Long.BYTES);
      int at = filled;
      for (; i < end; i++, at += Long.BYTES) {
        LONGS.set(block, at, values[i]);
      }
      filled = at;
    }
  }

  /** Returns the digest as hexadecimal digits. No more values may be added. */
  public String hex() {
    flush();
    return HexFormat.of().formatHex(digest.digest());
  }

  static String of(GolombCodedSet set) {
    SetDigest digest = new SetDigest(set.universe());
    PrimitiveIterator.OfLong values = set.iterator();
    while (values.hasNext()) {
      digest.add(values.nextLong());
    }
    return digest.hex();
  }

  private void flush() {
    digest.update(block, 0, filled);
    filled = 0;
  }
}
