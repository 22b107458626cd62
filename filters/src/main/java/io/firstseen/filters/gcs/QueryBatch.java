package io.firstseen.filters.gcs;

/**
 * Evaluates queries in batches, so that their memory accesses overlap. First the positions that the
 * queries read are computed. Then all of them are touched in a loop, which is so short that the
 * processor starts every load before the first one ends. Only then are the codes decoded.
 */
public final class QueryBatch {
  /** The number of queries in a batch. */
  public static final int QUERIES = 32;

  private static final ThreadLocal<long[]> POSITIONS =
      ThreadLocal.withInitial(() -> new long[QUERIES]);

  private QueryBatch() {}

  /**
   * Returns an array with one element for each query; a thread gets the same array in all calls.
   */
  public static long[] positions() {
    return POSITIONS.get();
  }
}
