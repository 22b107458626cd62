package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.SectionWriter;
import io.firstseen.filters.snapshot.ShardCut;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;

/** The keys of a shard in state, and their change in a window. */
final class WindowKeys implements ShardCut.Keys<MalformedGolombCodedSetException> {
  private final WindowChange change;
  private final int shardBits;
  private @Nullable LiveKeys live;

  WindowKeys(WindowChange change, int shardBits) {
    this.change = change;
    this.shardBits = shardBits;
  }

  @Override
  public long count() {
    return change.count();
  }

  @Override
  public ShardCut.Values change(Universe universe, @Nullable SectionWriter section)
      throws MalformedGolombCodedSetException {
    CoarseChanges values = new CoarseChanges(shardBits, universe, section);
    live = change.apply(values);
    return new ShardCut.Values(values.finish(), values.count());
  }

  @Override
  public PrimitiveIterator.OfLong values(Universe universe) {
    return new CoarseValues(live.suffixes(), shardBits, universe);
  }

  /** Returns the keys after the window, once {@link #change} was called. */
  LiveKeys live() {
    return live;
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
