package io.firstseen.filters.near;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongConsumer;

/**
 * Computes the bands of texts by a {@link NearRule}. Holds scratch space, so an object must be used
 * by one thread.
 */
public final class TextSignature {
  private static final byte SPACE = ' ';

  private final NearRule rule;
  private final KeyHash hash;
  // Component c of a shingle with the hash h is factors[c] * h + terms[c] without its lowest bit.
  private final int[] factors;
  private final int[] terms;
  private final int[] least;
  private final ByteBuffer band;
  private final LongConsumer addition = this::add;
  private int[] starts = new int[256];
  private int previous;
  private boolean isPreviousPending;

  /** Creates signatures by {@code rule}; {@code hash} hashes shingles and bands. */
  public TextSignature(NearRule rule, KeyHash hash) {
    this.rule = rule;
    this.hash = hash;
    factors = new int[rule.components()];
    terms = new int[rule.components()];
    for (int c = 0; c < factors.length; c++) {
      long mixed = splitMix(c + 1);
      factors[c] = (int) (mixed >>> Integer.SIZE) | 1;
      terms[c] = (int) mixed;
    }
    least = new int[factors.length];
    band = ByteBuffer.allocate(Long.BYTES + 1 + Integer.BYTES * rule.rows());
  }

  /** SplitMix64 (Steele, Lea, Flood 2014) of the state {@code n} times the golden gamma. */
  private static long splitMix(long n) {
    long z = n * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /**
   * Returns the hash of each band.
   *
   * @param text a canonical form of the canonicaliser {@code text}, in UTF-8, at least 1 byte
   * @param scope the hash of the text's scope: bands of different scopes are different
   */
  public long[] bands(byte[] text, long scope) {
    Arrays.fill(least, Integer.MAX_VALUE);
    forEachShingle(text, addition);
    if (isPreviousPending) {
      add(previous);
    }
    long[] bands = new long[rule.bands()];
    Arrays.setAll(bands, i -> band(scope, i));
    return bands;
  }

  private long band(long scope, int number) {
    band.clear().putLong(scope).put((byte) number);
    for (int row = 0; row < rule.rows(); row++) {
      band.putInt(least[number * rule.rows() + row]);
    }
    return hash.hash(band.array());
  }

  /**
   * Returns the hash of each band, and then the hash of the whole text.
   *
   * @param text as for {@link #bands}
   * @param scope as for {@link #bands}
   * @param whole the hash of the text with its scope
   */
  public long[] hashes(byte[] text, long scope, long whole) {
    long[] hashes = Arrays.copyOf(bands(text, scope), rule.hashes());
    hashes[rule.bands()] = whole;
    return hashes;
  }

  /**
   * Returns {@link #hashes}, and then the sample: the hash of one more band, which does not decide
   * about a match.
   *
   * @param text as for {@link #bands}
   * @param scope as for {@link #bands}
   * @param whole as for {@link #hashes}
   */
  public long[] hashesAndSample(byte[] text, long scope, long whole) {
    long[] hashes = Arrays.copyOf(hashes(text, scope, whole), rule.hashes() + 1);
    hashes[rule.hashes()] = band(scope, rule.bands());
    return hashes;
  }

  /**
   * Returns the {@linkplain NearRule#elements elements} of a published set for a text.
   *
   * @param joined the text in its canonical form, with its scope, see {@link ScopedKey}
   */
  public long[] elements(byte[] joined) {
    byte[] scope = ScopedKey.scope(joined);
    return rule.elements(hashes(ScopedKey.key(joined), hash.hash(scope), hash.hash(joined)));
  }

  /**
   * Returns the Jaccard similarity of the shingles of two texts, in [0, 1].
   *
   * @param text as for {@link #bands}
   * @param other as for {@link #bands}
   */
  public double similarity(byte[] text, byte[] other) {
    Set<Long> ofText = new HashSet<>();
    forEachShingle(text, ofText::add);
    Set<Long> ofBoth = new HashSet<>();
    Set<Long> all = new HashSet<>(ofText);
    forEachShingle(
        other,
        shingle -> {
          all.add(shingle);
          if (ofText.contains(shingle)) {
            ofBoth.add(shingle);
          }
        });
    return (double) ofBoth.size() / all.size();
  }

  private void forEachShingle(byte[] form, LongConsumer action) {
    byte[] text = rule.folds() ? Folding.fold(form, rule.unit()) : form;
    int units = rule.unit() == NearRule.Unit.WORDS ? findWords(text) : findCharacters(text);
    int shingles = Math.max(1, units - rule.shingle() + 1);
    for (int i = 0; i < shingles; i++) {
      int from = units < rule.shingle() ? 0 : starts[i];
      int to = i + rule.shingle() >= units ? text.length : starts[i + rule.shingle()];
      // The space after the last word is not part of the shingle.
      action.accept(hash.hash(text, from, endOf(text, from, to)));
    }
  }

  private int endOf(byte[] text, int from, int to) {
    return rule.unit() == NearRule.Unit.WORDS && to < text.length && to > from ? to - 1 : to;
  }

  /** Adds shingles in pairs, so that the components are read and written half as often. */
  private void add(long hashOfShingle) {
    int shingle = (int) hashOfShingle;
    if (isPreviousPending) {
      update(factors, terms, least, previous, shingle);
    }
    previous = shingle;
    isPreviousPending = !isPreviousPending;
  }

  private static void update(int[] f, int[] t, int[] l, int one, int other) {
    for (int c = 0; c < l.length; c++) {
      // The minimum of numbers of 31 bits, without a branch: the JIT compiler vectorises this, but
      // not Math.min.
      int ofOne = (f[c] * one + t[c]) >>> 1;
      int difference = ((f[c] * other + t[c]) >>> 1) - ofOne;
      int ofBoth = ofOne + (difference & (difference >> (Integer.SIZE - 1)));
      difference = ofBoth - l[c];
      l[c] += difference & (difference >> (Integer.SIZE - 1));
    }
  }

  private int findCharacters(byte[] text) {
    int count = 0;
    for (int at = 0; at < text.length; at++) {
      if ((text[at] & 0xC0) != 0x80) {
        count = addStart(count, at);
      }
    }
    return count;
  }

  private int findWords(byte[] text) {
    int count = 0;
    for (int at = 0; at < text.length; at++) {
      if (text[at] != SPACE && (at == 0 || text[at - 1] == SPACE)) {
        count = addStart(count, at);
      }
    }
    return count;
  }

  private int addStart(int count, int at) {
    if (count == starts.length) {
      starts = Arrays.copyOf(starts, 2 * count);
    }
    starts[count] = at;
    return count + 1;
  }
}
