package io.firstseen.cli.report;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

/**
 * A filled set of one of the compared kinds, which contains all keys.
 *
 * @param <K> an array of query arguments: keys, or hashes of keys
 * @param claimed counts the probes for which the set returns present; a separate loop for each
 *     kind, because the JIT would compile a shared loop for the mix of kinds, which would slow down
 *     each of them
 */
record ComparedSet<K>(
    ToIntFunction<K> claimed, LongSupplier sizeBytes, DoubleSupplier predictedFalsePositiveRate) {
  // HotSpot's layout with compressed references.
  private static final int OBJECT_ALIGNMENT_BYTES = 8;
  private static final int ARRAY_HEADER_BYTES = 16;
  private static final int REFERENCE_BYTES = 4;
  private static final int STRING_BYTES = 24;
  private static final int NODE_BYTES = 32;
  private static final int SET_AND_MAP_BYTES = 16 + 48;
  private static final int MIN_TABLE = 16;

  /**
   * The exact set: a {@link HashSet} of the keys, as strings with one byte per character, Java's
   * most compact representation. The set grows as keys are added.
   */
  static ComparedSet<String[]> exact(String[] keys) {
    Set<String> set = new HashSet<>();
    Collections.addAll(set, keys);
    return new ComparedSet<>(
        probes -> {
          int claimed = 0;
          for (String probe : probes) {
            claimed += set.contains(probe) ? 1 : 0;
          }
          return claimed;
        },
        () -> sizeBytes(set),
        () -> 0);
  }

  /** The bytes of the table, a node per key, the strings and their characters. */
  private static long sizeBytes(Set<String> keys) {
    long bytes =
        SET_AND_MAP_BYTES + ARRAY_HEADER_BYTES + REFERENCE_BYTES * tableLength(keys.size());
    for (String key : keys) {
      bytes += NODE_BYTES + STRING_BYTES + aligned(ARRAY_HEADER_BYTES + key.length());
    }
    return bytes;
  }

  /** The table doubles when its load reaches three quarters. */
  private static long tableLength(int keys) {
    long length = MIN_TABLE;
    while (length / 4 * 3 < keys) {
      length *= 2;
    }
    return length;
  }

  private static long aligned(long bytes) {
    return (bytes + OBJECT_ALIGNMENT_BYTES - 1) / OBJECT_ALIGNMENT_BYTES * OBJECT_ALIGNMENT_BYTES;
  }
}
