package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.types.KeyEpochs;
import org.jspecify.annotations.Nullable;

/**
 * The live keys of a shard after a window.
 *
 * @param suffixes the suffixes of their hashes: the bits below the shard bits
 * @param expiryWindows the expiry windows in which the keys were last accepted; null without a ttl
 */
record LiveKeys(GolombCodedSet suffixes, @Nullable KeyEpochs expiryWindows) {

  /** Returns an empty set, whose suffixes have {@code suffixBits} bits. */
  static LiveKeys none(int suffixBits, boolean withExpiryWindows) {
    return new LiveKeys(
        GolombCodedSet.of(new long[0], Universe.ofBits(suffixBits, 0)),
        withExpiryWindows ? new KeyEpochs(new long[0], new long[0], new byte[0]) : null);
  }

  int suffixBits() {
    return suffixes.universe().range().bitLength() - 1;
  }

  long count() {
    return suffixes.count();
  }
}
