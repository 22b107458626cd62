package io.firstseen.types;

/**
 * The counts of a shard's audit since its filter was empty.
 *
 * @param newKeys audited adds of keys that were not live
 * @param falsePositives how many of these keys the filter reported as duplicates
 * @param predicted the sum of the predicted false-positive rates at the time of each of these adds
 */
public record AuditCounts(long newKeys, long falsePositives, double predicted) {

  /** Rejects numbers that are not counts. */
  public AuditCounts {
    if (newKeys < 0 || falsePositives < 0 || falsePositives > newKeys) {
      throw new IllegalArgumentException(
          "an audit must have 0 or more new keys and at most as many false positives, got %d and %d"
              .formatted(newKeys, falsePositives));
    }
    if (!(predicted >= 0 && predicted < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "an audit must predict a finite number of false positives, got " + predicted);
    }
  }

  /** No counts yet. */
  public static final AuditCounts NONE = new AuditCounts(0, 0, 0);

  /** Returns the counts after one more add of a key that was not live. */
  public AuditCounts and(boolean falsePositive, double predictedRate) {
    return new AuditCounts(
        newKeys + 1, falsePositives + (falsePositive ? 1 : 0), predicted + predictedRate);
  }

  /** Returns the counts of two shards together. */
  public AuditCounts plus(AuditCounts other) {
    return new AuditCounts(
        newKeys + other.newKeys,
        falsePositives + other.falsePositives,
        predicted + other.predicted);
  }
}
