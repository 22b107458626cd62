package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The live set of texts that are compared by a {@link NearRule}. The filter of a shard contains the
 * hashes of the bands of all live texts of the shard's scopes, and the hash of each text. If the
 * rule needs two equal bands, each hash has the tag of its text.
 *
 * <p>A band of {@value #MAX_TEXTS_OF_BAND} live texts is boilerplate, such as a common footer: it
 * is neither stored again nor compared. So the tags of two bands rarely agree by chance, and a page
 * never has to store many identities that differ only in their tags.
 */
public final class NearSet implements LiveSet {
  static final int MAX_TEXTS_OF_BAND = 8;

  private final NearRule rule;
  private final PagedFilter filter;
  // By tag: the number of bands that were found, and the last of them, of the current lookup.
  private final int[] found;
  private final int[] lastBand;
  private final int[] tags;
  private int tagCount;

  @SuppressWarnings("UnusedVariable") // Keeps the prefetching reads from being optimised away.
  private long touched;

  // Whether a live text equals the text of the current lookup.
  private boolean isEqual;
  private int band;
  // The tags of the current band.
  private final int[] tagsOfBand = new int[MAX_TEXTS_OF_BAND];
  private int textsOfBand;
  private final boolean[] boilerplate;
  private final IntConsumer collect = this::collect;
  private @Nullable NearMatch lastMatch;

  /**
   * @param filter with the text tags of the rule
   */
  public NearSet(NearRule rule, PagedFilter filter) {
    this.rule = rule;
    this.filter = filter;
    found = new int[1 << rule.tagBits()];
    lastBand = new int[found.length];
    tags = new int[found.length];
    boilerplate = new boolean[rule.bands()];
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
              : NearMatch.ofTag(match, rule.tagBits(), found[match]);
      return Addition.KNOWN;
    }
    insert(shard, change);
    return Addition.NEW;
  }

  @Override
  public @Nullable NearMatch match() {
    return lastMatch;
  }

  @Override
  public void learn(ShardPages shard, Change<?> change) {
    int unused = match(shard, change);
    insert(shard, change);
  }

  /** Inserts a text after {@link #match}, without the bands that are boilerplate. */
  private void insert(ShardPages shard, Change<?> change) {
    long[] hashes = change.bands();
    for (int i = 0; i < hashes.length; i++) {
      if (i == rule.bands() || !boilerplate[i]) {
        filter.insert(shard, entry(hashes[i], change));
      }
    }
  }

  /** Returns the tag of the live text with the most equal bands; -1 if no text has enough. */
  private int match(ShardPages shard, Change<?> change) {
    long[] hashes = change.bands();
    for (int i = 0; i < tagCount; i++) {
      found[tags[i]] = 0;
      lastBand[tags[i]] = 0;
    }
    tagCount = 0;
    touched += shard.prefetch(hashes);
    for (band = 1; band <= rule.bands(); band++) {
      textsOfBand = 0;
      filter.textTags(shard, hashes[band - 1], collect);
      boilerplate[band - 1] = textsOfBand == MAX_TEXTS_OF_BAND;
      for (int i = 0; i < textsOfBand && !boilerplate[band - 1]; i++) {
        count(tagsOfBand[i]);
      }
    }
    isEqual = filter.mightContain(shard, entry(change.keyHash(), change));
    if (isEqual) {
      return tag(change);
    }
    int best = -1;
    for (int i = 0; i < tagCount; i++) {
      if (found[tags[i]] >= rule.matches() && (best < 0 || found[tags[i]] > found[best])) {
        best = tags[i];
      }
    }
    return best;
  }

  private void collect(int tag) {
    if (textsOfBand < MAX_TEXTS_OF_BAND) {
      tagsOfBand[textsOfBand++] = tag;
    }
  }

  private void count(int tag) {
    if (found[tag] == 0) {
      tags[tagCount++] = tag;
    }
    // Several texts with one tag may share a band.
    if (lastBand[tag] != band) {
      lastBand[tag] = band;
      found[tag]++;
    }
  }

  /** Renews the equal hashes of a match if expiry is measured from when a text was last seen. */
  private void renew(ShardPages shard, long[] hashes, int tag) {
    Expiry expiry = shard.expiry();
    if (expiry == null || !expiry.sinceLastSeen()) {
      return;
    }
    for (long each : hashes) {
      long entry = filter.withTextTag(each, tag);
      if (filter.mightContain(shard, entry)) {
        InsertionResult unused = filter.insertIfAbsent(shard, entry);
      }
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>A text is live if its hash is. With tags it also is if enough of its bands are, since near
   * duplicates may have renewed these alone.
   */
  @Override
  public boolean remove(ShardPages shard, Change<?> change) {
    long[] hashes = change.bands();
    int held = 0;
    for (long each : hashes) {
      held += filter.mightContain(shard, entry(each, change)) ? 1 : 0;
    }
    boolean live = filter.mightContain(shard, entry(change.keyHash(), change));
    if (!live && (rule.tagBits() == 0 || held < rule.matches())) {
      return false;
    }
    for (long each : hashes) {
      boolean unused = filter.delete(shard, entry(each, change));
    }
    return true;
  }

  /** Returns a hash with the tag of the text. */
  private long entry(long hash, Change<?> change) {
    return filter.withTextTag(hash, tag(change));
  }

  /** Returns the tag of a text: the low bits of its hash. */
  private int tag(Change<?> change) {
    return (int) change.keyHash() & (found.length - 1);
  }
}
