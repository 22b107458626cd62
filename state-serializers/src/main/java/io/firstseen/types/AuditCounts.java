package io.firstseen.types;

/**
 * The counts of a shard's audit since its filter was empty.
 *
 * @param newKeys audited adds of keys that were not live
 * @param falsePositives how many of these the filter took for duplicates
 * @param predicted the sum of the predicted false-positive rates at the time of each of these adds
 */
public record AuditCounts(long newKeys, long falsePositives, double predicted) {
  /** No counts yet. */
  public static final AuditCounts NONE = new AuditCounts(0, 0, 0);

  /** The counts after one more add of a key that was not live. */
  public AuditCounts and(boolean falsePositive, double predictedRate) {
    return new AuditCounts(
        newKeys + 1, falsePositives + (falsePositive ? 1 : 0), predicted + predictedRate);
  }

  /** The counts of two shards together. */
  public AuditCounts plus(AuditCounts other) {
    return new AuditCounts(
        newKeys + other.newKeys,
        falsePositives + other.falsePositives,
        predicted + other.predicted);
  }
}
