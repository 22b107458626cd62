package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import java.io.Serializable;
import java.math.BigInteger;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The parameters that all snapshots of one set share. A reader needs them to turn a key into its
 * hash.
 *
 * @param hashAlgorithm the hash of keys
 * @param keyCheck {@link KeyHash#keyCheck()}, by which a reader checks that it has the same hash
 *     key
 * @param canonicaliser the rule that was applied to keys before they were hashed
 * @param canonicaliserVersion the version of that rule, in [1, 65535]
 * @param shards the division of the hashes into snapshots
 * @param falsePositiveRate the maximum share of absent keys that may be reported as present, in (0,
 *     0.1]
 * @param near the rule whose bands the set contains in addition to the texts, so that a reader
 *     finds near-duplicates; null if the set contains keys only
 */
public record SetParameters(
    KeyHash.Algorithm hashAlgorithm,
    long keyCheck,
    Canonicaliser canonicaliser,
    int canonicaliserVersion,
    Shards shards,
    double falsePositiveRate,
    @Nullable NearRule near)
    implements Serializable {

  /** The bound of {@link #falsePositiveRate}. */
  public static final double MAX_FALSE_POSITIVE_RATE = 0.1;

  /** Rejects numbers that are out of range. */
  public SetParameters {
    Objects.requireNonNull(hashAlgorithm, "hashAlgorithm");
    Objects.requireNonNull(canonicaliser, "canonicaliser");
    Objects.requireNonNull(shards, "shards");
    if (canonicaliserVersion < 1 || canonicaliserVersion > 65_535) {
      throw new IllegalArgumentException(
          "canonicaliserVersion must be in [1, 65535], got " + canonicaliserVersion);
    }
    if (!(falsePositiveRate > 0 && falsePositiveRate <= MAX_FALSE_POSITIVE_RATE)) {
      throw new IllegalArgumentException(
          "falsePositiveRate must be in (0, 0.1], got " + falsePositiveRate);
    }
    if (near != null && !canonicaliser.is(Canonicaliser.TEXT)) {
      throw new IllegalArgumentException(
          "near-duplicates need the canonicaliser text, got " + canonicaliser.id());
    }
  }

  /** The parameters of a set of keys. */
  public SetParameters(
      KeyHash.Algorithm hashAlgorithm,
      long keyCheck,
      Canonicaliser canonicaliser,
      int canonicaliserVersion,
      Shards shards,
      double falsePositiveRate) {
    this(
        hashAlgorithm,
        keyCheck,
        canonicaliser,
        canonicaliserVersion,
        shards,
        falsePositiveRate,
        null);
  }

  /** Returns the parameters of a set that contains the bands of a rule; null for none. */
  public SetParameters withNear(@Nullable NearRule rule) {
    return new SetParameters(
        hashAlgorithm,
        keyCheck,
        canonicaliser,
        canonicaliserVersion,
        shards,
        falsePositiveRate,
        rule);
  }

  /** Returns the parameters of a set with this hash and canonical form. */
  public static SetParameters of(
      KeyHash keyHash, Canonicaliser canonicaliser, Shards shards, double falsePositiveRate) {
    return new SetParameters(
        keyHash.algorithm(),
        keyHash.keyCheck(),
        canonicaliser,
        canonicaliser.version(),
        shards,
        falsePositiveRate);
  }

  /**
   * Rejects a reader whose results would be wrong.
   *
   * @param keyHash the reader's configured hash
   * @throws HashKeyMismatchException if the set was built with a different hash or hash key
   * @throws UnsupportedSnapshotException if the set was built with a different version of the rule
   */
  public void requireReadableBy(KeyHash keyHash) throws SnapshotException {
    if (keyHash.algorithm() != hashAlgorithm || keyHash.keyCheck() != keyCheck) {
      throw new HashKeyMismatchException(this, keyHash);
    }
    if (canonicaliser.version() != canonicaliserVersion) {
      throw new UnsupportedSnapshotException(
          String.format(
              "the set's keys went through version %d of the canonicaliser %s, the newest of this"
                  + " program is version %d",
              canonicaliserVersion, canonicaliser.id(), canonicaliser.version()));
    }
  }

  /**
   * Returns the hash of a key in a set with these parameters.
   *
   * @param scope the scope; null or empty means none
   * @param key the key before canonicalisation; this method canonicalises it
   * @throws InvalidKeyException if the key has no canonical form; no set contains such a key
   * @throws HashKeyMismatchException if the set was built with a different hash or hash key
   * @throws UnsupportedSnapshotException if the set was built with a different version of the rule
   */
  public long hash(byte @Nullable [] scope, byte[] key, KeyHash keyHash)
      throws InvalidKeyException, SnapshotException {
    requireReadableBy(keyHash);
    return keyHash.hash(ScopedKey.join(scope, canonicaliser.canonicalise(key)));
  }

  /**
   * Returns the smallest universe in which this many hashes keep the false-positive rate. A set may
   * have a larger one.
   *
   * @throws IllegalArgumentException if it has more values than there are suffixes
   */
  public Universe universeFor(long hashCount) {
    Universe universe = Universe.forRate(plannedKeys(hashCount), falsePositiveRate);
    requireUniverse(universe, hashCount);
    return universe;
  }

  /**
   * Returns the number of keys for which the universe of a set of this many hashes is planned: more
   * than the hashes if the elements of one band would otherwise share values.
   */
  public long plannedKeys(long hashCount) {
    int bits = leastRangeBits();
    return bits == 0
        ? hashCount
        : Math.max(hashCount, (long) Math.ceil(Math.scalb(falsePositiveRate, bits)));
  }

  /** Returns the binary logarithm of the smallest range in which a value implies a tag. */
  private int leastRangeBits() {
    return near == null || near.tagBits() == 0
        ? 0
        : NearRule.BITS_ABOVE_TAG + near.tagBits() - shards.bits();
  }

  /** Rejects a universe that is not allowed for a snapshot of this many hashes. */
  void requireUniverse(Universe universe, long hashCount) {
    if (!isPossible(universe)) {
      throw new IllegalArgumentException(
          String.format(
              "falsePositiveRate %s for %d keys in one of %d shards needs %s values, the hash has %d"
                  + " bits below the shard",
              falsePositiveRate,
              hashCount,
              shards.count(),
              universe.range(),
              Long.SIZE - shards.bits()));
    }
    if (!hasRoomForTags(universe)) {
      throw new IllegalArgumentException(tooSmallForTags(universe));
    }
    if (!universe.keepsRate(hashCount, falsePositiveRate)) {
      throw new IllegalArgumentException(
          "%d keys at the rate %s need more than %s values"
              .formatted(hashCount, falsePositiveRate, universe.range()));
    }
  }

  /** Returns whether there are at least as many suffixes as values. */
  public boolean isPossible(Universe universe) {
    return universe.range().subtract(BigInteger.ONE).bitLength() <= Long.SIZE - shards.bits();
  }

  String tooSmallForTags(Universe universe) {
    return "a range of %s is too small for the tags of %s in %d shards"
        .formatted(universe.range(), near, shards.count());
  }

  /** Returns whether a value of the universe implies the tag of {@link #near()}, if it has one. */
  boolean hasRoomForTags(Universe universe) {
    return universe.range().bitLength() > leastRangeBits();
  }
}
