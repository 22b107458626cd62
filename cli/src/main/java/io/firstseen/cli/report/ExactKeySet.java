package io.firstseen.cli.report;

import java.util.HashSet;
import java.util.Set;

/**
 * The exact set: a {@link HashSet} of the keys, as strings with one byte per character, Java's most
 * compact representation. The set grows as keys are added.
 */
final class ExactKeySet {
  // HotSpot's layout with compressed references.
  private static final int OBJECT_ALIGNMENT_BYTES = 8;
  private static final int ARRAY_HEADER_BYTES = 16;
  private static final int REFERENCE_BYTES = 4;
  private static final int STRING_BYTES = 24;
  private static final int NODE_BYTES = 32;
  private static final int SET_AND_MAP_BYTES = 16 + 48;

  private static final int MIN_TABLE = 16;

  private ExactKeySet() {}

  static ComparedSet<String[]> of(String[] keys) {
    Set<String> set = new HashSet<>();
    for (String key : keys) {
      set.add(key);
    }
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
