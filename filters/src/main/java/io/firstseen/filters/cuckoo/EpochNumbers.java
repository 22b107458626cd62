package io.firstseen.filters.cuckoo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Numbers below {@value #RADIX} in a byte array, {@value #IN_WORD} as the digits of a word of 32
 * bits: 3.56 bits each, where whole bits would take 4.
 */
final class EpochNumbers {
  static final int RADIX = 11;

  private static final int IN_WORD = 9;

  private static final long[] POWER = new long[IN_WORD + 1];

  /** For each power, 2^62 divided by it, rounded up. */
  private static final long[] INVERSE = new long[IN_WORD];

  static {
    POWER[0] = 1;
    for (int i = 0; i < IN_WORD; i++) {
      POWER[i + 1] = POWER[i] * RADIX;
      INVERSE[i] = ((1L << 62) - 1) / POWER[i] + 1;
    }
  }

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private EpochNumbers() {}

  /** Bytes that a count of numbers takes. */
  static int bytes(int count) {
    return (count + IN_WORD - 1) / IN_WORD * Integer.BYTES;
  }

  /** The number at a place among those that start at a byte. */
  static int get(byte[] bytes, int from, int at) {
    return digit(word(bytes, from, at / IN_WORD), at % IN_WORD);
  }

  /** Reads the word of a number. */
  static long touch(byte[] bytes, int from, int at) {
    return word(bytes, from, at / IN_WORD);
  }

  private static int digit(long word, int place) {
    // A division without dividing: words have 32 bits, so that what the inverse is too large by
    // comes to less than 2^-30, and no quotient lies as little below a whole number.
    return (int) (Math.multiplyHigh(word << 2, INVERSE[place]) % RADIX);
  }

  /** Writes a number where there is 0, which takes no look at the others of its word. */
  static void put(byte[] bytes, int from, int at, int number) {
    long word = word(bytes, from, at / IN_WORD) + number * POWER[at % IN_WORD];
    WORD.set(bytes, from + at / IN_WORD * Integer.BYTES, (int) word);
  }

  static void set(byte[] bytes, int from, int at, int number) {
    long word = word(bytes, from, at / IN_WORD);
    int place = at % IN_WORD;
    word += (number - digit(word, place)) * POWER[place];
    WORD.set(bytes, from + at / IN_WORD * Integer.BYTES, (int) word);
  }

  /** All of a count of numbers, a byte each. */
  static byte[] getAll(byte[] bytes, int from, int count) {
    byte[] numbers = new byte[count];
    for (int at = 0, word = 0; at < count; word++) {
      int end = Math.min(at + IN_WORD, count);
      long digits = word(bytes, from, word);
      for (; digits != 0 && at < end; at++) {
        numbers[at] = (byte) (digits % RADIX);
        digits /= RADIX;
      }
      at = end;
    }
    return numbers;
  }

  static void setAll(byte[] bytes, int from, byte[] numbers) {
    for (int first = 0, word = 0; first < numbers.length; first += IN_WORD, word++) {
      long digits = 0;
      for (int at = Math.min(first + IN_WORD, numbers.length) - 1; at >= first; at--) {
        digits = digits * RADIX + numbers[at];
      }
      WORD.set(bytes, from + word * Integer.BYTES, (int) digits);
    }
  }

  /** Whether words are such as {@link #setAll} writes. */
  static boolean areWellFormed(byte[] bytes, int from, int count) {
    for (int word = 0; word * IN_WORD < count; word++) {
      if (word(bytes, from, word) >= POWER[Math.min(IN_WORD, count - word * IN_WORD)]) {
        return false;
      }
    }
    return true;
  }

  private static long word(byte[] bytes, int from, int word) {
    return Integer.toUnsignedLong((int) WORD.get(bytes, from + word * Integer.BYTES));
  }
}
