package io.firstseen.filters.near;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.PartHashes;
import io.firstseen.filters.key.ScopedKey;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

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
  private final PartHashes parts;
  // The bands of a text, one after the other, and the sample.
  private final ByteBuffer bands;
  private final int[] bandStarts;
  private final int[] bandEnds;
  private int[] starts = new int[256];
  private int[] ends = new int[256];
  private int shingles;

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
    parts = hash.parts();
    int bandBytes = Long.BYTES + 1 + Integer.BYTES * rule.rows();
    bands = ByteBuffer.allocate(rule.hashes() * bandBytes);
    bandStarts = new int[rule.hashes() + 1];
    Arrays.setAll(bandStarts, i -> i * bandBytes);
    bandEnds = Arrays.copyOfRange(bandStarts, 1, bandStarts.length);
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
    return Arrays.copyOf(bandsAndSample(text, scope), rule.bands());
  }

  private long[] bandsAndSample(byte[] text, long scope) {
    Arrays.fill(least, Integer.MAX_VALUE);
    long[] hashes = hashShingles(text);
    update(factors, terms, least, hashes, shingles);
    bands.clear();
    for (int band = 0; band < rule.hashes(); band++) {
      bands.putLong(scope).put((byte) band);
      for (int row = 0; row < rule.rows(); row++) {
        bands.putInt(least[band * rule.rows() + row]);
      }
    }
    return parts.hash(bands.array(), bandStarts, bandEnds, rule.hashes());
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
    long[] hashes = Arrays.copyOf(bandsAndSample(text, scope), rule.hashes() + 1);
    hashes[rule.hashes()] = hashes[rule.bands()];
    hashes[rule.bands()] = whole;
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
    Set<Long> ofText = setOfShingles(text);
    Set<Long> ofBoth = setOfShingles(other);
    Set<Long> all = new HashSet<>(ofText);
    all.addAll(ofBoth);
    ofBoth.retainAll(ofText);
    return (double) ofBoth.size() / all.size();
  }

  private Set<Long> setOfShingles(byte[] text) {
    long[] hashes = hashShingles(text);
    return Arrays.stream(hashes, 0, shingles).boxed().collect(Collectors.toSet());
  }

  /** Returns the hashes of all {@link #shingles} of a text, in an array that may be longer. */
  private long[] hashShingles(byte[] form) {
    byte[] text = rule.folds() ? Folding.fold(form, rule.unit()) : form;
    int units = rule.unit() == NearRule.Unit.WORDS ? findWords(text) : findCharacters(text);
    shingles = Math.max(1, units - rule.shingle() + 1);
    if (units < rule.shingle()) {
      starts[0] = 0;
    }
    for (int i = 0; i < shingles; i++) {
      int to = i + rule.shingle() >= units ? text.length : starts[i + rule.shingle()];
      // The space after the last word is not part of the shingle.
      ends[i] = endOf(text, starts[i], to);
    }
    return parts.hash(text, starts, ends, shingles);
  }

  private int endOf(byte[] text, int from, int to) {
    return rule.unit() == NearRule.Unit.WORDS && to < text.length && to > from ? to - 1 : to;
  }

  /** Adds shingles in pairs, so that the components are read and written half as often. */
  private static void update(int[] f, int[] t, int[] l, long[] shingles, int count) {
    for (int i = 0; i < count; i += 2) {
      // The last of an odd number is paired with itself, which changes no minimum.
      update(f, t, l, (int) shingles[i], (int) shingles[Math.min(i + 1, count - 1)]);
    }
  }

  private static void update(int[] f, int[] t, int[] l, int one, int other) {
    for (int c = 0; c < l.length; c++) {
      // The minimum of numbers of 31 bits, without a branch: the JIT compiler vectorises this, but
      // not Math.min, and not if an element is read twice.
      int factor = f[c];
      int term = t[c];
      int minimum = l[c];
      int ofOne = (factor * one + term) >>> 1;
      int difference = ((factor * other + term) >>> 1) - ofOne;
      int ofBoth = ofOne + (difference & (difference >> (Integer.SIZE - 1)));
      difference = ofBoth - minimum;
      l[c] = minimum + (difference & (difference >> (Integer.SIZE - 1)));
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
      ends = new int[2 * count];
    }
    starts[count] = at;
    return count + 1;
  }
}
