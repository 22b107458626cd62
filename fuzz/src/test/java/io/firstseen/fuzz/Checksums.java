package io.firstseen.fuzz;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.filters.cuckoo.CuckooPage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Corrects checksums, so that the fuzzer reaches the code behind them. */
final class Checksums {
  private static final int BYTES = 4;
  private static final int FILTER_HEADER_BYTES = 10;
  private static final int SECTIONS_AT = 208;
  private static final int MIN_HEADER_BYTES = 218;
  private static final int SIGNATURE_BYTES = 72;

  private Checksums() {}

  /** Returns a copy of a snapshot with two correct checksums. */
  static byte[] mendSnapshot(byte[] file) {
    byte[] mended = file.clone();
    if (mended.length >= MIN_HEADER_BYTES) {
      ByteBuffer fields = little(mended);
      int headerBytes =
          Math.min(mended.length, Math.max(MIN_HEADER_BYTES, fields.getShort(10) & 0xFFFF));
      fields.putInt(SECTIONS_AT, crc32c(mended, headerBytes, mended.length - headerBytes));
      mendAt(headerBytes - BYTES, mended);
    }
    return mended;
  }

  /** Returns a copy of a blob with a correct checksum. */
  static byte[] mendBlob(byte[] blob) {
    byte[] mended = blob.clone();
    mendAt(mended.length - BYTES, mended);
    return mended;
  }

  /** Returns a copy of a manifest with a correct checksum; its signature is unchanged. */
  static byte[] mendManifest(byte[] manifest) {
    byte[] mended = manifest.clone();
    boolean isSigned = mended.length > 6 && (mended[6] & 8) != 0;
    mendAt(mended.length - BYTES - (isSigned ? SIGNATURE_BYTES : 0), mended);
    return mended;
  }

  /** A filter of one page, with its checksum. */
  static byte[] filterOf(CuckooPage page, byte[] pageBytes) {
    ByteBuffer filter = ByteBuffer.allocate(FILTER_HEADER_BYTES + pageBytes.length + BYTES);
    filter.put("FSCF".getBytes(US_ASCII)).put((byte) 1).put((byte) page.shape().identityBits());
    filter.putInt(1).put(pageBytes);
    filter.putInt(crc32c(filter.array(), 0, filter.position()));
    return filter.array();
  }

  private static void mendAt(int offset, byte[] bytes) {
    if (offset >= 0) {
      little(bytes).putInt(offset, crc32c(bytes, 0, offset));
    }
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int crc32c(byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return (int) crc.getValue();
  }
}
