package io.firstseen.filters;

/**
 * Where the probability of an event lies, by how often it was seen: the score interval of Wilson
 * (Probable inference, the law of succession, and statistical inference, JASA 22(158), 1927), at a
 * confidence of 99 %. Good also where the event was never seen.
 *
 * @param low the lower end, in [0, 1]
 * @param high the upper end, in [0, 1]
 */
public record WilsonInterval(double low, double high) {
  /** The share of such intervals that hold the true probability. */
  public static final double CONFIDENCE = 0.99;

  /** The quantile (1 + CONFIDENCE) / 2 of the standard normal distribution. */
  private static final double Z = 2.5758293035489004;

  /**
   * The interval after that many events in so many trials.
   *
   * @throws IllegalArgumentException if there were no trials, or fewer than events
   */
  public static WilsonInterval of(long events, long trials) {
    if (trials < 1 || events < 0 || events > trials) {
      throw new IllegalArgumentException(
          "events must be in [0, trials] and trials at least 1, got %d of %d"
              .formatted(events, trials));
    }
    double share = (double) events / trials;
    double weight = Z * Z / trials;
    double centre = (share + weight / 2) / (1 + weight);
    double reach =
        Z / (1 + weight) * Math.sqrt(share * (1 - share) / trials + weight / (4 * trials));
    // At its ends the formula is exact but for rounding.
    return new WilsonInterval(
        events == 0 ? 0 : Math.max(0, centre - reach),
        events == trials ? 1 : Math.min(1, centre + reach));
  }
}
