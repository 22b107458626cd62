package io.firstseen.operators.dedup.live;

import static io.firstseen.operators.dedup.live.AuditedSet.isAudited;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.near.EqualBands;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.ExactEntry;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.jspecify.annotations.Nullable;

/**
 * A near-duplicate set that keeps live texts under one hash in N, compares them with new texts by
 * the exact similarity of their shingles, and so measures precision and recall.
 *
 * <p>A live text is kept under each of its hashes that is audited: of its bands, of the whole text
 * and of its sample.
 *
 * <ul>
 *   <li>Precision: a dropped text is audited if the hash is that found its match. All live texts
 *       with this hash are known, so the drop is wrong if none of them is similar.
 *   <li>Recall: a text is audited if its sample is, a band that does not decide about a match. A
 *       similar live text has the same sample with a probability that only depends on the
 *       similarity. Pairs of a higher similarity than necessary are thinned out, so that all pairs
 *       are audited with the same probability.
 * </ul>
 *
 * <p>The key of an entry is the hash of the whole text, and the text. Texts that were dropped
 * wrongly are kept without text, so that their repeats are not counted as new texts.
 */
public final class AuditedNearSet implements LiveSet {
  /** Two texts resemble each other if they match at least with this probability. */
  private static final double RESEMBLE = 0.95;

  /** A match is wrong if two texts of its similarity match at most with this probability. */
  private static final double WRONG = 0.05;

  /** The live texts of a hash, and as many dropped texts. */
  private static final int MAX_ENTRIES = 2 * EqualBands.MAX_TEXTS_OF_BAND;

  private final NearSet set;
  private final NearRule rule;
  private final int slices;
  private final HashEntries texts;
  private final EntrySweep sweep;
  private final AuditTrials newTexts;
  private final AuditTrials matches;
  private final AuditTrials similar;
  private final Counter falselyDropped = new SimpleCounter();
  private final TextSignature signature;
  private final double resembling;
  private final double wrong;

  /**
   * @param slices N: one hash in N is audited; at least 1
   * @param trials of new texts, of which those that the filter alone drops are failures; of dropped
   *     texts, of which those without a similar live text are failures; and of texts with a similar
   *     live text, of which accepted ones are failures
   */
  public AuditedNearSet(
      NearSet set,
      NearRule rule,
      int slices,
      HashEntries texts,
      EntrySweep sweep,
      List<AuditTrials> trials) {
    this.set = set;
    this.rule = rule;
    this.slices = slices;
    this.texts = texts;
    this.sweep = sweep;
    newTexts = trials.get(0);
    matches = trials.get(1);
    similar = trials.get(2);
    signature = new TextSignature(rule, KeyHash.fixed());
    resembling = rule.similarityAt(RESEMBLE);
    wrong = rule.similarityAt(WRONG);
  }

  @Override
  public Addition add(ShardPages shard, Change<?> change) throws Exception {
    boolean isNew = set.add(shard, change) == Addition.NEW;
    countIfSimilar(shard, change, isNew);
    if (isNew) {
      if (isAudited(change.keyHash(), slices)) {
        newTexts.count(shard, false, shard.predictedFalsePositiveRate(rule));
      }
      keep(shard, change);
      sweep.countNewKey();
      return Addition.NEW;
    }
    boolean isFalse = isAudited(set.matchedHash(), slices) && isFalselyDropped(shard, change);
    renew(shard, change);
    if (isFalse) {
      falselyDropped.inc();
      return Addition.FALSELY_DROPPED;
    }
    return Addition.KNOWN;
  }

  private void countIfSimilar(ShardPages shard, Change<?> change, boolean isNew) throws Exception {
    long sample = sample(change);
    if (!isAudited(sample, slices)) {
      return;
    }
    double most = 0;
    long other = 0;
    int count = 0;
    for (ExactEntry each = texts.get(shard, sample); each != null; each = each.next()) {
      if (hash(each) == change.keyHash()) {
        return;
      }
      count++;
      double similarity = similarity(change, each);
      if (similarity > most) {
        most = similarity;
        other = hash(each);
      }
    }
    if (count == EqualBands.MAX_TEXTS_OF_BAND || most < resembling) {
      return;
    }
    // The bits of two hashes that differ are as good as a random number.
    double random = ((other ^ change.keyHash()) >>> 11) * 0x1p-53;
    if (random < Math.pow(resembling / most, rule.rows())) {
      similar.count(shard, isNew, 1 - rule.matchProbability(most));
    }
  }

