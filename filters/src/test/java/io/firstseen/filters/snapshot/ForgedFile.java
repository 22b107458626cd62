package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * Snapshots, blobs and manifests with random or deliberate damage. The offsets of
 * docs/format/snapshot-v1.md are stated again here, to detect mistakes.
 */
final class ForgedFile {
  private static final int SECTIONS_CHECKSUM = 208;
  private static final long LITTLE_BYTES = 256 << 10;

  private ForgedFile() {}

  /** Reads a file. */
  @FunctionalInterface
  interface Reading {
    void read(byte[] bytes) throws SnapshotException;
  }

  static int headerBytes(String setName) {
    return 217 + setName.length();
  }

  /** Changes a copy of a good file and mends both checksums. */
  static byte[] of(byte[] good, int headerBytes, Consumer<ByteBuffer> change) {
    byte[] forged = good.clone();
    change.accept(ByteBuffer.wrap(forged).order(ByteOrder.LITTLE_ENDIAN));
    mend(forged, headerBytes);
    return forged;
  }

  /** Makes both checksums fit again. */
  static void mend(byte[] bytes, int headerBytes) {
    ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    file.putInt(SECTIONS_CHECKSUM, crc32c(bytes, headerBytes, bytes.length - headerBytes));
    file.putInt(headerBytes - 4, crc32c(bytes, 0, headerBytes - 4));
  }

  /** Makes the checksum at the end of a blob or of an unsigned manifest fit again. */
  static byte[] mendEnd(byte[] bytes) {
    if (bytes.length >= 4) {
      mendChecksumAt(bytes.length - 4, bytes);
    }
    return bytes;
  }

  /** Makes a checksum fit again that covers all bytes before it. */
  static void mendChecksumAt(int offset, byte[] bytes) {
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(offset, crc32c(bytes, 0, offset));
  }

  private static int crc32c(byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return (int) crc.getValue();
  }

  static void assertEveryFlippedBitIsRefused(byte[] good, Reading reading) {
    for (int bit = 0; bit < good.length * 8; bit++) {
      byte[] flipped = good.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> reading.read(flipped))
          .as("bit %d", bit)
          .isInstanceOf(SnapshotException.class)
          .isNotExactlyInstanceOf(SnapshotException.class);
    }
  }

  /** Classes are to be loaded before. */
  static void assertAllocatesLittle(String what, Runnable reading) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    reading.run();
    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
        .as("bytes allocated with %s", what)
        .isLessThan(LITTLE_BYTES);
  }
}
