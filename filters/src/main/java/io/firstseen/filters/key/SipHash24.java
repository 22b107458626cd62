package io.firstseen.filters.key;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * SipHash-2-4 of a part of an array (Aumasson, Bernstein: SipHash, a fast short-input PRF, 2012).
 * The hashes of consecutive parts do not depend on each other, so a processor computes several at
 * once.
 */
final class SipHash24 {
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private SipHash24() {}

  static long hash(long key0, long key1, byte[] bytes, int from, int to) {
    long v0 = key0 ^ 0x736F6D6570736575L;
    long v1 = key1 ^ 0x646F72616E646F6DL;
    long v2 = key0 ^ 0x6C7967656E657261L;
    long v3 = key1 ^ 0x7465646279746573L;
    int length = to - from;
    int rest = length & 7;
    int words = length >>> 3;
    for (int word = 0; word <= words; word++) {
      int at = from + Long.BYTES * word;
      long message =
          word < words ? (long) WORD.get(bytes, at) : last(bytes, to, rest) | ((long) length << 56);
      v3 ^= message;
      for (int round = 0; round < 2; round++) {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
      }
      v0 ^= message;
    }
    v2 ^= 0xFF;
    for (int round = 0; round < 4; round++) {
      v0 += v1;
      v1 = Long.rotateLeft(v1, 13) ^ v0;
      v0 = Long.rotateLeft(v0, 32);
      v2 += v3;
      v3 = Long.rotateLeft(v3, 16) ^ v2;
      v0 += v3;
      v3 = Long.rotateLeft(v3, 21) ^ v0;
      v2 += v1;
      v1 = Long.rotateLeft(v1, 17) ^ v2;
      v2 = Long.rotateLeft(v2, 32);
    }
    return v0 ^ v1 ^ v2 ^ v3;
  }

  /** Returns the last bytes, up to 7, of a message. */
  private static long last(byte[] bytes, int to, int count) {
    if (to >= Long.BYTES) {
      // In two steps, because a shift by 64 bits would be a shift by 0.
      return (long) WORD.get(bytes, to - Long.BYTES) >>> 8 >>> (Long.SIZE - 8 - 8 * count);
    }
    long last = 0;
    for (int i = 0; i < count; i++) {
      last |= (bytes[to - count + i] & 0xFFL) << (8 * i);
    }
    return last;
  }
}
