package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import java.util.function.IntConsumer;

/**
 * The live set of texts that are compared by a {@link NearRule}. The filter of a shard contains the
 * bands of all live texts of the shard's scopes, each with the tag of its text if the rule needs
 * two equal bands.
 */
public final class NearSet implements LiveSet {
  private final NearRule rule;
  private final PagedFilter filter;
  // By tag: the number of bands that were found, and the last of them, of the current lookup.
  private final int[] found;
  private final int[] lastBand;
  private final int[] tags;
  private int tagCount;
  private int band;
  private final IntConsumer count = this::count;

  /**
   * @param filter with the text tags of the rule
   */
  public NearSet(NearRule rule, PagedFilter filter) {
    this.rule = rule;
    this.filter = filter;
    found = new int[1 << rule.tagBits()];
    lastBand = new int[found.length];
    tags = new int[found.length];
  }

  @Override
  public Addition add(ShardPages shard, Change<?> change) {
    long[] bands = change.bands();
    int match = match(shard, bands);
    if (match >= 0) {
      renew(shard, bands, match);
      return Addition.KNOWN;
    }
    learn(shard, change);
    return Addition.NEW;
  }

  /** Returns the tag of the live text with the most equal bands; -1 if no text has enough. */
  private int match(ShardPages shard, long[] bands) {
    for (int i = 0; i < tagCount; i++) {
      found[tags[i]] = 0;
      lastBand[tags[i]] = 0;
    }
    tagCount = 0;
    for (band = 1; band <= bands.length; band++) {
      filter.textTags(shard, bands[band - 1], count);
    }
    int best = -1;
    for (int i = 0; i < tagCount; i++) {
      if (found[tags[i]] >= rule.matches() && (best < 0 || found[tags[i]] > found[best])) {
        best = tags[i];
      }
    }
    return best;
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

  /** Renews the equal bands of a match if expiry is measured from when a text was last seen. */
  private void renew(ShardPages shard, long[] bands, int tag) {
    Expiry expiry = shard.expiry();
    if (expiry == null || !expiry.sinceLastSeen()) {
      return;
    }
    for (long each : bands) {
      long entry = filter.withTextTag(each, tag);
      if (filter.mightContain(shard, entry)) {
        InsertionResult unused = filter.insertIfAbsent(shard, entry);
      }
    }
  }

  @Override
  public boolean remove(ShardPages shard, Change<?> change) {
    for (long each : change.bands()) {
      if (!filter.mightContain(shard, entry(each, change))) {
        return false;
      }
    }
    for (long each : change.bands()) {
      filter.delete(shard, entry(each, change));
    }
    return true;
  }

  @Override
  public void learn(ShardPages shard, Change<?> change) {
    for (long each : change.bands()) {
      filter.insert(shard, entry(each, change));
    }
  }

  /** Returns the hash of a band with the tag of the text. */
  private long entry(long ofBand, Change<?> change) {
    return filter.withTextTag(ofBand, tag(change.bands()));
  }

  /** Returns the tag of a text, from its signature. */
  private static int tag(long[] bands) {
    long tag = 0;
    for (long each : bands) {
      tag = 31 * tag + each;
    }
    return (int) (tag >>> Integer.SIZE);
  }
}
