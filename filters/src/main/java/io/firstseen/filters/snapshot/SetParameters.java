package io.firstseen.filters.snapshot;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.Shards;
import java.util.Objects;

/**
 * What all snapshots of one set share, and what a reader needs to turn a key into the hash that
 * they hold.
 *
 * @param hashAlgorithm the hash of keys
 * @param keyCheck tells whether a reader has the same hash key: {@link KeyHash#keyCheck()}
 * @param canonicaliser the rule that keys went through before they were hashed
 * @param canonicaliserVersion the version of that rule, in [1, 65535]
 * @param shards the division of the hashes into snapshots
 * @param falsePositiveRate the highest share of strange keys that may be answered by 'present', in
 *     (0, 0.1]
 */
public record SetParameters(
    KeyHash.Algorithm hashAlgorithm,
    long keyCheck,
    Canonicaliser canonicaliser,
    int canonicaliserVersion,
    Shards shards,
    double falsePositiveRate) {

  /** The bound of {@link #falsePositiveRate}. */
  public static final double MAX_FALSE_POSITIVE_RATE = 0.1;

  /** Refuses numbers out of range. */
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
  }

  /** The parameters of a set whose keys are hashed and canonicalised by these. */
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
   * Refuses a reader whose every answer would be wrong.
   *
   * @param keyHash the hash that the reader is configured with
   * @throws HashKeyMismatchException if the set was made with another hash or hash key
   * @throws UnsupportedSnapshotException if the set was made with another version of the rule
   */
  public void requireReadableBy(KeyHash keyHash) throws SnapshotException {
    if (keyHash.algorithm() != hashAlgorithm || keyHash.keyCheck() != keyCheck) {
      throw new HashKeyMismatchException(this, keyHash);
    }
    if (canonicaliser.version() != canonicaliserVersion) {
      throw new UnsupportedSnapshotException(
          String.format(
              "the set's keys went through version %d of the canonicaliser %s, this program has"
                  + " version %d",
              canonicaliserVersion, canonicaliser.id(), canonicaliser.version()));
    }
  }

  /**
   * The hash under which a set of these parameters holds a key.
   *
   * @param scopeOrNull the scope; null or empty means none
   * @param key the key as a user has it; it is canonicalised here
   * @throws InvalidKeyException if the key has no canonical form; no set holds such a key
   * @throws HashKeyMismatchException if the set was made with another hash or hash key
   * @throws UnsupportedSnapshotException if the set was made with another version of the rule
   */
  public long hash(byte[] scopeOrNull, byte[] key, KeyHash keyHash)
      throws InvalidKeyException, SnapshotException {
    requireReadableBy(keyHash);
    return keyHash.hash(ScopedKey.join(scopeOrNull, canonicaliser.canonicalise(key)));
  }

  /**
   * The fewest bits of a value in a set of that many hashes: the least b of at least 1 for which
   * hashCount / 2^b is not above the false-positive rate. A set may have more.
   *
   * @throws IllegalArgumentException if the bits of the hash below the shard are too few for that
   */
  public int valueBitsFor(long hashCount) {
    int available = 64 - shards.bits();
    int bits = 1;
    while (!keepsRate(hashCount, bits)) {
      bits++;
    }
    if (bits > available) {
      throw new IllegalArgumentException(
          String.format(
              "falsePositiveRate %s for %d keys in one of %d shards needs values of %d bits, the"
                  + " hash has %d bits below the shard",
              falsePositiveRate, hashCount, shards.count(), bits, available));
    }
    return bits;
  }

  /** Refuses bits that a snapshot of so many hashes may not have. */
  void requireValueBits(int valueBits, long hashCount) {
    int least = valueBitsFor(hashCount);
    int most = 64 - shards.bits();
    if (valueBits < least || valueBits > most) {
      throw new IllegalArgumentException(
          String.format(
              "valueBits must be in [%d, %d] for %d keys, got %d",
              least, most, hashCount, valueBits));
    }
  }

  /** Whether values of so many bits keep the false-positive rate. Exact. */
  boolean keepsRate(long count, int valueBits) {
    return Math.scalb(falsePositiveRate, valueBits) >= count;
  }

  /** The value by which a hash stands in a snapshot: the bits that follow the shard's. */
  long valueOf(long hash, int valueBits) {
    return shards.rest(hash) >>> (64 - valueBits);
  }
}
