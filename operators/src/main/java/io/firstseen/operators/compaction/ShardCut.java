package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.gcs.ValueCursor;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotDeltaWriter;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotWriter;
import io.firstseen.types.ShardChain;
import org.jspecify.annotations.Nullable;

/**
 * What a shard publishes for a window that changed its keys: a base, a delta, or both.
 *
 * @param live the keys after the window
 * @param base a snapshot of these keys, or null
 * @param delta the delta from the last published set to these keys, or null; base and delta are not
 *     both null
 * @param chain the chain after the window, from which {@link ChainRule} decides on the next blobs
 */
record ShardCut(
    LiveKeys live, @Nullable Snapshot base, @Nullable SnapshotDelta delta, ShardChain chain) {

  /**
   * Applies a change, and makes base and delta as the rule decides.
   *
   * @param chain the published chain before the window; null if the shard has published no blob
   */
  static ShardCut of(
      WindowChange change,
      @Nullable ShardChain chain,
      ChainRule rule,
      SnapshotParameters parameters)
      throws MalformedGolombCodedSetException {
    int shardBits = parameters.set().shards().bits();
    if (!rule.goesOn(chain, change.count())) {
      int headroomBits = ChainRule.headroomBits(chain, change.count());
      Universe universe = rule.universe(change.count(), headroomBits);
      CoarseChanges values = new CoarseChanges(shardBits, universe, null);
      LiveKeys live = change.apply(values);
      values.finish();
      Snapshot base = base(live.suffixes(), universe, values.count(), parameters);
      return new ShardCut(live, base, null, begun(base, headroomBits));
    }
    Universe universe = chain.universe();
    SnapshotDeltaWriter writer =
        new SnapshotDeltaWriter(parameters, universe, chain.count(), chain.setDigest());
    CoarseChanges values = new CoarseChanges(shardBits, universe, writer);
    LiveKeys live = change.apply(values);
    SnapshotDelta delta = writer.finish(live.count(), values.finish());
    long bytes = delta.asByteBuffer().remaining();
    if (!rule.needsBase(chain, bytes, parameters.windowEndMillis())) {
      return new ShardCut(live, null, delta, chain.with(delta));
    }
    Snapshot base = base(live.suffixes(), universe, values.count(), parameters);
    boolean smaller = bytes < base.asByteBuffer().remaining();
    return new ShardCut(live, base, smaller ? delta : null, begun(base, chain.headroomBits()));
  }

  private static Snapshot base(
      GolombCodedSet suffixes, Universe universe, long count, SnapshotParameters parameters)
      throws MalformedGolombCodedSetException {
    SnapshotWriter writer = new SnapshotWriter(parameters, universe, count, suffixes.count());
    int shardBits = parameters.set().shards().bits();
    ValueCursor cursor = suffixes.cursor();
    long[] block = new long[512];
    boolean first = true;
    long last = 0;
    for (int length = cursor.read(block); length > 0; length = cursor.read(block)) {
      for (int i = 0; i < length; i++) {
        long value = universe.valueOf(block[i] << shardBits);
        if (first || value != last) {
          writer.add(value);
        }
        first = false;
        last = value;
      }
    }
    return writer.finish();
  }

  private static ShardChain begun(Snapshot base, int headroomBits) {
    return new ShardChain(
        base.header().universe(),
        headroomBits,
        base.header().count(),
        base.header().setDigest(),
        base.header().hashCount(),
        base.asByteBuffer().remaining(),
        base.header().parameters().windowEndMillis(),
        0,
        0);
  }
}
