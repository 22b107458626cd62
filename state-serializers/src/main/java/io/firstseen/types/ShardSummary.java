package io.firstseen.types;

import java.util.Arrays;

/**
 * What is known of a shard's filter without its pages.
 *
 * @param keys identities held
 * @param slots room for identities in its pages
 * @param bytes bytes of its pages' bodies
 * @param directory which pages there are, as {@link
 *     io.firstseen.filters.cuckoo.PageDirectory#toBytes} gives it
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record ShardSummary(long keys, long slots, long bytes, byte[] directory) {

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
