package io.firstseen.filters.snapshot;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A set of {@link Canonicaliser#URL_EXPRESSION}, in which the entry that lists a URL can be looked
 * up. A URL is on the list if any of its {@link UrlExpressions match expressions} is; the entry is
 * the most specific one.
 *
 * <p>A listed URL is always found. Any other URL is reported as listed with a probability of at
 * most {@link #falsePositiveRate(UrlExpressions)}. Immutable and safe for use by many threads.
 */
public final class UrlList {
  private final String name;
  private final SetParameters parameters;
  private final KeyHash keyHash;
  private final HashLookup lookup;

  private interface HashLookup {
    void mightContainEach(long[] hashes, int from, int to, boolean[] found);
  }

  private UrlList(String name, SetParameters parameters, KeyHash keyHash, HashLookup lookup)
      throws SnapshotException {
    requireUrlExpressions(name, parameters);
    parameters.requireReadableBy(keyHash);
    this.name = name;
    this.parameters = parameters;
    this.keyHash = keyHash;
    this.lookup = lookup;
  }

  private UrlList(UrlList list, String name) {
    this.name = name;
    this.parameters = list.parameters;
    this.keyHash = list.keyHash;
    this.lookup = list.lookup;
  }

  /**
   * Returns the list in a set.
   *
   * @throws IllegalArgumentException if the set has a different canonicaliser
   * @throws HashKeyMismatchException if the set was built with a different hash or hash key
   * @throws UnsupportedSnapshotException if the set was built with a different version of the rule
   */
  public static UrlList of(SnapshotSet set, KeyHash keyHash) throws SnapshotException {
    return new UrlList(
        set.manifest().setName(), set.manifest().parameters(), keyHash, set::mightContainEach);
  }

  /**
   * Returns the list in a snapshot that is a whole set. Throws the same exceptions as {@link
   * #of(SnapshotSet, KeyHash)}.
   *
   * @throws IllegalArgumentException if it is one of several shards
   */
  public static UrlList of(Snapshot snapshot, KeyHash keyHash) throws SnapshotException {
    SnapshotParameters parameters = snapshot.header().parameters();
    int shards = parameters.set().shards().count();
    if (shards > 1) {
      throw new IllegalArgumentException(
          "a list must be queried in all its shards, got shard %d of %d"
              .formatted(parameters.shard(), shards));
    }
    return new UrlList(
        parameters.setName(),
        parameters.set(),
        keyHash,
        (hashes, from, to, found) -> {
          for (int i = from; i < to; i++) {
            found[i] = snapshot.mightContain(hashes[i]);
          }
        });
  }

  /**
   * Rejects a set that is not a list.
   *
   * @throws IllegalArgumentException if its canonicaliser is not {@link
   *     Canonicaliser#URL_EXPRESSION}
   */
  public static void requireUrlExpressions(String setName, SetParameters parameters) {
    if (!isList(parameters)) {
      throw new IllegalArgumentException(
          "set '%s' must have the canonicaliser url-expression to look up URLs, got %s"
              .formatted(setName, parameters.canonicaliser().id()));
    }
  }

  /** Returns whether a set with these parameters is a list. */
  public static boolean isList(SetParameters parameters) {
    return parameters.canonicaliser().is(Canonicaliser.URL_EXPRESSION);
  }

  /** Returns the same list under a different name, which is used in results. */
  public UrlList named(String newName) {
    return new UrlList(this, newName);
  }

  /** Returns the name of the set, or the name set by {@link #named}. */
  public String name() {
    return name;
  }

  KeyHash keyHash() {
    return keyHash;
  }

  int version() {
    return parameters.canonicaliserVersion();
  }

  /**
   * Returns the maximum probability that a URL which is not listed is reported as listed: 1 − (1 −
   * ε)^n, with the set's rate ε for one key and the URL's number of expressions n.
   */
  public double falsePositiveRate(UrlExpressions url) {
    return falsePositiveRate(parameters.falsePositiveRate(), url.forVersion(version()).count());
  }

  /** Like {@link #falsePositiveRate(UrlExpressions)}, for a rate ε of one key and n expressions. */
  public static double falsePositiveRate(double keyRate, int expressions) {
    return -Math.expm1(expressions * Math.log1p(-keyRate));
  }

  /**
   * Returns the rate ε per key that keeps a given rate per URL for URLs of up to {@value
   * UrlExpressions#RATED_COUNT} expressions: 1 − (1 − rate)^(1/{@value
   * UrlExpressions#RATED_COUNT}). The result is the same on every machine.
   */
  public static double keyRateFor(double urlRate) {
    return -StrictMath.expm1(StrictMath.log1p(-urlRate) / UrlExpressions.RATED_COUNT);
  }

  /**
   * Returns the entry that lists a URL, in canonical form; empty if the URL is not listed.
   *
   * @param scope the scope; null or empty means none
   * @throws InvalidKeyException if the scope is too long
   */
  public Optional<String> match(byte @Nullable [] scope, UrlExpressions url)
      throws InvalidKeyException {
    return new UrlLists(List.of(this), List.of())
        .ask(scope, url).matches().stream().map(UrlAnswer.Match::entry).findFirst();
  }

  void mightContainEach(long[] hashes, int to, boolean[] found) {
    lookup.mightContainEach(hashes, 0, to, found);
  }
}
