package io.firstseen.filters.gcs;

/**
 * How many queries are answered together, so that their waits for memory overlap: first the places
 * that they will read are worked out, then all of them are touched in a loop so short that a
 * processor begins every load before the first one ends, and only then is anything decoded.
 */
public final class QueryBatch {
  /** The number of queries. */
  public static final int QUERIES = 32;

  private static final ThreadLocal<long[]> POSITIONS =
      ThreadLocal.withInitial(() -> new long[QUERIES]);

  private QueryBatch() {}

  /** Room for one number of each query, the same for all calls of a thread. */
  public static long[] positions() {
    return POSITIONS.get();
  }
}
