package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.types.KeyEpochs;
import org.jspecify.annotations.Nullable;

/**
 * The live keys of a shard after a window.
 *
 * @param rests the suffixes of their hashes: the bits below the shard bits
 * @param epochs the expiry windows in which they were accepted last; null without a ttl
 */
record LiveKeys(GolombCodedSet rests, @Nullable KeyEpochs epochs) {

  /** An empty set, whose suffixes have {@code restBits} bits. */
  static LiveKeys none(int restBits, boolean withEpochs) {
    return new LiveKeys(
        GolombCodedSet.of(new long[0], restBits),
        withEpochs ? new KeyEpochs(new long[0], new long[0], new byte[0]) : null);
  }

  long count() {
    return rests.count();
  }
}
