package io.firstseen.filters.near;

import java.io.Serializable;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which texts are near-duplicates of each other. The rule divides a text in its {@code text} form
 * into overlapping shingles, computes a MinHash signature of {@code bands × rows} components
 * (Broder 1997), and groups the components into bands (Leskovec, Rajaraman, Ullman: Mining of
 * Massive Datasets, section 3.4). Two texts match if at least {@code matches} of their bands are
 * equal. {@code docs/format/near-v1.md} specifies the rule.
 *
 * @param unit the unit of a shingle
 * @param shingle units per shingle, in [1, {@value #MAX_SHINGLE}]
 * @param bands bands per text, in [1, {@value #MAX_BANDS}]
 * @param rows components per band, in [1, {@value #MAX_ROWS}]
 * @param matches equal bands of two texts that match, 1 or 2, and at most {@code bands}
 * @param folds whether letters that look alike are equal, and spaced-out letters are joined
 */
public record NearRule(Unit unit, int shingle, int bands, int rows, int matches, boolean folds)
    implements Serializable {
  /** The most units per shingle. */
  public static final int MAX_SHINGLE = 16;

  /** The most bands per text. */
  public static final int MAX_BANDS = 64;

  /** The most components per band. */
  public static final int MAX_ROWS = 16;

  /** For short texts such as SMS and chat messages. */
  public static final NearRule SHORT = new NearRule(Unit.CHARACTERS, 4, 32, 5, 2, false);

  /** For mails and pages. */
  public static final NearRule LONG = new NearRule(Unit.WORDS, 3, 20, 9, 1, false);

  private static final long serialVersionUID = 1;

  /** The bits of a band's hash above the tag in an element of a set. */
  public static final int BITS_ABOVE_TAG = 24;

  private static final int TAG_BITS = 12;

  // Above this rate, chance hits would often agree with the tag of an unrelated equal band.
  private static final double MAX_BAND_RATE = 0.02;

  private static final String FOLD = "+fold";

  private static final Pattern FORM =
      Pattern.compile("(characters|words):(\\d{1,2}),(\\d{1,2})x(\\d{1,2}),(\\d)");

  /** The unit of a shingle. */
  public enum Unit {
    /** A code point. */
    CHARACTERS,

    /** A run of code points other than U+0020. */
    WORDS
  }

  public NearRule {
    require("shingle", shingle, MAX_SHINGLE);
    require("bands", bands, MAX_BANDS);
    require("rows", rows, MAX_ROWS);
    require("matches", matches, Math.min(bands, 2));
  }

  private static void require(String what, int value, int most) {
    if (value < 1 || value > most) {
      throw new IllegalArgumentException(
          "%s must be in [1, %d], got %d".formatted(what, most, value));
    }
  }

  /**
   * Returns the rule with the name {@code short} or {@code long}, or with the parameters of {@link
   * #toString}, such as {@code characters:4,32x5,2}; {@link #folding} if {@code +fold} follows.
   *
   * @throws IllegalArgumentException if {@code text} has another form, or a parameter is out of
   *     bounds
   */
  public static NearRule of(String text) {
    boolean folds = text.endsWith(FOLD);
    String name = folds ? text.substring(0, text.length() - FOLD.length()) : text;
    return switch (name) {
      case "short" -> folds ? SHORT.folding() : SHORT;
      case "long" -> folds ? LONG.folding() : LONG;
      default -> of(FORM.matcher(name), folds, text);
    };
  }

  private static NearRule of(Matcher form, boolean folds, String text) {
    if (!form.matches()) {
      throw new IllegalArgumentException(
          ("near must be short, long, or UNIT:SHINGLE,BANDSxROWS,MATCHES such as %s; %s may"
                  + " follow; got '%s'")
              .formatted(SHORT, FOLD, text));
    }
    return new NearRule(
        Unit.valueOf(form.group(1).toUpperCase(Locale.ROOT)),
        Integer.parseInt(form.group(2)),
        Integer.parseInt(form.group(3)),
        Integer.parseInt(form.group(4)),
        Integer.parseInt(form.group(5)),
        folds);
  }

  /**
   * Returns a copy of this rule that replaces letters by the Latin letters that they resemble, such
   * as Cyrillic {@code а} by {@code a}, and joins spaced-out letters, such as {@code f r e e}.
   */
  public NearRule folding() {
    return new NearRule(unit, shingle, bands, rows, matches, true);
  }

  /**
   * Returns the number of hashes of a text in a filter: one per band, and the hash of the whole
   * text, by which equal texts match whatever their bands.
   */
  public int hashes() {
    return bands + 1;
  }

  /** Returns the number of components of a signature: of all bands, and of the sample. */
  int components() {
    return (bands + 1) * rows;
  }

  /**
   * Returns the number of bits of the tag that a filter stores with each band, so that two equal
   * bands can be attributed to one text; 0 if one equal band is sufficient.
   */
  public int tagBits() {
    return matches > 1 ? TAG_BITS : 0;
  }

  /**
   * Returns the rule that determines the tags and the rate of a filter of bands.
   *
   * @param isExact whether every band that the filter holds is looked up in an exact set. The
   *     filter then has no tags
   */
  public NearRule ofFilter(boolean isExact) {
    return isExact ? new NearRule(unit, shingle, bands, rows, 1, folds) : this;
  }

  /**
   * Returns the probability that two texts match whose shingles have the Jaccard similarity {@code
   * similarity}: the S-curve of the rule.
   */
  public double matchProbability(double similarity) {
    double band = Math.pow(similarity, rows);
    double none = Math.pow(1 - band, bands);
    return matches == 1 ? 1 - none : 1 - none - bands * band * Math.pow(1 - band, bands - 1);
  }

  /** Returns the similarity at which two texts match with a probability in (0, 1). */
  public double similarityAt(double probability) {
    double low = 0;
    double high = 1;
    while (high - low > 1e-9) {
      double middle = (low + high) / 2;
      if (matchProbability(middle) < probability) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  /**
   * Returns the false-positive rate that a filter of bands may have per lookup of a band, so that
   * it reports a match for at most the share {@code rate} of the texts without a live
   * near-duplicate. With one matching band that is {@code 1 - (1 - rate)^(1/(bands + 1))}. With
   * two, the lookups of two bands must return the same tag by chance, or the lookup of the whole
   * text must return its tag.
   */
  public double bandRate(double rate) {
    if (matches == 1) {
      // The same on every machine, because published sets contain the rate.
      return -StrictMath.expm1(StrictMath.log1p(-rate) / hashes());
    }
    // The root of pairs x^2 + x = 2^TAG_BITS rate, in a form that is exact for small rates.
    double tags = Math.scalb(rate, TAG_BITS);
    return Math.min(MAX_BAND_RATE, 2 * tags / (1 + Math.sqrt(1 + 4 * pairs() * tags)));
  }

  /**
   * Returns the false-positive rate of one element of a published set that keeps {@code rate} per
   * text: {@link #bandRate} of a band with any tag.
   */
  public double elementRate(double rate) {
    return Math.scalb(bandRate(rate), -tagBits());
  }

  /**
   * Returns the element of a published set for a band of a text: the hash of the band, with the tag
   * in place of the bits below the first {@value #BITS_ABOVE_TAG}. The elements of a band are
   * therefore neighbours.
   *
   * @param tag below 2 to the power of {@link #tagBits}
   */
  public long element(long band, int tag) {
    int shift = Long.SIZE - BITS_ABOVE_TAG - tagBits();
    long mask = ((1L << tagBits()) - 1) << shift;
    return (band & ~mask) | ((long) tag << shift);
  }

  /**
   * Returns the elements of a published set for a text: one per band, with the tag of the text, and
   * the hash of the text.
   *
   * @param hashes as {@link TextSignature#hashes} returns them; not changed
   */
  public long[] elements(long[] hashes) {
    long[] elements = hashes.clone();
    for (int i = 0; i < bands; i++) {
      elements[i] = element(hashes[i], tagOf(hashes[bands]));
    }
    return elements;
  }

  /** Returns the tag of a text: the low bits of its hash. */
  public int tagOf(long whole) {
    return (int) whole & ((1 << tagBits()) - 1);
  }

  /**
   * Returns the share of the texts without a live near-duplicate for which the filter alone reports
   * a match.
   *
   * @param identityRate the false-positive rate of a lookup of a band with its text tag
   * @param texts the number of texts in the filter
   */
  public double filterRate(double identityRate, long texts) {
    double band = identityRate * (1 << tagBits());
    return matches == 1
        ? -Math.expm1(hashes() * Math.log1p(-Math.min(band, 1)))
        : Math.min(1, pairs() * sameTag(texts) * band * band + identityRate);
  }

  /** Returns the probability that two lookups return the same tag, of the same text or of two. */
  private static double sameTag(long texts) {
    return 1.0 / Math.max(1, texts) + Math.scalb(1.0, -TAG_BITS);
  }

  private double pairs() {
    return bands * (bands - 1) / 2.0;
  }

  /** Returns the parameters, such as {@code characters:4,32x5,2}, which {@link #of} reads. */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%s:%d,%dx%d,%d%s",
        unit.name().toLowerCase(Locale.ROOT),
        shingle,
        bands,
        rows,
        matches,
        folds ? FOLD : "");
  }
}
