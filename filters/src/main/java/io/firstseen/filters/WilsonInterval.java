package io.firstseen.filters;

/**
 * A confidence interval of 99 % for the probability of an event, from how often it was observed:
 * the score interval of Wilson (Probable inference, the law of succession, and statistical
 * inference, JASA 22(158), 1927). It is valid even if the event was never observed.
 *
 * @param low the lower end, in [0, 1]
 * @param high the upper end, in [0, 1]
 */
public record WilsonInterval(double low, double high) {
  /** The share of such intervals that contain the true probability. */
  public static final double CONFIDENCE = 0.99;

  /** The quantile (1 + CONFIDENCE) / 2 of the standard normal distribution. */
  private static final double Z = 2.5758293035489004;

  /**
   * Computes the interval.
   *
   * @param events how often the event was observed
   * @param trials how often it could have been observed
   * @throws IllegalArgumentException if there are no trials, or more events than trials
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
    // For no events, and for only events, the ends are 0 and 1; the formula gives them with a
    // rounding error.
    return new WilsonInterval(
        events == 0 ? 0 : Math.max(0, centre - reach),
        events == trials ? 1 : Math.min(1, centre + reach));
  }
}
