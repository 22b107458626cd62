package io.firstseen.filters.cuckoo;

/**
 * Numbers below {@value #RADIX} at a bit position of a byte array. {@value #IN_WORD} numbers are
 * the digits of one word of 32 bits; the last word has as few bits as its digits need. A number
 * needs 3.5 to 3.7 bits instead of 4.
 */
final class EpochNumbers {
  static final int RADIX = 11;

  private static final int IN_WORD = 9;
  private static final int WORD_BITS = 32;

  private static final long[] POWER = new long[IN_WORD + 1];

  /** For each power, 2^62 divided by it, rounded up. */
  private static final long[] INVERSE = new long[IN_WORD];

  /** The bits that a number of digits takes. */
  private static final int[] BITS = new int[IN_WORD + 1];

  static {
    POWER[0] = 1;
    for (int i = 0; i < IN_WORD; i++) {
      POWER[i + 1] = POWER[i] * RADIX;
      INVERSE[i] = ((1L << 62) - 1) / POWER[i] + 1;
      BITS[i + 1] = Long.SIZE - Long.numberOfLeadingZeros(POWER[i + 1] - 1);
    }
  }

  private EpochNumbers() {}

  /** Returns the bits that {@code count} numbers take. */
  static int bits(int count) {
    return count / IN_WORD * WORD_BITS + BITS[count % IN_WORD];
  }

  /** Returns the number with index {@code at} of {@code count} numbers from a bit on. */
  static int get(byte[] bytes, int from, int count, int at) {
    return digit(word(bytes, from, count, at / IN_WORD), at % IN_WORD);
  }

  private static int digit(long word, int place) {
    // Division by multiplication: words have 32 bits, so the error from the rounded inverse is
    // below 2^-30, and no quotient is so little below a whole number.
    return (int) (Math.multiplyHigh(word << 2, INVERSE[place]) % RADIX);
  }

  static void set(byte[] bytes, int from, int count, int at, int number) {
    long word = word(bytes, from, count, at / IN_WORD);
    int place = at % IN_WORD;
    long changed = word + (number - digit(word, place)) * POWER[place];
    setWord(bytes, from, count, at / IN_WORD, changed);
  }

  /** Unpacks {@code count} numbers into bytes of an array, which must be 0 before. */
  static void getAll(byte[] bytes, int from, int count, byte[] numbers, int to) {
    for (int at = 0, word = 0; at < count; at += IN_WORD, word++) {
      long digits = word(bytes, from, count, word);
      int end = to + Math.min(at + IN_WORD, count);
      for (int i = to + at; digits != 0 && i < end; i++) {
        numbers[i] = (byte) (digits % RADIX);
        digits /= RADIX;
      }
    }
  }

  /** Packs {@code count} numbers from the bytes of an array, from {@code first} on. */
  static void setAll(byte[] bytes, int from, int count, byte[] numbers, int first) {
    for (int at = 0, word = 0; at < count; at += IN_WORD, word++) {
      long digits = 0;
      for (int i = Math.min(at + IN_WORD, count) - 1; i >= at; i--) {
        digits = digits * RADIX + numbers[first + i];
      }
      setWord(bytes, from, count, word, digits);
    }
  }

  /** Returns whether {@link #setAll} can have written these {@code count} numbers. */
  static boolean areWellFormed(byte[] bytes, int from, int count) {
    for (int at = 0, word = 0; at < count; at += IN_WORD, word++) {
      if (word(bytes, from, count, word) >= POWER[Math.min(IN_WORD, count - at)]) {
        return false;
      }
    }
    return true;
  }

  private static long word(byte[] bytes, int from, int count, int word) {
    return BitFields.get(bytes, from + word * WORD_BITS, wordBits(count, word));
  }

  private static void setWord(byte[] bytes, int from, int count, int word, long digits) {
    BitFields.set(bytes, from + word * WORD_BITS, wordBits(count, word), digits);
  }

  private static int wordBits(int count, int word) {
    return BITS[Math.min(IN_WORD, count - word * IN_WORD)];
  }
}
