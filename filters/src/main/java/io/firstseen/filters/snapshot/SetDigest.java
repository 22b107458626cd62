package io.firstseen.filters.snapshot;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.PrimitiveIterator;

/**
 * The digest that names a set by its values: SHA-256 over them in ascending order, each as 8 bytes,
 * big-endian. Takes them one by one and keeps none.
 */
public final class SetDigest {
  private final MessageDigest digest = Sha256.newDigest();
  private final ByteBuffer block = ByteBuffer.allocate(8192);

  /** Takes the next value; that they ascend is for the caller to see to. */
  public void add(long value) {
    block.putLong(value);
    if (!block.hasRemaining()) {
      flush();
    }
  }

  /** The digest of all values as hexadecimal digits; the next value then begins another set. */
  public String hex() {
    flush();
    return HexFormat.of().formatHex(digest.digest());
  }

  static String of(PrimitiveIterator.OfLong values) {
    SetDigest digest = new SetDigest();
    while (values.hasNext()) {
      digest.add(values.nextLong());
    }
    return digest.hex();
  }

  private void flush() {
    digest.update(block.flip());
    block.clear();
  }
}
