package io.firstseen.events;

/** The kinds of problems that make events unusable. */
public enum ProblemKind {
  /** The time is more than {@code --max-ahead} ahead of the system clock. */
  TOO_FAR_AHEAD("tooFarAhead"),
  /** The time is missing, negative, or not a whole number. */
  BAD_TIME("badTime"),
  /** The key is missing, empty or too long, or the scope is invalid. */
  BAD_KEY("badKey"),
  /** The record is not in the format of an event. */
  MALFORMED("malformed");

  private final String metric;

  ProblemKind(String metric) {
    this.metric = metric;
  }

  /** The name of the counter of events with this problem. */
  public String metric() {
    return metric;
  }

  /** Returns the kind of a {@link io.firstseen.serializers.SourceEvent#problem() problem}. */
  public static ProblemKind of(String problem) {
    // A problem never starts with input text.
    if (problem.startsWith("time ") || problem.startsWith("ts ")) {
      boolean isAhead =
          problem.startsWith(EventRules.TIME_AT_MOST)
              && problem.contains(EventRules.AHEAD_OF_THE_CLOCK);
      return isAhead ? TOO_FAR_AHEAD : BAD_TIME;
    }
    return problem.startsWith("key ") || problem.startsWith("scope ") ? BAD_KEY : MALFORMED;
  }
}
