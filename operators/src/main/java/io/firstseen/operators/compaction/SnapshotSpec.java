package io.firstseen.operators.compaction;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.io.Serializable;
import java.util.HexFormat;

/**
 * What a set of snapshots is: everything that its blobs and manifests say of themselves. Holds no
 * secret.
 *
 * @param setName name of the set, 1 to 100 characters of {@code A-Z a-z 0-9 . _ -}
 * @param windowMillis length of a window in event time, at least 1
 * @param snapshotShards number of shards, a power of two in [1, 65536]; fixed for the life of the
 *     state
 * @param falsePositiveRate the rate that no shard's snapshot exceeds, in (0, 0.1]
 * @param algorithm what hashed the keys
 * @param keyCheck {@link KeyHash#keyCheck()} of that hash
 * @param canonicaliser what brought the keys into canonical form
 */
public record SnapshotSpec(
    String setName,
    long windowMillis,
    int snapshotShards,
    double falsePositiveRate,
    KeyHash.Algorithm algorithm,
    long keyCheck,
    Canonicaliser canonicaliser)
    implements Serializable {

  /** Refuses values out of bounds with {@link IllegalArgumentException}. */
  public SnapshotSpec {
    SnapshotTopicFormat.requireSetName(setName);
    new WindowRule(windowMillis);
    setParameters(algorithm, keyCheck, canonicaliser, snapshotShards, falsePositiveRate);
  }

  /** The set of keys in one canonical form under one hash. */
  public static SnapshotSpec of(
      String setName,
      long windowMillis,
      int snapshotShards,
      double falsePositiveRate,
      KeyHash hash,
      Canonicaliser canonicaliser) {
    return new SnapshotSpec(
        setName,
        windowMillis,
        snapshotShards,
        falsePositiveRate,
        hash.algorithm(),
        hash.keyCheck(),
        canonicaliser);
  }

  /** What all blobs and manifests of the set share. */
  SetParameters setParameters() {
    return setParameters(algorithm, keyCheck, canonicaliser, snapshotShards, falsePositiveRate);
  }

  private static SetParameters setParameters(
      KeyHash.Algorithm algorithm,
      long keyCheck,
      Canonicaliser canonicaliser,
      int snapshotShards,
      double falsePositiveRate) {
    return new SetParameters(
        algorithm,
        keyCheck,
        canonicaliser,
        canonicaliser.version(),
        new Shards(snapshotShards),
        falsePositiveRate);
  }

  /**
   * What must not change while the state lives, in words: a manifest names blobs of many windows,
   * and they must all agree. The length of the window may change.
   */
  String identity() {
    return "set %s of %d shards at false-positive rate %s, hash %s with key check %s, canonicaliser %s version %d"
        .formatted(
            setName,
            snapshotShards,
            falsePositiveRate,
            algorithm.id(),
            HexFormat.of().toHexDigits(keyCheck),
            canonicaliser.id(),
            canonicaliser.version());
  }
}
