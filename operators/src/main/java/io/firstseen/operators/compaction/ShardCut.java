package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.ValueCursor;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotDeltaWriter;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotWriter;
import io.firstseen.types.ShardChain;

/**
 * What a shard publishes of a window that changed its keys.
 *
 * @param live the keys after the window
 * @param base a snapshot of them, or null
 * @param delta what leads to them from what was published last, or null; one of both is there
 * @param chain what decides on the next
 */
record ShardCut(LiveKeys live, Snapshot base, SnapshotDelta delta, ShardChain chain) {

  /**
   * Applies a change and cuts base and delta as the rule wants them.
   *
   * @param chain what was published before; null if nothing was
   */
  static ShardCut of(
      WindowChange change, ShardChain chain, ChainRule rule, SnapshotParameters parameters)
      throws MalformedGolombCodedSetException {
    int restBits = Long.SIZE - parameters.set().shards().bits();
    if (!rule.goesOn(chain, change.count())) {
      int valueBits = parameters.set().valueBitsFor(change.count());
      CoarseChanges values = new CoarseChanges(restBits - valueBits, null);
      LiveKeys live = change.apply(values);
      values.finish();
      Snapshot base = base(live.rests(), valueBits, values.count(), parameters);
      return new ShardCut(live, base, null, begun(base));
    }
    int valueBits = chain.valueBits();
    SnapshotDeltaWriter writer =
        new SnapshotDeltaWriter(parameters, valueBits, chain.count(), chain.setDigest());
    CoarseChanges values = new CoarseChanges(restBits - valueBits, writer);
    LiveKeys live = change.apply(values);
    SnapshotDelta delta = writer.finish(live.count(), values.finish());
    long bytes = delta.asByteBuffer().remaining();
    if (!rule.needsBase(chain, bytes, parameters.windowEndMillis())) {
      return new ShardCut(live, null, delta, chain.with(delta));
    }
    Snapshot base = base(live.rests(), valueBits, values.count(), parameters);
    boolean smaller = bytes < base.asByteBuffer().remaining();
    return new ShardCut(live, base, smaller ? delta : null, begun(base));
  }

  private static Snapshot base(
      GolombCodedSet rests, int valueBits, long count, SnapshotParameters parameters)
      throws MalformedGolombCodedSetException {
    SnapshotWriter writer = new SnapshotWriter(parameters, valueBits, count, rests.count());
    int droppedBits = rests.valueBits() - valueBits;
    ValueCursor cursor = rests.cursor();
    long[] block = new long[512];
    boolean first = true;
    long last = 0;
    for (int length = cursor.read(block); length > 0; length = cursor.read(block)) {
      for (int i = 0; i < length; i++) {
        long value = block[i] >>> droppedBits;
        if (first || value != last) {
          writer.add(value);
        }
        first = false;
        last = value;
      }
    }
    return writer.finish();
  }

  private static ShardChain begun(Snapshot base) {
    return new ShardChain(
        base.header().valueBits(),
        base.header().count(),
        base.header().setDigest(),
        base.header().hashCount(),
        base.asByteBuffer().remaining(),
        base.header().parameters().windowEndMillis(),
        0,
        0);
  }
}
