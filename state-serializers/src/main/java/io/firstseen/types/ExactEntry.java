package io.firstseen.types;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The entry of an exact set under one 64-bit hash: a live key, and a list of further live keys with
 * the same hash. Immutable.
 *
 * @param endMillis with a ttl, the end of the epoch that the key's time lies in, in milliseconds; 0
 *     without one
 * @param key the key, prefixed with its scope; null if only hashes are kept
 * @param next the next key with the same hash, or null; always null if only hashes are kept
 */
// Equality by content is written out below. It is not recursive, because there may be any number of
// keys with equal hashes.
@SuppressWarnings({"ArrayRecordComponent", "ReferenceEquality"})
public record ExactEntry(long endMillis, byte @Nullable [] key, @Nullable ExactEntry next) {
  /** A hash without a key and without a time. */
  public static final ExactEntry HASH = new ExactEntry(0, null, null);

  /** Returns the number of entries of a list; null is the empty list. */
  public static int count(@Nullable ExactEntry first) {
    int count = 0;
    for (ExactEntry entry = first; entry != null; entry = entry.next) {
      count++;
    }
    return count;
  }

  /**
   * Returns the list from this entry on without some entries, or null if no entry remains. The
   * entries after the last removed entry are shared with this list.
   */
  public @Nullable ExactEntry without(Predicate<ExactEntry> out) {
    ExactEntry lastOut = null;
    for (ExactEntry entry = this; entry != null; entry = entry.next) {
      if (out.test(entry)) {
        lastOut = entry;
      }
    }
    if (lastOut == null) {
      return this;
    }
    List<ExactEntry> kept = new ArrayList<>();
    for (ExactEntry entry = this; entry != lastOut; entry = entry.next) {
      if (!out.test(entry)) {
        kept.add(entry);
      }
    }
    ExactEntry first = lastOut.next;
    for (int i = kept.size() - 1; i >= 0; i--) {
      first = new ExactEntry(kept.get(i).endMillis, kept.get(i).key, first);
    }
    return first;
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof ExactEntry that)) {
      return false;
    }
    ExactEntry a = this;
    ExactEntry b = that;
    while (a != b) {
      if (a == null || b == null || a.endMillis != b.endMillis || !Arrays.equals(a.key, b.key)) {
        return false;
      }
      a = a.next;
      b = b.next;
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = 1;
    for (ExactEntry entry = this; entry != null; entry = entry.next) {
      hash = (hash * 31 + Long.hashCode(entry.endMillis)) * 31 + Arrays.hashCode(entry.key);
    }
    return hash;
  }

  @Override
  public String toString() {
    return "ExactEntry[endMillis=%d, key=%s%s]"
        .formatted(endMillis, Arrays.toString(key), next == null ? "" : ", and others");
  }
}
