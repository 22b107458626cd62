package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.types.KeyEpochs;

/**
 * The live keys of a shard after a window.
 *
 * @param rests their hashes without the shard bits
 * @param epochs when they were accepted last; null without a ttl
 */
record LiveKeys(GolombCodedSet rests, KeyEpochs epochs) {

  /** No keys, with {@code restBits} to each. */
  static LiveKeys none(int restBits, boolean withEpochs) {
    return new LiveKeys(
        GolombCodedSet.of(new long[0], restBits),
        withEpochs ? new KeyEpochs(new long[0], new long[0], new byte[0]) : null);
  }

  long count() {
    return rests.count();
  }
}
