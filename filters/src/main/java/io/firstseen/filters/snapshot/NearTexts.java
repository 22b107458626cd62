package io.firstseen.filters.snapshot;

import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.near.EqualBands;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import java.util.Objects;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A set with a {@link NearRule}, in which the texts that resemble a text can be looked up.
 * Immutable and safe for use by many threads. {@code docs/format/near-v1.md} specifies the lookup.
 */
public final class NearTexts {
  private final SetParameters parameters;
  private final NearRule rule;
  private final KeyHash keyHash;
  private final LongPredicate lookup;
  private final EqualBands.LiveTexts live;

  private NearTexts(
      String name,
      SetParameters parameters,
      KeyHash keyHash,
      LongPredicate lookup,
      EqualBands.LiveTexts live)
      throws SnapshotException {
    requireRule(name, parameters);
    parameters.requireReadableBy(keyHash);
    this.parameters = parameters;
    this.rule = Objects.requireNonNull(parameters.near());
    this.keyHash = keyHash;
    this.lookup = lookup;
    this.live = live;
  }

  /**
   * Returns the texts of a set.
   *
   * @throws IllegalArgumentException if the set has no rule for near-duplicates
   * @throws HashKeyMismatchException if the set was built with a different hash or hash key
   * @throws UnsupportedSnapshotException if the set was built with a different version of the
   *     canonicaliser
   */
  public static NearTexts of(SnapshotSet set, KeyHash keyHash) throws SnapshotException {
    Manifest manifest = set.manifest();
    return new NearTexts(
        manifest.setName(), manifest.parameters(), keyHash, set::mightContain, set::textTags);
  }

  /**
   * Returns the texts of a snapshot that is a whole set. Throws the same exceptions as {@link
   * #of(SnapshotSet, KeyHash)}.
   *
   * @throws IllegalArgumentException if it is one of several shards
   */
  public static NearTexts of(Snapshot snapshot, KeyHash keyHash) throws SnapshotException {
    SnapshotParameters parameters = snapshot.header().parameters();
    int shards = parameters.set().shards().count();
    if (shards > 1) {
      throw new IllegalArgumentException(
          "texts must be looked up in all shards of a set, got shard %d of %d"
              .formatted(parameters.shard(), shards));
    }
    return new NearTexts(
        parameters.setName(),
        parameters.set(),
        keyHash,
        snapshot::mightContain,
        snapshot::textTags);
  }

  /**
   * Rejects a set without a rule for near-duplicates.
   *
   * @throws IllegalArgumentException if it has none
   */
  public static void requireRule(String setName, SetParameters parameters) {
    if (parameters.near() == null) {
      throw new IllegalArgumentException(
          "set '%s' has no rule for near-duplicates: publish it with --near".formatted(setName));
    }
  }

  /** Returns the rule by which texts are compared. */
  public NearRule rule() {
    return rule;
  }

  /**
   * Returns how many bands a text has in common with the live text that resembles it most: at least
   * {@link NearRule#matches()}, and all {@link NearRule#bands()} if the text itself is live; 0 if
   * no live text resembles it.
   *
   * <p>A text that resembles a live text may be missed with the probability of {@link
   * NearRule#matchProbability}. Other texts are found with at most about the rate that the
   * publisher has chosen, and if they share bands by chance.
   *
   * @param scope the scope; null or empty means none
   * @param text the text before canonicalisation, in UTF-8
   * @throws InvalidKeyException if the text has no canonical form, so it cannot be looked up
   */
  public int resembles(byte @Nullable [] scope, byte[] text) throws InvalidKeyException {
    byte[] form = parameters.canonicaliser().canonicalise(text);
    long whole = keyHash.hash(ScopedKey.join(scope, form));
    if (lookup.test(whole)) {
      return rule.bands();
    }
    long scopeHash = keyHash.hash(scope == null ? new byte[0] : scope);
    EqualBands equal = new EqualBands(rule);
    int tag = equal.match(new TextSignature(rule, keyHash).bands(form, scopeHash), live);
    return tag < 0 ? 0 : equal.count();
  }
}
