package io.firstseen.filters.cuckoo;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A second reader of {@code docs/format/filter-state-v1.md}, written from its text, slow and
 * without a line of the first.
 */
final class SpecifiedPages {
  private SpecifiedPages() {}

  /** The identity of a hash, by the lower of its two names. */
  static long identity(int identityBits, long hash) {
    long identity = hash >>> (64 - identityBits);
    if ((identity >> 9) % 256 == 0) {
      identity += 512;
    }
    return lowerName(identity);
  }

  private static long lowerName(long identity) {
    long core = (identity >> 9) % 256;
    long x = core * 0x9E3779B1L % (1L << 32);
    x ^= x >> 15;
    x = BigInteger.valueOf(x).multiply(BigInteger.valueOf(0x85EBCA77L)).longValue() & 0xFFFFFFFFL;
    return Math.min(identity, identity ^ (x >> 23 | 1));
  }

  /** The identities in a whole filter, with the number of their copies. */
  static Map<Long, Integer> identities(byte[] filter) {
    ByteBuffer in = ByteBuffer.wrap(filter);
    in.position(6);
    int pages = in.getInt();
    Map<Long, Integer> identities = new TreeMap<>();
    for (int i = 0; i < pages; i++) {
      addPage(in, identities);
    }
    if (in.remaining() != 4) {
      throw new AssertionError(in.remaining() + " bytes behind the last page");
    }
    return identities;
  }

  /** Reads a page from where the buffer stands. */
  static void addPage(ByteBuffer in, Map<Long, Integer> identities) {
    addPage(in, identities, new TreeMap<>());
  }

  /** The same, with the ends of the epochs of each identity's copies where they expire. */
  static void addPage(ByteBuffer in, Map<Long, Integer> identities, Map<Long, List<Long>> ends) {
    int kind = in.get();
    int identityBits = in.get();
    int depth = in.get();
    long prefix = in.getInt();
    int count = in.getInt();
    if (kind == 1 || kind == 3) {
      long[] epochs = kind == 3 ? epochs(in) : null;
      int numberBits = kind == 3 ? 4 : 0;
      int bitsOfKey = identityBits + numberBits;
      boolean[] bits = bits(in, (count * bitsOfKey + 7) / 8);
      for (int i = 0; i < count; i++) {
        long identity = field(bits, i * bitsOfKey + numberBits, identityBits);
        identities.merge(identity, 1, Integer::sum);
        if (kind == 3) {
          long end = epochs[(int) field(bits, i * bitsOfKey, 4)];
          ends.computeIfAbsent(identity, key -> new ArrayList<>()).add(end);
        }
      }
    } else {
      int width = in.getShort();
      long[] epochs = kind == 4 ? epochs(in) : null;
      int slotBits = identityBits - 9 - depth;
      int bucketBits = width * slotBits + (kind == 4 ? numberBits(width) : 0);
      boolean[] bits = bits(in, 64 * bucketBits);
      int found = 0;
      for (int slot = 0; slot < 512 * width; slot++) {
        int from = slot / width * bucketBits;
        int i = slot % width;
        long stored = field(bits, from + i * slotBits, slotBits);
        if (stored != 0) {
          long identity = (prefix << slotBits | stored) << 9 | slot / width;
          identities.merge(lowerName(identity), 1, Integer::sum);
          found++;
          if (kind == 4) {
            int word = i / 9;
            int digitsOfWord = Math.min(9, width - 9 * word);
            int start = from + width * slotBits + 32 * word;
            long digits = field(bits, start, numberBits(digitsOfWord));
            for (int digit = 0; digit < i % 9; digit++) {
              digits /= 11;
            }
            ends.computeIfAbsent(lowerName(identity), key -> new ArrayList<>())
                .add(epochs[(int) (digits % 11)]);
          }
        }
      }
      if (found != count) {
        throw new AssertionError(found + " used slots, but the count is " + count);
      }
    }
  }

  /**
   * The changes of a log segment by {@code docs/format/filter-log-v1.md}: kind, identity and, where
   * keys expire, the three instants.
   */
  static List<long[]> changes(byte[] segment) {
    ByteBuffer in = ByteBuffer.wrap(segment);
    if (in.get() != 1) {
      throw new AssertionError("not version 1");
    }
    int identityBits = in.get();
    int groupBits = in.get();
    int instantsCount = in.get();
    int count = in.getShort();
    long[][] instants = new long[instantsCount][3];
    for (long[] each : instants) {
      for (int i = 0; i < 3; i++) {
        each[i] = in.getLong();
      }
    }
    int groups = 1 << groupBits;
    boolean[] ofGroups = bits(in, (count + groups + 7) / 8);
    int placeBits = 0;
    while (1 << placeBits < instantsCount) {
      placeBits++;
    }
    int changeBits = 2 + placeBits + identityBits - groupBits;
    boolean[] bits = bits(in, (count * changeBits + 7) / 8);
    if (in.hasRemaining()) {
      throw new AssertionError(in.remaining() + " bytes behind the last change");
    }
    List<long[]> changes = new ArrayList<>();
    long group = 0;
    for (int bit = 0; group < groups; bit++) {
      if (!ofGroups[bit]) {
        group++;
        continue;
      }
      int at = changes.size() * changeBits;
      long low = field(bits, at + 2 + placeBits, identityBits - groupBits);
      long identity = group << (identityBits - groupBits) | low;
      long kind = field(bits, at, 2);
      long[] of = instantsCount == 0 ? new long[0] : instants[(int) field(bits, at + 2, placeBits)];
      changes.add(
          of.length == 0
              ? new long[] {kind, identity}
              : new long[] {kind, identity, of[0], of[1], of[2]});
    }
    return changes;
  }

  private static int numberBits(int numbers) {
    int rest = numbers % 9;
    return numbers / 9 * 32 + (rest == 0 ? 0 : BigInteger.valueOf(11).pow(rest).bitLength());
  }

  private static long[] epochs(ByteBuffer in) {
    long[] ends = new long[in.get()];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = in.getLong();
    }
    return ends;
  }

  private static boolean[] bits(ByteBuffer in, int bytes) {
    boolean[] bits = new boolean[bytes * 8];
    for (int i = 0; i < bytes; i++) {
      int b = in.get();
      for (int j = 0; j < 8; j++) {
        bits[8 * i + j] = (b >> j & 1) == 1;
      }
    }
    return bits;
  }

  private static long field(boolean[] bits, int from, int length) {
    long value = 0;
    for (int i = length - 1; i >= 0; i--) {
      value = value << 1 | (bits[from + i] ? 1 : 0);
    }
    return value;
  }
}
