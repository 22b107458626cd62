package io.firstseen.types;

/**
 * What the audit of a shard has counted since its filter was empty.
 *
 * @param newKeys audited adds of keys that did not live
 * @param falsePositives how many of them the filter took for duplicates
 * @param predicted the sum of the false-positive rates that were predicted for them
 */
public record AuditCounts(long newKeys, long falsePositives, double predicted) {
  /** Nothing was counted. */
  public static final AuditCounts NONE = new AuditCounts(0, 0, 0);

  /** The counts after one more add of a key that did not live. */
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
