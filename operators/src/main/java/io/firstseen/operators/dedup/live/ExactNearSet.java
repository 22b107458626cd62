package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.near.EqualBands;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import io.firstseen.types.ExactEntry;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.jspecify.annotations.Nullable;

/**
 * The live set of texts that are compared by a {@link NearRule} in the mode {@code exact}. The
 * filter contains the same hashes as the filter of a {@link NearSet}, without tags. Each of these
 * hashes also has an entry of managed keyed state, as in an {@link ExactSet}:
 *
 * <ul>
 *   <li>The entry of a band is the list of the live texts that have the band, each with its id in 8
 *       bytes.
 *   <li>The entry of a text exists as long as the text is live. If keys are renewed, its key is the
 *       list of the bands under which the text is stored, in 8 bytes each.
 * </ul>
 */
public final class ExactNearSet implements LiveSet {
  private final NearRule rule;
  private final HashEntries entries;
  private final EntrySweep sweep;
  private final PagedFilter filter;
  private final Counter lookups = new SimpleCounter();
  private final Counter rescues = new SimpleCounter();

  // The live texts that have each band of the current text.
  private final ExactEntry[] textsOfBand;
  // The live texts that have a band of the current text, and the number of these bands.
  private final long[] texts;
  private final int[] found;
  private int textCount;
  private boolean hasFalsePositive;
  private @Nullable NearMatch lastMatch;

  /**
   * @param filter without text tags
   */
  public ExactNearSet(NearRule rule, HashEntries entries, EntrySweep sweep, PagedFilter filter) {
    this.rule = rule;
    this.entries = entries;
    this.sweep = sweep;
    this.filter = filter;
    textsOfBand = new ExactEntry[rule.bands()];
    texts = new long[rule.bands() * EqualBands.MAX_TEXTS_OF_BAND];
    found = new int[texts.length];
  }

  @Override
  public Addition add(ShardPages shard, Change<?> change) throws Exception {
    lastMatch = match(shard, change);
    if (lastMatch != null) {
      return Addition.KNOWN;
    }
    if (hasFalsePositive) {
      rescues.inc();
    }
    insert(shard, change);
    return Addition.NEW;
  }

  @Override
  public @Nullable NearMatch match() {
    return lastMatch;
  }

  /** Returns the live text with the most equal bands, and renews it; null if none has enough. */
  private @Nullable NearMatch match(ShardPages shard, Change<?> change) throws Exception {
    hasFalsePositive = false;
    textCount = 0;
    boolean isRead = false;
    long[] hashes = change.bands();
    ExactEntry equal = null;
    for (int i = rule.bands(); i >= 0 && equal == null; i--) {
      boolean isHeld = filter.mightContain(shard, hashes[i]);
      ExactEntry entry = isHeld ? entries.get(shard, hashes[i]) : null;
      isRead |= isHeld;
      hasFalsePositive |= isHeld && entry == null;
      if (i == rule.bands()) {
        equal = entry;
      } else {
        textsOfBand[i] = entry;
        count(entry);
      }
    }
    if (isRead) {
      lookups.inc();
    }
    if (equal != null) {
      renew(shard, change.keyHash());
      return NearMatch.of(change.keyHash(), rule.bands());
    }
    int best = 0;
    for (int i = 1; i < textCount; i++) {
      best = found[i] > found[best] ? i : best;
    }
    if (textCount == 0 || found[best] < rule.matches()) {
      return null;
    }
    renew(shard, texts[best]);
    return NearMatch.of(texts[best], found[best]);
  }

  /** Counts a band for each live text that has it, unless the band is boilerplate. */
  private void count(@Nullable ExactEntry first) {
    if (isBoilerplate(first)) {
      return;
    }
    for (ExactEntry entry = first; entry != null; entry = entry.next()) {
      long text = ByteBuffer.wrap(entry.key()).getLong();
      int at = 0;
      while (at < textCount && texts[at] != text) {
        at++;
      }
      if (at == textCount) {
        texts[at] = text;
        found[at] = 0;
        textCount++;
      }
      found[at]++;
    }
  }

