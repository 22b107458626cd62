package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.key.Shards;
import java.nio.ByteBuffer;

/** A blob that contains the whole set of one shard. Specified in {@code docs/format/blob-v1.md}. */
public final class Base {

  private Base() {}

  /**
   * Writes a base.
   *
   * @param whole a section with the whole set of the shard
   */
  public static byte[] write(String setName, int shard, Section whole) {
    if (!whole.isWhole()) {
      throw new IllegalArgumentException("a base must have a whole set");
    }
    return BlobFrame.join(
        BlobFrame.Kind.BASE, setName, out -> out.leb(shard).bytes(whole.toByteBuffer()));
  }

  /**
   * Returns the shard of a base.
   *
   * @param blob as in {@link #read}
   * @throws MalformedSnapshotException if it is not a base of this set
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static int shardOf(ByteBuffer blob, String setName) throws SnapshotException {
    return shard(BlobFrame.open(blob, BlobFrame.Kind.BASE, setName));
  }

  private static int shard(FieldReader in) throws SnapshotException {
    return (int) in.leb("the shard", 0, Shards.MAX_COUNT - 1L);
  }

  /**
   * Reads the set of a shard from its base.
   *
   * @param blob the remaining bytes, which must not change afterwards
   * @throws MalformedSnapshotException if it is not a base of this set and shard
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static Section read(ByteBuffer blob, String setName, int shard) throws SnapshotException {
    FieldReader in = BlobFrame.open(blob, BlobFrame.Kind.BASE, setName);
    int found = shard(in);
    requireThat(found == shard, "the base must be of shard " + shard + ", got " + found);
    Section section = Section.read(in.slice(in.remaining(), "the section"));
    requireThat(section.isWhole(), "a base must have a whole set");
    return section;
  }
}
