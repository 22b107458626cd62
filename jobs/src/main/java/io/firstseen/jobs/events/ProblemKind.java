package io.firstseen.jobs.events;

/** What is wrong with events that cannot be used, in a few kinds. */
public enum ProblemKind {
  /** Its time is more than {@code --max-ahead} ahead of the clock. */
  TOO_FAR_AHEAD("tooFarAhead"),
  /** It has no time, or one that is negative or not a whole number. */
  BAD_TIME("badTime"),
  /** Its key is missing, empty or too long, or its scope cannot be used. */
  BAD_KEY("badKey"),
  /** It is not written as an event. */
  MALFORMED("malformed");

  private final String metric;

  ProblemKind(String metric) {
    this.metric = metric;
  }

  /** The name of the counter of such events. */
  public String metric() {
    return metric;
  }

  /** The kind of a {@link io.firstseen.serializers.SourceEvent#problem() problem}. */
  public static ProblemKind of(String problem) {
    // Text of the input is never at the beginning of a problem.
    if (problem.startsWith("time ") || problem.startsWith("ts ")) {
      boolean isAhead =
          problem.startsWith(EventRules.TIME_AT_MOST)
              && problem.contains(EventRules.AHEAD_OF_THE_CLOCK);
      return isAhead ? TOO_FAR_AHEAD : BAD_TIME;
    }
    return problem.startsWith("key ") || problem.startsWith("scope ") ? BAD_KEY : MALFORMED;
  }
}
