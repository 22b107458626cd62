package io.firstseen.types;

import io.firstseen.filters.cuckoo.PageDirectory;
import java.util.Arrays;

/**
 * A summary of a shard's filter, which can be read without its pages.
 *
 * @param keys the number of stored identities (fingerprints)
 * @param slots the number of slots in its pages
 * @param bytes the length of its pages' bodies
 * @param directory the pages that exist, in the form of {@link
 *     io.firstseen.filters.cuckoo.PageDirectory#toBytes}
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record ShardSummary(long keys, long slots, long bytes, byte[] directory) {

  /** Rejects negative numbers and bytes that are not a directory. */
  public ShardSummary {
    if (keys < 0 || slots < 0 || bytes < 0) {
      throw new IllegalArgumentException(
          "a shard must have 0 or more keys, slots and bytes, got %d, %d and %d"
              .formatted(keys, slots, bytes));
    }
    PageDirectory.of(directory);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ShardSummary that
        && keys == that.keys
        && slots == that.slots
        && bytes == that.bytes
        && Arrays.equals(directory, that.directory);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(new long[] {keys, slots, bytes, Arrays.hashCode(directory)});
  }
}
