package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.util.List;

/**
 * A format of Golomb-coded sets that another program reads and writes, with its parameters. It
 * defines how keys are hashed and how the sorted hashes become bytes. Immutable, safe for use by
 * many threads.
 */
public interface SetCodec {

  /**
   * The maximum number of bytes that a codec writes: 256 MiB, more than any of these programs
   * needs.
   */
  int MAX_BYTES = 1 << 28;

  /**
   * Encodes the set of these keys as the other program would. Keys may be in any order and
   * repeated.
   *
   * @throws IllegalArgumentException if a key is not valid in this format, or the set needs more
   *     than {@link #MAX_BYTES} bytes
   */
  byte[] encode(List<byte[]> keys);

  /**
   * Decodes a set and checks every bit. Needs time in proportion to the bytes, and memory only for
   * a copy of them.
   *
   * @throws MalformedGolombCodedSetException if the bytes are not a set in this format
   */
  CodedSet decode(byte[] bytes) throws MalformedGolombCodedSetException;
}
