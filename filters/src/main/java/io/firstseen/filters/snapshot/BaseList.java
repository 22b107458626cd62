package io.firstseen.filters.snapshot;

import io.firstseen.filters.key.Shards;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A blob that names the base of each shard, and contains the sections of the windows since each
 * base. Together they form the set at the end of a window, except for shards that are contained
 * whole in the pack of the next window. Specified in {@code docs/format/blob-v1.md}.
 *
 * @param setName the name of the set
 * @param sequence the list holds all changes of the windows up to this one
 * @param shards every shard once, in order
 */
public record BaseList(String setName, long sequence, List<Shard> shards) {
  /** The maximum number of sections per shard. */
  public static final int MAX_SECTIONS = 4_096;

  /**
   * A base and the sections that follow it, the oldest first.
   *
   * @param base null for a shard that never held a key, or that the next pack contains whole; such
   *     a shard has no sections
   */
  public record Shard(@Nullable BlobReference base, List<Section> sections) {
    /** A shard without a base. */
    public static final Shard NONE = new Shard(null, List.of());

    /** Rejects sections without a base. */
    public Shard {
      sections = List.copyOf(sections);
      if (base == null && !sections.isEmpty()) {
        throw new IllegalArgumentException("a shard with sections must have a base");
      }
      if (sections.size() > MAX_SECTIONS) {
        throw new IllegalArgumentException(
            "a shard must have at most " + MAX_SECTIONS + " sections, got " + sections.size());
      }
    }
  }

  /** Rejects numbers that are out of range. */
  public BaseList {
    SnapshotTopicFormat.requireSetName(setName);
    SnapshotParameters.requireSequence(sequence);
    shards = List.copyOf(shards);
  }

  /** Returns the bases that the list names. */
  public List<BlobReference> bases() {
    return shards.stream().map(Shard::base).filter(Objects::nonNull).toList();
  }

  /** Returns the bytes of the blob. */
  public byte[] toBytes() {
    return BlobFrame.join(
        BlobFrame.Kind.BASE_LIST,
        setName,
        out -> {
          out.leb(sequence).leb(shards.size());
          for (Shard shard : shards) {
            if (shard.base == null) {
              out.leb(0);
            } else {
              out.leb(shard.base.bytes()).digest(shard.base.digest()).leb(shard.sections.size());
              shard.sections.forEach(section -> out.leb(section.length()));
            }
          }
          for (Shard shard : shards) {
            shard.sections.forEach(section -> out.bytes(section.toByteBuffer()));
          }
        });
  }

  /**
   * Reads a list.
   *
   * @param blob the remaining bytes, which must not change afterwards
   * @param shardCount the number of shards that the list must have
   * @throws MalformedSnapshotException if it is not a list of this set
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static BaseList read(ByteBuffer blob, String setName, int shardCount)
      throws SnapshotException {
    return read(blob, setName, shardCount, shardCount);
  }

  /** Like {@link #read(ByteBuffer, String, int)}, for any number of shards. */
  public static BaseList read(ByteBuffer blob, String setName) throws SnapshotException {
    return read(blob, setName, 1, Shards.MAX_COUNT);
  }

  private static BaseList read(ByteBuffer blob, String setName, int minShards, int maxShards)
      throws SnapshotException {
    FieldReader in = BlobFrame.open(blob, BlobFrame.Kind.BASE_LIST, setName);
    long sequence = in.leb("the sequence");
    long shardCount = in.leb("the number of shards", minShards, maxShards);
    List<BlobReference> bases = new ArrayList<>();
    List<int[]> lengths = new ArrayList<>();
    for (int shard = 0; shard < shardCount; shard++) {
      long bytes = in.leb("the length of the base", 0, Integer.MAX_VALUE);
      bases.add(bytes == 0 ? null : new BlobReference(in.digest("the digest of the base"), bytes));
      int count = bytes == 0 ? 0 : in.count("the number of sections", 0, MAX_SECTIONS, 1);
      int[] ofShard = new int[count];
      for (int i = 0; i < count; i++) {
        ofShard[i] = (int) in.leb("the length of a section", 1, Integer.MAX_VALUE);
      }
      lengths.add(ofShard);
    }
    List<Shard> shards = new ArrayList<>();
    for (int shard = 0; shard < shardCount; shard++) {
      List<Section> sections = new ArrayList<>();
      for (int length : lengths.get(shard)) {
        sections.add(Section.read(in.slice(length, "a section")));
      }
      shards.add(new Shard(bases.get(shard), sections));
    }
    in.requireEnd();
    return new BaseList(setName, sequence, shards);
  }
}
