package io.firstseen.filters.snapshot;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A blob with the changes of one window: a section for each changed shard. It also names the blobs
 * from which a reader reaches the set. Specified in {@code docs/format/blob-v1.md}.
 *
 * <p>The packs of a set are a chain. A position in the chain is a number of bytes, the total length
 * of all packs up to a manifest: {@link Manifest#packBytes}.
 *
 * @param setName the name of the set
 * @param sequence the sequence of the window
 * @param before the pack of the previous window that changed the set; null for the first pack
 * @param keptFrom a position in the chain: readers at this position or later can reach this set by
 *     packs, because all packs after it are kept
 * @param bases the newest list of bases
 * @param basesBytes the bytes of that list and of the bases that it names
 * @param packsSince the bytes of the previous packs whose windows are not in that list
 * @param sections the sections of the changed shards, by the number of the shard; at least one
 */
public record Pack(
    String setName,
    long sequence,
    @Nullable BlobReference before,
    long keptFrom,
    BlobReference bases,
    long basesBytes,
    long packsSince,
    SortedMap<Integer, Section> sections) {

  /** The minimum length of a pack after the first pack. */
  static final int MIN_BYTES = 64;

  /** The maximum number of packs that a reader follows. */
  static final int MAX_CHAIN = 4_096;

  private static final int MIN_SECTION_BYTES = 2;

  /** Rejects numbers that are out of range. */
  public Pack {
    SnapshotTopicFormat.requireSetName(setName);
    SnapshotParameters.requireSequence(sequence);
    sections = Collections.unmodifiableSortedMap(new TreeMap<>(sections));
    if (sections.isEmpty()) {
      throw new IllegalArgumentException("a pack must have a section");
    }
    requireBytes("keptFrom", keptFrom, 0);
    requireBytes("basesBytes", basesBytes, bases.bytes());
    requireBytes("packsSince", packsSince, 0);
  }

  private static void requireBytes(String name, long bytes, long min) {
    if (bytes < min || bytes > Manifest.MAX_BYTES) {
      throw new IllegalArgumentException(name + " must be in [" + min + ", 2^53], got " + bytes);
    }
  }

  /** Returns the bytes of the blob. */
  public byte[] toBytes() {
    return BlobFrame.join(
        BlobFrame.Kind.PACK,
        setName,
        out -> {
          out.leb(sequence).u8(before == null ? 0 : 1);
          if (before != null) {
            out.reference(before);
          }
          out.leb(keptFrom).reference(bases).leb(basesBytes).leb(packsSince).leb(sections.size());
          int next = 0;
          for (Map.Entry<Integer, Section> section : sections.entrySet()) {
            out.leb(section.getKey() - next).leb(section.getValue().length());
            next = section.getKey() + 1;
          }
          sections.values().forEach(section -> out.bytes(section.toByteBuffer()));
        });
  }

  /**
   * Returns the sequence of a pack.
   *
   * @param begin the remaining bytes are the first bytes of a blob
   * @return empty if they are not the beginning of a pack that this version can read
   */
  public static OptionalLong peekSequence(ByteBuffer begin) {
    try {
      FieldReader in = new FieldReader(begin);
      return BlobFrame.read(in).kind() == BlobFrame.Kind.PACK
          ? OptionalLong.of(in.leb("the sequence"))
          : OptionalLong.empty();
    } catch (SnapshotException e) {
      return OptionalLong.empty();
    }
  }

  /**
   * Reads a pack. Its sections are not decoded.
   *
   * @param blob the remaining bytes, which must not change afterwards
   * @param shardCount the number of shards of the set
   * @throws MalformedSnapshotException if it is not a pack of this set
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static Pack read(ByteBuffer blob, String setName, int shardCount)
      throws SnapshotException {
    FieldReader in = BlobFrame.open(blob, BlobFrame.Kind.PACK, setName);
    long sequence = in.leb("the sequence");
    int hasBefore = in.u8("the mark of the previous pack");
    SnapshotFormat.requireThat(
        hasBefore <= 1, "the mark of the previous pack must be 0 or 1, got " + hasBefore);
    BlobReference before = hasBefore == 1 ? in.reference("the previous pack") : null;
    long keptFrom = in.leb("keptFrom", 0, Manifest.MAX_BYTES);
    BlobReference bases = in.reference("the list of bases");
    long basesBytes = in.leb("basesBytes", bases.bytes(), Manifest.MAX_BYTES);
    long packsSince = in.leb("packsSince", 0, Manifest.MAX_BYTES);
    int count = in.count("the number of sections", 1, shardCount, MIN_SECTION_BYTES);
    int[] shards = new int[count];
    int[] lengths = new int[count];
    int next = 0;
    for (int i = 0; i < count; i++) {
      shards[i] = next + (int) in.leb("the gap to the next shard", 0, shardCount - 1L - next);
      lengths[i] = (int) in.leb("the length of a section", 1, Integer.MAX_VALUE);
      next = shards[i] + 1;
    }
    SortedMap<Integer, Section> sections = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      sections.put(shards[i], Section.read(in.slice(lengths[i], "a section")));
    }
    in.requireEnd();
    return new Pack(setName, sequence, before, keptFrom, bases, basesBytes, packsSince, sections);
  }
}