  private static boolean isBoilerplate(@Nullable ExactEntry first) {
    return ExactEntry.count(first) >= EqualBands.MAX_TEXTS_OF_BAND;
  }

  /** Inserts a text after {@link #match}, without the bands that are boilerplate. */
  private void insert(ShardPages shard, Change<?> change) throws Exception {
    byte[] id = id(change.keyHash());
    ExactEntry alone = entries.entry(shard, id, null);
    ByteBuffer stored = ByteBuffer.allocate(Long.BYTES * rule.bands());
    for (int i = 0; i < rule.bands(); i++) {
      if (!isBoilerplate(textsOfBand[i])) {
        long band = change.bands()[i];
        ExactEntry others = textsOfBand[i];
        put(shard, band, others == null ? alone : entries.entry(shard, id, others));
        stored.putLong(band);
      }
    }
    byte[] bands =
        NearSet.isRenewed(shard) ? Arrays.copyOf(stored.array(), stored.position()) : null;
    put(shard, change.keyHash(), entries.entry(shard, bands, null));
  }

  private void put(ShardPages shard, long hash, ExactEntry entry) throws Exception {
    InsertionResult unused = filter.insert(shard, hash);
    entries.put(shard, hash, entry);
    sweep.countNewKey();
  }

  /** Renews a text and all of its bands if expiry is measured from when a text was last seen. */
  private void renew(ShardPages shard, long text) throws Exception {
    ExactEntry entry = NearSet.isRenewed(shard) ? entries.get(shard, text) : null;
    if (entry == null || !entries.isRenewed(shard, entry)) {
      return;
    }
    byte[] id = id(text);
    ByteBuffer bands = ByteBuffer.wrap(entry.key());
    while (bands.hasRemaining()) {
      long band = bands.getLong();
      ExactEntry first = entries.get(shard, band);
      ExactEntry others = without(first, id);
      if (!Objects.equals(others, first)) {
        renew(shard, band, id, others);
      }
    }
    renew(shard, text, entry.key(), null);
  }

  private void renew(ShardPages shard, long hash, byte[] key, @Nullable ExactEntry others)
      throws Exception {
    InsertionResult unused = filter.insertIfAbsent(shard, hash);
    entries.put(shard, hash, entries.entry(shard, key, others));
  }

  @Override
  public boolean remove(ShardPages shard, Change<?> change) throws Exception {
    long text = change.keyHash();
    if (!filter.mightContain(shard, text)) {
      return false;
    }
    lookups.inc();
    if (entries.get(shard, text) == null) {
      return false;
    }
    byte[] id = id(text);
    for (int i = 0; i < rule.bands(); i++) {
      long band = change.bands()[i];
      ExactEntry first = filter.mightContain(shard, band) ? entries.get(shard, band) : null;
      ExactEntry others = without(first, id);
      if (!Objects.equals(others, first)) {
        delete(shard, band, others);
      }
    }
    delete(shard, text, null);
    return true;
  }

  private void delete(ShardPages shard, long hash, @Nullable ExactEntry others) throws Exception {
    entries.putOrRemove(shard, hash, others);
    boolean unused = filter.deleteUnlessSaturated(shard, hash);
  }

  private static byte[] id(long text) {
    return ByteBuffer.allocate(Long.BYTES).putLong(text).array();
  }

  /** Returns the list without a text; the list itself if the text is not in it. */
  private static @Nullable ExactEntry without(@Nullable ExactEntry first, byte[] id) {
    return first == null ? null : first.without(entry -> Arrays.equals(entry.key(), id));
  }

  @Override
  public void sweep() throws Exception {
    sweep.run();
  }

  @Override
  public void flush() throws Exception {
    entries.flush();
  }

  @Override
  public void register(MetricGroup metrics) {
    metrics.counter("exactLookups", lookups);
    metrics.counter("exactRescues", rescues);
  }
}
