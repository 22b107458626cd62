package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.Base;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.SectionWriter;
import io.firstseen.types.ShardChain;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;

/**
 * The data that a shard publishes for a window that changed its keys.
 *
 * @param live the keys after the window
 * @param setDigest the digest of the published set of these keys
 * @param section the change from the previously published set, or the whole set
 * @param base the base of the set, or null; not null if the section is the whole set
 * @param chain the chain after the window, from which {@link ChainRule} decides on the next cut
 */
@SuppressWarnings("ArrayRecordComponent")
record ShardCut(
    LiveKeys live, String setDigest, Section section, byte @Nullable [] base, ShardChain chain) {

  /**
   * Applies a change, and creates section and base as {@link ChainRule} decides.
   *
   * @param chain the published chain before the window; null if the shard has published nothing
   */
  static ShardCut of(
      WindowChange change,
      @Nullable ShardChain chain,
      ChainRule rule,
      String setName,
      int shard,
      long windowEndMillis)
      throws MalformedGolombCodedSetException {
    boolean canContinue = rule.canContinue(chain, change.count());
    int headroomBits =
        canContinue ? chain.headroomBits() : ChainRule.headroomBits(chain, change.count());
    Universe universe =
        canContinue ? chain.universe() : rule.universe(change.count(), headroomBits);
    SectionWriter writer = canContinue ? new SectionWriter(universe, chain.count()) : null;
    int shardBits = rule.set().shards().bits();
    CoarseChanges values = new CoarseChanges(shardBits, universe, writer);
    LiveKeys live = change.apply(values);
    String setDigest = values.finish();
    Section section = canContinue ? writer.finish(live.count()) : null;
    if (canContinue && !rule.needsBase(chain, section.length(), windowEndMillis)) {
      return new ShardCut(
          live, setDigest, section, null, chain.with(values.count(), section.length()));
    }
    Section whole =
        Section.whole(
            new CoarseValues(live.suffixes(), shardBits, universe),
            universe,
            values.count(),
            live.count());
    byte[] base = Base.write(setName, shard, whole);
    ShardChain begun =
        new ShardChain(
            universe, headroomBits, values.count(), live.count(), base.length, windowEndMillis, 0);
    boolean isSmaller = canContinue && section.length() < whole.length();
    return new ShardCut(live, setDigest, isSmaller ? section : whole, base, begun);
  }

  /** The distinct values of some keys. */
  private static final class CoarseValues implements PrimitiveIterator.OfLong {
    private final PrimitiveIterator.OfLong suffixes;
    private final int shardBits;
    private final Universe universe;
    private long next;
    private boolean hasNext;

    CoarseValues(GolombCodedSet suffixes, int shardBits, Universe universe) {
      this.suffixes = suffixes.iterator();
      this.shardBits = shardBits;
      this.universe = universe;
      hasNext = this.suffixes.hasNext();
      next = hasNext ? valueOfNext() : 0;
    }

    private long valueOfNext() {
      return universe.valueOf(suffixes.nextLong() << shardBits);
    }

    @Override
    public boolean hasNext() {
      return hasNext;
    }

    @Override
    public long nextLong() {
      if (!hasNext) {
        throw new NoSuchElementException();
      }
      long value = next;
      do {
        hasNext = suffixes.hasNext();
        next = hasNext ? valueOfNext() : 0;
      } while (hasNext && next == value);
      return value;
    }
  }
}
