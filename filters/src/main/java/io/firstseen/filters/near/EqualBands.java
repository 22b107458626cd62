package io.firstseen.filters.near;

import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Finds the live text that shares the most bands with a text. Texts are identified by their tags.
 *
 * <p>A band of {@value #MAX_TEXTS_OF_BAND} live texts is boilerplate, such as a common footer, and
 * does not count. So the tags of two bands rarely agree by chance.
 *
 * <p>Holds scratch space, so an object must be used by one thread.
 */
public final class EqualBands implements IntConsumer {
  /** The number of live texts from which a band is boilerplate. */
  public static final int MAX_TEXTS_OF_BAND = 8;

  private final NearRule rule;
  private final boolean[] boilerplate;
  // The tags of the equal bands with the bands, each tag once per band.
  private final int[] tags;
  private int tagCount;
  private int firstOfBand;
  private int textsOfBand;
  private int band;
  private int best;
  private int firstBand;

  /** The live texts. */
  public interface LiveTexts {
    /**
     * Passes the tag of each live text with a band to {@link #accept}, until {@link
     * #isBoilerplate()}.
     */
    void tags(long band, EqualBands found);
  }

  /** Compares texts by {@code rule}. */
  public EqualBands(NearRule rule) {
    this.rule = rule;
    boilerplate = new boolean[rule.bands()];
    tags = new int[rule.bands() * MAX_TEXTS_OF_BAND];
  }

  /**
   * Compares a text with the live texts.
   *
   * @param bands the bands of the text, first
   * @return the tag of the text with the most equal bands; -1 if no text has enough
   */
  public int match(long[] bands, LiveTexts live) {
    tagCount = 0;
    for (int i = 0; i < rule.bands(); i++) {
      band = i;
      firstOfBand = tagCount;
      textsOfBand = 0;
      live.tags(bands[i], this);
      boilerplate[i] = isBoilerplate();
      if (boilerplate[i]) {
        tagCount = firstOfBand;
      }
    }
    return mostFrequent();
  }

  private int mostFrequent() {
    Arrays.sort(tags, 0, tagCount);
    best = 0;
    int tag = -1;
    int from = 0;
    for (int i = 1; i <= tagCount; i++) {
      if (i == tagCount || tags[i] / NearRule.MAX_BANDS != tags[from] / NearRule.MAX_BANDS) {
        if (i - from > best) {
          best = i - from;
          tag = tags[from] / NearRule.MAX_BANDS;
          firstBand = tags[from] % NearRule.MAX_BANDS;
        }
        from = i;
      }
    }
    return best >= rule.matches() ? tag : -1;
  }

  /** Adds a live text with the current band. */
  @Override
  public void accept(int tag) {
    if (isBoilerplate()) {
      return;
    }
    textsOfBand++;
    int tagAndBand = tag * NearRule.MAX_BANDS + band;
    for (int i = firstOfBand; i < tagCount; i++) {
      if (tags[i] == tagAndBand) {
        return;
      }
    }
    tags[tagCount++] = tagAndBand;
  }

  /** Returns whether the current band is boilerplate, so that no further text matters. */
  public boolean isBoilerplate() {
    return textsOfBand == MAX_TEXTS_OF_BAND;
  }

  /** Returns whether a band of the last text is boilerplate. */
  public boolean isBoilerplate(int band) {
    return boilerplate[band];
  }

  /** Returns the first equal band of the last match. */
  public int firstBand() {
    return firstBand;
  }

  /** Returns the number of equal bands of the last match. */
  public int count() {
    return best;
  }
}
