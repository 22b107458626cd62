package io.firstseen.filters.gcs;

import java.util.Arrays;

/** Collects bits and writes them in reverse order. */
final class BackwardBits {
  private long[] words = new long[4];
  private int full;
  // The last bits, fewer than 64; the first of them is the lowest.
  private long word;
  private int wordBits;

  /** Adds {@code count} one bits and a zero bit. */
  void addUnary(long count) {
    long left = count;
    for (; left >= 32; left -= 32) {
      add(0xFFFF_FFFFL, 32);
    }
    add((1L << left) - 1, (int) left + 1);
  }

  /** Moves all bits to a writer, the last one first. */
  void writeBackwards(BitWriter out) {
    out.write(word, wordBits);
    for (int i = full - 1; i >= 0; i--) {
      out.write(words[i], 64);
    }
    full = 0;
    word = 0;
    wordBits = 0;
  }

  /**
   * Adds the {@code count} (1 to 63) lowest bits of a number, lowest first. Its other bits must be
   * 0.
   */
  void add(long bits, int count) {
    word |= bits << wordBits;
    wordBits += count;
    if (wordBits >= 64) {
      push(word);
      wordBits -= 64;
      word = wordBits == 0 ? 0 : bits >>> (count - wordBits);
    }
  }

  /**
   * Adds the lowest bits of the first {@code length} numbers: {@code counts[i]} (1 to 63) bits of
   * number i, whose other bits must be 0.
   */
  void add(long[] numbers, int[] counts, int length) {
    long gathered = word;
    int gatheredBits = wordBits;
    for (int i = 0; i < length; i++) {
      gathered |= numbers[i] << gatheredBits;
      gatheredBits += counts[i];
      if (gatheredBits >= 64) {
        push(gathered);
        gatheredBits -= 64;
        gathered = gatheredBits == 0 ? 0 : numbers[i] >>> (counts[i] - gatheredBits);
      }
    }
    word = gathered;
    wordBits = gatheredBits;
  }

  private void push(long fullWord) {
    if (full == words.length) {
      words = Arrays.copyOf(words, 2 * full);
    }
    words[full++] = fullWord;
  }
}
