package io.firstseen.types;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.Shards;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parameters with which a dedup operator's state was built. They are stored in the state, so
 * that the operator can reject a restore with which the filters could not be used.
 *
 * @param identityBits P, the length of the identities in the filters
 * @param shardCount number of filters
 * @param hashAlgorithm id of the hash algorithm
 * @param keyCheck check value of the hash key
 * @param canonicaliser id of the canonicaliser
 * @param canonicaliserVersion version of its rule
 * @param mode whether only filters decide, or an exact set as well
 * @param ttl when keys are forgotten; null if they are not
 * @param auditSlices one hash in this many is audited; 0 for none
 * @param strippedParameters patterns of the query parameters that the canonicaliser removes; empty
 *     for none
 * @param near the rule by which texts are near-duplicates, as {@link
 *     io.firstseen.filters.near.NearRule#toString} writes it; empty if keys are compared as a whole
 */
public record DedupParameters(
    int identityBits,
    int shardCount,
    String hashAlgorithm,
    long keyCheck,
    String canonicaliser,
    int canonicaliserVersion,
    DedupMode mode,
    @Nullable TimeToLive ttl,
    int auditSlices,
    String strippedParameters,
    String near)
    implements Serializable {

  /** Rejects numbers that are out of range. Names may come from a later version. */
  public DedupParameters {
    new CuckooShape(identityBits);
    new Shards(shardCount);
    if (canonicaliserVersion < 0 || auditSlices < 0) {
      throw new IllegalArgumentException(
          "canonicaliserVersion and auditSlices must be at least 0, got %d and %d"
              .formatted(canonicaliserVersion, auditSlices));
    }
  }

  /** Creates the parameters of a dedup without a ttl, an audit or stripped parameters. */
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
        0,
        "",
        "");
  }

  /** Returns a copy with another ttl. */
  public DedupParameters withTtl(TimeToLive newTtl) {
    return with(newTtl, auditSlices, strippedParameters, near);
  }

  /** Returns a copy with another audit. */
  public DedupParameters withAudit(int newAuditSlices) {
    return with(ttl, newAuditSlices, strippedParameters, near);
  }

  /** Returns a copy with other stripped parameters. */
  public DedupParameters withStrippedParameters(String newStrippedParameters) {
    return with(ttl, auditSlices, newStrippedParameters, near);
  }

  /** Returns a copy with another rule for near-duplicates. */
  public DedupParameters withNear(String newNear) {
    return with(ttl, auditSlices, strippedParameters, newNear);
  }

  private DedupParameters with(
      @Nullable TimeToLive newTtl,
      int newAuditSlices,
      String newStrippedParameters,
      String newNear) {
    return new DedupParameters(
        identityBits,
        shardCount,
        hashAlgorithm,
        keyCheck,
        canonicaliser,
        canonicaliserVersion,
        mode,
        newTtl,
        newAuditSlices,
        newStrippedParameters,
        newNear);
  }

  /**
   * Returns descriptions of the fields in which a job's parameters contradict this state, one entry
   * per field. Identity bits, audit and the length of the ttl cannot contradict: the state's
   * identity bits and audit and the job's ttl are used.
   */
  public List<String> contradictions(DedupParameters job) {
    List<String> found = new ArrayList<>();
    compare(found, "shards", shardCount, job.shardCount);
    compare(found, "hash algorithm", hashAlgorithm, job.hashAlgorithm);
    compare(found, "check of the hash key", hex(keyCheck), hex(job.keyCheck));
    compare(found, "canonicaliser", canonicaliser, job.canonicaliser);
    String older = canonicaliser + "-" + canonicaliserVersion;
    boolean sameRule = canonicaliser.equals(job.canonicaliser);
    compare(
        found,
        "canonicaliser version",
        canonicaliserVersion,
        job.canonicaliserVersion,
        sameRule && Canonicaliser.find(older).isPresent()
            ? "; the canonicaliser " + older + " continues the state"
            : "");
    compare(
        found, "stripped parameters", orNone(strippedParameters), orNone(job.strippedParameters));
    compare(found, "near", orNone(near), orNone(job.near));
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
    compare(found, what, state, job, "");
  }

  private static void compare(
      List<String> found, String what, Object state, Object job, String hint) {
    if (!state.equals(job)) {
      found.add(what + " (state: " + state + ", job: " + job + hint + ")");
    }
  }

  private static String orNone(String patterns) {
    return patterns.isEmpty() ? "none" : patterns;
  }

  private static String hex(long value) {
    return "%016x".formatted(value);
  }
}
