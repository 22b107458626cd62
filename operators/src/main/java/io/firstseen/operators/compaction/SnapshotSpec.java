package io.firstseen.operators.compaction;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.types.TimeToLive;
import java.io.Serializable;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a set of snapshots, as its blobs and manifests state them. Contains no secret.
 *
 * @param setName name of the set, 1 to 100 characters of {@code A-Z a-z 0-9 . _ -}
 * @param windowMillis length of a window in event time, at least 1
 * @param setParameters the parameters that all blobs and manifests of the set share. The shards are
 *     fixed for the life of the state. The rate is at least 2^-24, or 2^(log2(shards) - 33) if that
 *     is less: the bits of a hash do not allow a lower rate. With a rule for near-duplicates the
 *     operations must be on the {@linkplain TextSignature#elements elements} of the texts, and the
 *     rate is the rate of an {@linkplain NearRule#elementRate element}
 * @param ttlMillis how long after its last add, in event time, a key is forgotten, in [1, {@value
 *     io.firstseen.types.TimeToLive#MAX_MILLIS}]; 0 if keys are kept until they are deleted. The
 *     length may change at a restart; whether there is one is fixed for the life of the state
 */
public record SnapshotSpec(
    String setName, long windowMillis, SetParameters setParameters, long ttlMillis)
    implements Serializable {

  private static final Pattern RATE =
      Pattern.compile(" at false-positive rate ([0-9]+\\.[0-9]+(?:E-?[0-9]+)?),");

  /** Rejects values that are out of bounds with {@link IllegalArgumentException}. */
  public SnapshotSpec {
    SnapshotTopicFormat.requireSetName(setName);
    new WindowRule(windowMillis);
    if (ttlMillis < 0 || ttlMillis > TimeToLive.MAX_MILLIS) {
      throw new IllegalArgumentException(
          "the ttl of snapshots must be in [0, %d] ms, got %d"
              .formatted(TimeToLive.MAX_MILLIS, ttlMillis));
    }
    int shards = setParameters.shards().count();
    int least = leastRateExponent(shards);
    if (setParameters.falsePositiveRate() < Math.scalb(1.0, least)) {
      throw new IllegalArgumentException(
          "the falsePositiveRate of snapshots must be at least 2^%d with %d shards, got %s"
              .formatted(least, shards, setParameters.falsePositiveRate()));
    }
  }

  /**
   * Returns the binary logarithm of the lowest false-positive rate that the suffix bits of a hash
   * give to the largest set: 2^31 keys in one shard, 2^40 in all. With a lower rate the job would
   * fail after the set has grown.
   *
   * @param snapshotShards a power of two in [1, 65536]
   */
  public static int leastRateExponent(int snapshotShards) {
    int shardBits = new Shards(snapshotShards).bits();
    return Math.min(31, 40 - shardBits) - (Long.SIZE - shardBits);
  }

  /** Creates the parameters of a set whose keys are kept until they are deleted. */
  public static SnapshotSpec of(
      String setName,
      long windowMillis,
      int snapshotShards,
      double falsePositiveRate,
      KeyHash hash,
      Canonicaliser canonicaliser) {
    SetParameters set =
        SetParameters.of(hash, canonicaliser, new Shards(snapshotShards), falsePositiveRate);
    return new SnapshotSpec(setName, windowMillis, set, 0);
  }

  /** Returns a copy with a ttl, or without one if it is 0. */
  public SnapshotSpec withTtlMillis(long newTtlMillis) {
    return new SnapshotSpec(setName, windowMillis, setParameters, newTtlMillis);
  }

  /** Returns a copy with the bands of a rule, or without bands if it is null. */
  public SnapshotSpec withNear(@Nullable NearRule newNear) {
    return new SnapshotSpec(setName, windowMillis, setParameters.withNear(newNear), ttlMillis);
  }

  /** Returns the number of shards, a power of two in [1, 65536]. */
  public int snapshotShards() {
    return setParameters.shards().count();
  }

  boolean hasTtl() {
    return ttlMillis > 0;
  }

  /**
   * Returns a description of the parameters that must not change during the life of the state,
   * because a manifest names blobs of many windows, which must all agree. The lengths of the window
   * and of the ttl may change. The text is kept in state, so it does not depend on the locale.
   */
  String identity() {
    SetParameters set = setParameters;
    String stripped = set.canonicaliser().strippedParameters();
    return String.format(
        Locale.ROOT,
        "set %s of %d shards at false-positive rate %s, hash %s with key check %s, canonicaliser %s version %d%s%s%s",
        setName,
        snapshotShards(),
        set.falsePositiveRate(),
        set.hashAlgorithm().id(),
        HexFormat.of().toHexDigits(set.keyCheck()),
        set.canonicaliser().id(),
        set.canonicaliserVersion(),
        stripped.isEmpty() ? "" : ", without the parameters " + stripped,
        set.near() == null ? "" : ", near-duplicates by " + set.near(),
        hasTtl() ? ", with a ttl" : "");
  }

  /**
   * Returns whether this is the {@link #identity} that a text in state describes. Rates are
   * compared as numbers: since JDK 19 some, such as 2^-24, are written with fewer digits.
   */
  boolean hasIdentity(String inState) {
    double ownRate = setParameters.falsePositiveRate();
    Matcher rate = RATE.matcher(inState);
    if (rate.find() && Double.parseDouble(rate.group(1)) == ownRate) {
      inState = inState.substring(0, rate.start(1)) + ownRate + inState.substring(rate.end(1));
    }
    return inState.equals(identity());
  }
}
