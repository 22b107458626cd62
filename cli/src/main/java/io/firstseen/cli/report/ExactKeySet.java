package io.firstseen.cli.report;

import java.util.HashSet;
import java.util.Set;

/**
 * The exact set: a {@link HashSet} of the keys, as strings with one byte per character, Java's most
 * compact representation. The set grows as keys are added.
 */
final class ExactKeySet implements ComparedSet<String[]> {
  // HotSpot's layout with compressed references.
  private static final int OBJECT_ALIGNMENT_BYTES = 8;
  private static final int ARRAY_HEADER_BYTES = 16;
  private static final int REFERENCE_BYTES = 4;
  private static final int STRING_BYTES = 24;
  private static final int NODE_BYTES = 32;
  private static final int SET_AND_MAP_BYTES = 16 + 48;

  private static final int MIN_TABLE = 16;

  private final Set<String> keys = new HashSet<>();

  private ExactKeySet() {}

  static ExactKeySet of(String[] keys) {
    ExactKeySet set = new ExactKeySet();
    for (String key : keys) {
      set.keys.add(key);
    }
    return set;
  }

  boolean contains(String key) {
    return keys.contains(key);
  }

  @Override
  public int claimed(String[] probes) {
    int claimed = 0;
    for (String probe : probes) {
      claimed += keys.contains(probe) ? 1 : 0;
    }
    return claimed;
  }

  /** {@inheritDoc} Includes the table, a node per key, the strings and their characters. */
  @Override
  public long sizeBytes() {
    long bytes = SET_AND_MAP_BYTES + ARRAY_HEADER_BYTES + REFERENCE_BYTES * tableLength();
    for (String key : keys) {
      bytes += NODE_BYTES + STRING_BYTES + aligned(ARRAY_HEADER_BYTES + key.length());
    }
    return bytes;
  }

  /** The table doubles when its load reaches three quarters. */
  private long tableLength() {
    long length = MIN_TABLE;
    while (length / 4 * 3 < keys.size()) {
      length *= 2;
    }
    return length;
  }

  private static long aligned(long bytes) {
    return (bytes + OBJECT_ALIGNMENT_BYTES - 1) / OBJECT_ALIGNMENT_BYTES * OBJECT_ALIGNMENT_BYTES;
  }

  @Override
  public double predictedFalsePositiveRate() {
    return 0;
  }
}
