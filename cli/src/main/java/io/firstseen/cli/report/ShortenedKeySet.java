package io.firstseen.cli.report;

import io.firstseen.filters.MembershipFilter;

/**
 * A hash table whose cells store a code of a few bits instead of the key. This is the first of the
 * two methods that Bloom compared (Space/time trade-offs in hash coding with allowable errors, CACM
 * 13(7), 1970); the second method is now called a Bloom filter.
 *
 * <p>A key's code is searched in cells at pseudorandom positions up to the first empty cell, where
 * an insertion writes it. Cells are packed without gaps. The table is created for a number of keys
 * and cannot grow.
 */
final class ShortenedKeySet implements MembershipFilter {
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  /** At higher loads, the saved bits do not justify the longer searches. */
  private static final double MAX_LOAD = 0.9;

  private static final int MAX_CODE_BITS = 56;

  /** The sum of probabilities stops when the remaining terms are below this value. */
  private static final double NEGLIGIBLE = 1e-18;

  private final long cells;
  private final int codeBits;
  private final long codes;
  private final long[] words;
  private long used;

  private ShortenedKeySet(long cells, int codeBits) {
    this.cells = cells;
    this.codeBits = codeBits;
    this.codes = (1L << codeBits) - 1;
    // A code is read from two words, so the last word needs a neighbour.
    this.words = new long[Math.toIntExact((cells * codeBits + Long.SIZE - 1) / Long.SIZE + 1)];
  }

  /**
   * Creates an empty table with the minimum number of bits for this number of keys and rate.
   *
   * @param expectedKeys the number of keys, at least 1
   * @param falsePositiveRate the maximum rate, in (0, 1)
   */
  static ShortenedKeySet forCapacity(long expectedKeys, double falsePositiveRate) {
    int bestBits = 0;
    double bestLoad = 1;
    for (int bits = 1; bits <= MAX_CODE_BITS; bits++) {
      double load = Math.min(MAX_LOAD, loadFor(falsePositiveRate, bits));
      if (bestBits == 0 || bits / load < bestBits / bestLoad) {
        bestBits = bits;
        bestLoad = load;
      }
    }
    // One cell must stay empty, otherwise a search for an absent key would not end.
    long cells = Math.max(expectedKeys + 1, (long) Math.ceil(expectedKeys / bestLoad));
    return new ShortenedKeySet(cells, bestBits);
  }

  /**
   * The load a at which codes of {@code codeBits} bits have this rate: a q / (1 - a + a q), where q
   * is the probability that two codes are equal.
   */
  private static double loadFor(double rate, int codeBits) {
    double agreement = 1 / (Math.scalb(1.0, codeBits) - 1);
    return rate / (agreement + rate - agreement * rate);
  }

  /** Adds the key with this hash, unless the table already reports it as present. */
  void add(long hash) {
    long seed = mix(hash);
    long code = codeOf(seed);
    long cell = search(seed, code);
    if (cell < 0) {
      put(~cell, code);
      used++;
    }
  }

  @Override
  public boolean mightContain(long hash) {
    long seed = mix(hash);
    return search(seed, codeOf(seed)) >= 0;
  }

  /** The cell with this code, or the complement of the empty cell at which the search ends. */
  private long search(long seed, long code) {
    for (long i = 1; ; i++) {
      long cell = scaled(mix(seed + i * GOLDEN), cells);
      long found = get(cell);
      if (found == code) {
        return cell;
      }
      if (found == 0) {
        return ~cell;
      }
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>The result is exact for the number of used cells: an absent key meets j used cells before an
   * empty cell with the probability that j cells drawn without replacement are all used, and each
   * of them has the key's code with probability 1 / (2^codeBits - 1).
   */
  @Override
  public double predictedFalsePositiveRate() {
    double agreement = 1.0 / codes;
    double rate = 0;
    double searching = 1;
    for (long met = 0; met < used && searching > NEGLIGIBLE; met++) {
      searching *= (double) (used - met) / (cells - met);
      rate += searching * agreement;
      searching *= 1 - agreement;
    }
    return rate;
  }

  @Override
  public long sizeBytes() {
    return (long) words.length * Long.BYTES;
  }

  /** The code, in [1, codes]; 0 marks an empty cell. */
  private long codeOf(long seed) {
    return 1 + scaled(mix(seed), codes);
  }

  private long get(long cell) {
    long bit = cell * codeBits;
    int word = (int) (bit >>> 6);
    int shift = (int) bit & 63;
    // Use two shifts, because a shift by 64 has no effect.
    return (words[word] >>> shift | words[word + 1] << 1 << (63 - shift)) & codes;
  }

  /** Writes a code to an empty cell. */
  private void put(long cell, long code) {
    long bit = cell * codeBits;
    int word = (int) (bit >>> 6);
    int shift = (int) bit & 63;
    words[word] |= code << shift;
    words[word + 1] |= code >>> 1 >>> (63 - shift);
  }

  /** Maps a uniform number to [0, bound). */
  private static long scaled(long uniform, long bound) {
    return Math.multiplyHigh(uniform, bound) + ((uniform >> 63) & bound);
  }

  /**
   * The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
   * generators, OOPSLA 2014).
   */
  private static long mix(long y) {
    y = (y ^ (y >>> 30)) * 0xbf58476d1ce4e5b9L;
    y = (y ^ (y >>> 27)) * 0x94d049bb133111ebL;
    return y ^ (y >>> 31);
  }
}