  /** Counts a dropped text; returns whether it is new and no live text is similar. */
  private boolean isFalselyDropped(ShardPages shard, Change<?> change) throws Exception {
    ExactEntry first = texts.get(shard, set.matchedHash());
    double most = 0;
    boolean byFilter = true;
    boolean isRepeat = false;
    int count = 0;
    for (ExactEntry each = first; each != null; each = each.next()) {
      count++;
      if (hash(each) == change.keyHash()) {
        if (hasText(each)) {
          return false;
        }
        isRepeat = true;
      } else if (hasText(each)) {
        byFilter &= !set.mayMatch(hash(each));
        most = Math.max(most, similarity(change, each));
      }
    }
    matches.count(shard, most < wrong, 0);
    if (most >= wrong || isRepeat) {
      return false;
    }
    newTexts.count(shard, byFilter, shard.predictedFalsePositiveRate(rule));
    if (count < MAX_ENTRIES) {
      byte[] hash = ByteBuffer.allocate(Long.BYTES).putLong(change.keyHash()).array();
      texts.put(shard, set.matchedHash(), texts.entry(shard, hash, first));
    }
    return true;
  }

  /** Keeps a new text under its audited hashes, as far as the filter stores them. */
  private void keep(ShardPages shard, Change<?> change) throws Exception {
    byte[] key = null;
    for (int i = 0; i < change.bands().length; i++) {
      long hash = change.bands()[i];
      if (!isAudited(hash, slices)) {
        continue;
      }
      ExactEntry others = without(texts.get(shard, hash), change);
      boolean isSample = i == rule.hashes();
      if (isSample ? ExactEntry.count(others) < EqualBands.MAX_TEXTS_OF_BAND : set.stores(i)) {
        key = key == null ? keyOf(change) : key;
        texts.put(shard, hash, texts.entry(shard, key, others));
      }
    }
  }

  /**
   * Renews what the filter renews: the matching texts under the hashes of a dropped text. The
   * sample belongs to the dropped text.
   */
  private void renew(ShardPages shard, Change<?> change) throws Exception {
    if (!NearSet.isRenewed(shard)) {
      return;
    }
    for (int i = 0; i < change.bands().length; i++) {
      long hash = change.bands()[i];
      if (!isAudited(hash, slices)) {
        continue;
      }
      boolean isSample = i == rule.hashes();
      ExactEntry first = texts.get(shard, hash);
      ExactEntry renewed = null;
      boolean changed = false;
      for (ExactEntry each = first; each != null; each = each.next()) {
        boolean matching =
            isSample ? hash(each) == change.keyHash() : hasText(each) && set.mayMatch(hash(each));
        boolean due = matching && texts.isRenewed(shard, each);
        renewed =
            due
                ? texts.entry(shard, each.key(), renewed)
                : new ExactEntry(each.endMillis(), each.key(), renewed);
        changed |= due;
      }
      if (changed) {
        texts.put(shard, hash, renewed);
      }
    }
  }

  @Override
  public boolean remove(ShardPages shard, Change<?> change) throws Exception {
    boolean removed = set.remove(shard, change);
    for (int i = 0; removed && i < change.bands().length; i++) {
      long hash = change.bands()[i];
      ExactEntry first = isAudited(hash, slices) ? texts.get(shard, hash) : null;
      ExactEntry others = without(first, change);
      if (!Objects.equals(others, first)) {
        texts.putOrRemove(shard, hash, others);
      }
    }
    return removed;
  }

  private double similarity(Change<?> change, ExactEntry entry) {
    byte[] text = Arrays.copyOfRange(entry.key(), Long.BYTES, entry.key().length);
    return signature.similarity(ScopedKey.key(change.key()), text);
  }

  private static long sample(Change<?> change) {
    return change.bands()[change.bands().length - 1];
  }

  private static byte[] keyOf(Change<?> change) {
    byte[] text = ScopedKey.key(change.key());
    return ByteBuffer.allocate(Long.BYTES + text.length)
        .putLong(change.keyHash())
        .put(text)
        .array();
  }

  private static long hash(ExactEntry entry) {
    return ByteBuffer.wrap(entry.key()).getLong();
  }

  private static boolean hasText(ExactEntry entry) {
    return entry.key().length > Long.BYTES;
  }

  private static @Nullable ExactEntry without(@Nullable ExactEntry first, Change<?> change) {
    return first == null ? null : first.without(each -> hash(each) == change.keyHash());
  }

  @Override
  public void sweep() throws Exception {
    set.sweep();
    sweep.run();
  }

  @Override
  public void flush() throws Exception {
    set.flush();
    texts.flush();
    newTexts.flush();
    matches.flush();
    similar.flush();
  }

  @Override
  public void register(MetricGroup metrics) {
    set.register(metrics);
    metrics.counter("falselyDropped", falselyDropped);
    newTexts.registerFalsePositives(metrics);
    matches.registerSuccesses(
        metrics, "auditedDuplicates", "auditedWrongDuplicates", "measuredPrecision");
    similar.registerSuccesses(metrics, "auditedNearDuplicates", "auditedMisses", "measuredRecall");
    metrics.gauge("auditedPredictedRecall", () -> 1 - similar.share(AuditCounts::predicted));
  }
}
