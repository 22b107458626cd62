package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.near.EqualBands;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import org.jspecify.annotations.Nullable;

/**
 * The live set of texts that are compared by a {@link NearRule}. The filter of a shard contains the
 * hashes of the bands of all live texts of the shard's scopes, and the hash of each text. If the
 * rule needs two equal bands, each hash has the tag of its text.
 *
 * <p>A band that is {@linkplain EqualBands boilerplate} is not stored again. So a page never has to
 * store many identities that differ only in their tags.
 */
public final class NearSet implements LiveSet {
  private final NearRule rule;
  private final PagedFilter filter;
  private final EqualBands equal;

  @SuppressWarnings("UnusedVariable") // Keeps the prefetching reads from being optimised away.
  private long touched;

  // Whether a live text equals the text of the current lookup.
  private boolean isEqual;
  private int matchedTag;
  private long matchedHash;
  private @Nullable NearMatch lastMatch;

  /**
   * @param filter with the text tags of the rule
   */
  public NearSet(NearRule rule, PagedFilter filter) {
    this.rule = rule;
    this.filter = filter;
    equal = new EqualBands(rule);
  }

  @Override
  public Addition add(ShardPages shard, Change<?> change) {
    long[] hashes = change.bands();
    int match = match(shard, change);
    if (match >= 0) {
      renew(shard, hashes, match);
      lastMatch =
          isEqual
              ? NearMatch.of(change.keyHash(), rule.bands())
              : NearMatch.ofTag(match, rule.tagBits(), equal.count());
      return Addition.KNOWN;
    }
    insert(shard, change);
    return Addition.NEW;
  }

  @Override
  public @Nullable NearMatch match() {
    return lastMatch;
  }

  /** Inserts a text after {@link #match}, without the bands that are boilerplate. */
  private void insert(ShardPages shard, Change<?> change) {
    long[] hashes = change.bands();
    for (int i = 0; i < rule.hashes(); i++) {
      if (stores(i)) {
        filter.insert(shard, entry(hashes[i], change));
      }
    }
  }

  /** Returns whether the text of the last addition has a hash, by its index, in the filter. */
  boolean stores(int hash) {
    return hash == rule.bands() || !equal.isBoilerplate(hash);
  }

  /** Returns the tag of the live text with the most equal bands; -1 if no text has enough. */
  private int match(ShardPages shard, Change<?> change) {
    touched += shard.prefetch(change.bands());
    int match = equal.match(change.bands(), (band, found) -> filter.textTags(shard, band, found));
    isEqual = filter.mightContain(shard, entry(change.keyHash(), change));
    matchedTag = isEqual ? tag(change) : match;
    matchedHash = isEqual || match < 0 ? change.keyHash() : change.bands()[equal.firstBand()];
    return matchedTag;
  }

  /**
   * Returns the hash by which the last addition found its match: of the whole text, or else of the
   * first equal band.
   */
  long matchedHash() {
    return matchedHash;
  }

  /**
   * Returns whether a text, by the hash of the whole text, may be the match of the last addition,
   * as far as the tags tell.
   */
  boolean mayMatch(long keyHash) {
    return rule.tagOf(keyHash) == matchedTag;
  }

  /** Renews the equal hashes of a match if expiry is measured from when a text was last seen. */
  private void renew(ShardPages shard, long[] hashes, int tag) {
    if (!isRenewed(shard)) {
      return;
    }
    for (int i = 0; i < rule.hashes(); i++) {
      long entry = filter.withTextTag(hashes[i], tag);
      if (filter.mightContain(shard, entry)) {
        InsertionResult unused = filter.insertIfAbsent(shard, entry);
      }
    }
  }

  /** Returns whether expiry is measured from when a text was last seen. */
  static boolean isRenewed(ShardPages shard) {
    Expiry expiry = shard.expiry();
    return expiry != null && expiry.sinceLastSeen();
  }

  /**
   * {@inheritDoc}
   *
   * <p>With one matching band, no other live text has a band of a live text, so all of its hashes
   * are held. With tags, a text is live if its hash is held; or if enough of its bands are, where
   * near-duplicates may have renewed these alone.
   */
  @Override
  public boolean remove(ShardPages shard, Change<?> change) {
    long[] hashes = change.bands();
    int held = 0;
    for (int i = 0; i < rule.hashes(); i++) {
      held += filter.mightContain(shard, entry(hashes[i], change)) ? 1 : 0;
    }
    boolean isLive =
        rule.tagBits() == 0
            ? held == rule.hashes()
            : filter.mightContain(shard, entry(change.keyHash(), change))
                || (isRenewed(shard) && held >= rule.matches());
    if (!isLive) {
      return false;
    }
    for (int i = 0; i < rule.hashes(); i++) {
      boolean unused = filter.delete(shard, entry(hashes[i], change));
    }
    return true;
  }

  private long entry(long hash, Change<?> change) {
    return filter.withTextTag(hash, tag(change));
  }

  private int tag(Change<?> change) {
    return rule.tagOf(change.keyHash());
  }
}
