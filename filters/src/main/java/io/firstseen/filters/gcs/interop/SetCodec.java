package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.util.List;

/**
 * A format of Golomb-coded sets that another program reads and writes, with its parameters: what a
 * key hashes to, and how the sorted hashes become bytes. Immutable, safe for use by many threads.
 */
public interface SetCodec {

  /** The most bytes that a codec writes: 256 MiB, more than any of these programs has use for. */
  int MAX_BYTES = 1 << 28;

  /**
   * The bytes of the set of these keys, as the other program would write them. Keys may come in any
   * order and more than once.
   *
   * @throws IllegalArgumentException if a key is none in this format, or the set needs more than
   *     {@link #MAX_BYTES} bytes
   */
  byte[] encode(List<byte[]> keys);

  /**
   * The set that these bytes hold, checked from the first bit to the last. Takes time in proportion
   * to the bytes, and no memory but a copy of them.
   *
   * @throws MalformedGolombCodedSetException if they are no set in this format
   */
  CodedSet decode(byte[] bytes) throws MalformedGolombCodedSetException;
}
