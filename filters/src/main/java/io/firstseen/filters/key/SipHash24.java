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
  static final long V0 = 0x736F6D6570736575L;
  static final long V1 = 0x646F72616E646F6DL;
  static final long V2 = 0x6C7967656E657261L;
  static final long V3 = 0x7465646279746573L;

  private static final int FINISH = 0xFF;

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private SipHash24() {}

  static long hash(long key0, long key1, byte[] bytes, int from, int to) {
    long v0 = key0 ^ V0;
    long v1 = key1 ^ V1;
    long v2 = key0 ^ V2;
    long v3 = key1 ^ V3;
    int length = to - from;
    int words = length >>> 3;
    for (int word = 0; word <= words; word++) {
      long message = message(bytes, from, to, word);
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
    v2 ^= FINISH;
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

  /** Returns a word of the message of a part of an array, whose last word has the length. */
  static long message(byte[] bytes, int from, int to, int word) {
    int length = to - from;
    return word < length >>> 3
        ? (long) WORD.get(bytes, from + Long.BYTES * word)
        : last(bytes, to, length & 7) | ((long) length << 56);
  }

  /** Adds a word to each message. The JIT compiler vectorises this loop. */
  static void add(long[] s0, long[] s1, long[] s2, long[] s3, long[] message, int count) {
    for (int i = 0; i < count; i++) {
      long v0 = s0[i];
      long v1 = s1[i];
      long v2 = s2[i];
      long v3 = s3[i] ^ message[i];
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
      s0[i] = v0 ^ message[i];
      s1[i] = v1;
      s2[i] = v2;
      s3[i] = v3;
    }
  }

  /** Replaces the last word of each message by its hash. */
  static void finish(long[] s0, long[] s1, long[] s2, long[] s3, long[] message, int count) {
    for (int i = 0; i < count; i++) {
      s2[i] ^= FINISH;
      message[i] = 0;
    }
    add(s0, s1, s2, s3, message, count);
    add(s0, s1, s2, s3, message, count);
    for (int i = 0; i < count; i++) {
      message[i] = s0[i] ^ s1[i] ^ s2[i] ^ s3[i];
    }
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
