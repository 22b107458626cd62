package io.firstseen.types;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * What a dedup operator's state was built with; kept in the state, so that a restore that would
 * make the filters useless is refused.
 *
 * @param identityBits P, the length of the identities in the filters
 * @param shardCount number of filters
 * @param hashAlgorithm id of the hash algorithm
 * @param keyCheck check value of the hash key
 * @param canonicaliser id of the canonicaliser
 * @param canonicaliserVersion version of its rule
 * @param mode whether filters decide alone
 * @param ttl when keys are forgotten; null if they are not
 * @param auditSlices one hash in so many is audited; 0 for none
 */
public record DedupParameters(
    int identityBits,
    int shardCount,
    String hashAlgorithm,
    long keyCheck,
    String canonicaliser,
    int canonicaliserVersion,
    DedupMode mode,
    TimeToLive ttl,
    int auditSlices)
    implements Serializable {

  /** Of keys that are neither forgotten nor audited. */
  public DedupParameters(
      int identityBits,
      int shardCount,
      String hashAlgorithm,
      long keyCheck,
      String canonicaliser,
      int canonicaliserVersion,
      DedupMode mode) {
    this(
        identityBits,
        shardCount,
        hashAlgorithm,
        keyCheck,
        canonicaliser,
        canonicaliserVersion,
        mode,
        null,
        0);
  }

  /** The same with another time to live. */
  public DedupParameters withTtl(TimeToLive newTtl) {
    return new DedupParameters(
        identityBits,
        shardCount,
        hashAlgorithm,
        keyCheck,
        canonicaliser,
        canonicaliserVersion,
        mode,
        newTtl,
        auditSlices);
  }

  /** The same with another audit. */
  public DedupParameters withAudit(int newAuditSlices) {
    return new DedupParameters(
        identityBits,
        shardCount,
        hashAlgorithm,
        keyCheck,
        canonicaliser,
        canonicaliserVersion,
        mode,
        ttl,
        newAuditSlices);
  }

  /**
   * Where a job's parameters contradict this state, one entry each, for a human. The identities'
   * length and the audit are no such places: state decides them, whatever the job asks for. Nor is
   * the length of the ttl, which the job decides.
   */
  public List<String> contradictions(DedupParameters job) {
    List<String> found = new ArrayList<>();
    compare(found, "shards", shardCount, job.shardCount);
    compare(found, "hash algorithm", hashAlgorithm, job.hashAlgorithm);
    compare(found, "check of the hash key", hex(keyCheck), hex(job.keyCheck));
    compare(found, "canonicaliser", canonicaliser, job.canonicaliser);
    compare(found, "canonicaliser version", canonicaliserVersion, job.canonicaliserVersion);
    compare(found, "mode", mode.id(), job.mode.id());
    if (ttl == null || job.ttl == null) {
      compare(found, "ttl", ttl == null ? "off" : "on", job.ttl == null ? "off" : "on");
    } else {
      compare(found, "ttl clock", ttl.clock().id(), job.ttl.clock().id());
      compare(found, "ttl since", ttl.since().id(), job.ttl.since().id());
    }
    return found;
  }

  private static void compare(List<String> found, String what, Object state, Object job) {
    if (!state.equals(job)) {
      found.add(what + " (state: " + state + ", job: " + job + ")");
    }
  }

  private static String hex(long value) {
    return "%016x".formatted(value);
  }
}
