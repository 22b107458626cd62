package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.gcs.AscendingCode;
import io.firstseen.filters.gcs.BitReader;
import io.firstseen.filters.gcs.BitWriter;
import io.firstseen.filters.gcs.Universe;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;

/**
 * The change of one shard in a window, or the whole set of the shard. A change contains the added
 * values, and the indices of the removed values in the previous set. It has no digest: the root of
 * the {@link ShardTree} verifies all shards together.
 *
 * <p>Immutable and safe for use by many threads. Specified in {@code docs/format/blob-v1.md}.
 */
public final class Section {
  private static final int CHANGE = 1;
  private static final int WHOLE = 2;

  private final ByteBuffer bytes;
  // The bit position at which the codes begin.
  private final int codesAt;
  private final long hiddenCount;
  // Null for a change.
  private final @Nullable Universe universe;
  // The values of a whole set, or the added values.
  private final long count;
  private final long removedCount;
  private final long addedBits;

  private Section(
      ByteBuffer bytes,
      int codesAt,
      long hiddenCount,
      @Nullable Universe universe,
      long count,
      long removedCount,
      long addedBits) {
    this.bytes = bytes;
    this.codesAt = codesAt;
    this.hiddenCount = hiddenCount;
    this.universe = universe;
    this.count = count;
    this.removedCount = removedCount;
    this.addedBits = addedBits;
  }

  /**
   * Returns the whole set of a shard.
   *
   * @param values the values in ascending order
   * @param count how many there are
   * @param hashCount the number of distinct hashes that they stand for
   */
  public static Section whole(
      PrimitiveIterator.OfLong values, Universe universe, long count, long hashCount) {
    SnapshotWriter.requireHashCount(hashCount, count);
    AscendingCode code = new AscendingCode(count, universe.greatest());
    BitWriter codes = new BitWriter(count * (code.minBits() + 1L));
    code.encode(values, codes);
    FieldWriter out =
        new FieldWriter()
            .u8(WHOLE)
            .leb(hashCount - count)
            .leb(universe.buckets())
            .leb(universe.width())
            .leb(count);
    return written(out.bytes(codes.toBytes()));
  }

  /**
   * Returns the whole set of a snapshot.
   *
   * @throws UncheckedIOException if it has more hashes than a section can state
   */
  public static Section whole(Snapshot snapshot) {
    SnapshotHeader header = snapshot.header();
    requireHiddenCount(header);
    return whole(snapshot.values(), header.universe(), header.count(), header.hashCount());
  }

  /**
   * Returns the change from one snapshot of a shard to another; the whole set if their universes
   * differ.
   *
   * @throws UncheckedIOException if {@link Snapshot#verify} would reject a snapshot, or if the
   *     child has more hashes than a section can state
   */
  public static Section between(Snapshot parent, Snapshot child) {
    SnapshotHeader from = parent.header();
    SnapshotHeader to = child.header();
    requireHiddenCount(to);
    if (!from.universe().equals(to.universe())) {
      return whole(child);
    }
    SectionWriter change = new SectionWriter(to.universe(), from.count());
    addDifferences(parent, child, change);
    return change.finish(to.hashCount());
  }

  /** Adds the differences between two snapshots with the same universe to a change. */
  static void addDifferences(Snapshot parent, Snapshot child, SectionWriter change) {
    PrimitiveIterator.OfLong before = parent.values();
    PrimitiveIterator.OfLong after = child.values();
    boolean left = after.hasNext();
    long next = left ? after.nextLong() : 0;
    for (long place = 0; before.hasNext(); place++) {
      long value = before.nextLong();
      while (left && Long.compareUnsigned(next, value) < 0) {
        change.add(next);
        left = after.hasNext();
        next = left ? after.nextLong() : 0;
      }
      if (left && next == value) {
        left = after.hasNext();
        next = left ? after.nextLong() : 0;
      } else {
        change.remove(place);
      }
    }
    while (left) {
      change.add(next);
      left = after.hasNext();
      next = left ? after.nextLong() : 0;
    }
  }

  /**
   * Rejects a snapshot that states more hashes than a section can. A snapshot may state any number
   * of hashes.
   */
  private static void requireHiddenCount(SnapshotHeader header) {
    if (header.hashCount() - header.count() > Manifest.MAX_COUNT) {
      throw new UncheckedIOException(
          new MalformedSnapshotException(
              "shard %d of set '%s', sequence %d: the number of hashes may be at most %d more than the number of values, %d, got %d"
                  .formatted(
                      header.parameters().shard(),
                      header.parameters().setName(),
                      header.parameters().sequence(),
                      Manifest.MAX_COUNT,
                      header.count(),
                      header.hashCount())));
    }
  }

  static Section change(
      long hiddenCount, long addedCount, long removedCount, long addedBits, byte[] codes) {
    FieldWriter out =
        new FieldWriter()
            .u8(CHANGE)
            .leb(hiddenCount)
            .leb(addedCount)
            .leb(removedCount)
            .leb(addedBits);
    return written(out.bytes(codes));
  }

  private static Section written(FieldWriter out) {
    try {
      return read(ByteBuffer.wrap(out.toBytes()));
    } catch (SnapshotException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /**
   * Reads a section. Checks its fields; {@link #applyTo} checks the codes.
   *
   * @param bytes the remaining bytes, which must not change afterwards
   * @throws MalformedSnapshotException if they are not a section
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static Section read(ByteBuffer bytes) throws SnapshotException {
    FieldReader in = new FieldReader(bytes);
    int kind = in.u8("the kind of a section");
    if (kind != CHANGE && kind != WHOLE) {
      throw new UnsupportedSnapshotException("the kind of a section must be 1 or 2, got " + kind);
    }
    long hidden = in.leb("the number of hashes that share a value", 0, Manifest.MAX_COUNT);
    Universe universe = kind == WHOLE ? readUniverse(in) : null;
    long count = in.leb("the number of values", 0, Manifest.MAX_COUNT);
    long removed =
        kind == WHOLE ? 0 : in.leb("the number of removed values", 0, Manifest.MAX_COUNT);
    long addedBits = kind == WHOLE ? 0 : in.leb("the number of bits of the added values");
    long bits = (long) Byte.SIZE * in.remaining();
    if (kind == WHOLE) {
      requireThat(
          count > 0 || hidden == 0, "a set without values must have no hashes, got " + hidden);
      requireThat(
          universe.fits(count),
          "a set of " + count + " values cannot have " + universe.buckets() + " buckets");
      requireRoom("", code(count, universe.greatest()), count, bits, Byte.SIZE - 1);
    } else {
      requireThat(
          addedBits <= bits,
          "the codes of the added values must have at most the "
              + bits
              + " bits of the section, got "
              + addedBits);
      requireRoom("added ", null, count, addedBits, 0);
      requireRoom("removed ", null, removed, bits - addedBits, Byte.SIZE - 1);
    }
    return new Section(
        bytes.slice().asReadOnlyBuffer(),
        in.position(),
        hidden,
        universe,
        count,
        removed,
        addedBits);
  }

  private static Universe readUniverse(FieldReader in) throws MalformedSnapshotException {
    long buckets = in.leb("the number of buckets");
    long width = in.leb("the width of a bucket");
    try {
      return new Universe(buckets, width);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  /**
   * Rejects more values than the bits can encode, before memory is allocated for them.
   *
   * @param code null if it is not known yet
   * @param maxPadding the maximum number of bits after the codes
   */
  private static void requireRoom(
      String what, @Nullable AscendingCode code, long count, long bits, int maxPadding)
      throws MalformedSnapshotException {
    int minBits = code == null ? 1 : code.minBits();
    if (count > bits / minBits || (count == 0 && bits > maxPadding)) {
      throw new MalformedSnapshotException(
          "%d %svalues cannot have codes of %d bits".formatted(count, what, bits));
    }
  }

  /** Returns whether this is the whole set of a shard and not a change. */
  public boolean isWhole() {
    return universe != null;
  }

  /**
   * Returns the number of values that the change adds; for a whole set, the number of all values.
   */
  public long addedCount() {
    return count;
  }

  /** Returns the number of values that the change removes. */
  public long removedCount() {
    return removedCount;
  }

  /** Returns the number of hashes after the section, less the number of values. */
  public long hiddenCount() {
    return hiddenCount;
  }

  /** Returns the length in bytes. */
  public int length() {
    return bytes.remaining();
  }

  /** Returns the bytes, as a read-only view. */
  public ByteBuffer toByteBuffer() {
    return bytes.duplicate();
  }

  /**
   * Decodes a whole set and checks that its codes are canonical. The codes of a change are checked
   * only by {@link #applyTo}.
   *
   * @throws MalformedSnapshotException if they are not
   */
  public void verify() throws MalformedSnapshotException {
    if (isWhole()) {
      try {
        PrimitiveIterator.OfLong values = values();
        while (values.hasNext()) {
          values.nextLong();
        }
      } catch (UncheckedIOException e) {
        throw malformed(e);
      }
    }
  }

  /**
   * Builds the set of the shard after this section. It has the same bytes as a snapshot that is
   * built from its hashes.
   *
   * @param parent the previous set; may only be null if this section contains the whole set
   * @param parameters the parameters of the result
   * @throws MalformedSnapshotException if the codes are not canonical or do not fit the parent
   */
  public Snapshot applyTo(@Nullable Snapshot parent, SnapshotParameters parameters)
      throws MalformedSnapshotException {
    if (isWhole()) {
      return snapshot(values(), universe, count, count + hiddenCount, parameters);
    }
    Snapshot before = requireParent(parent);
    Universe unchanged = before.header().universe();
    long parentCount = before.header().count();
    long countAfter = countAfter(parentCount);
    Merge merge;
    try {
      merge = new Merge(before.values(), added(unchanged), removed(parentCount));
    } catch (UncheckedIOException e) {
      throw malformed(e);
    }
    return snapshot(merge, unchanged, countAfter, countAfter + hiddenCount, parameters);
  }

  /**
   * Builds the set of the shard after several sections. Decodes the parent once, and uses 8 bytes
   * per value for it, or 16 while a change is applied.
   *
   * @param parent as in {@link #applyTo}
   * @param sections in the order of their windows, at least one
   */
  public static Snapshot applyAll(
      @Nullable Snapshot parent, List<Section> sections, SnapshotParameters parameters)
      throws MalformedSnapshotException {
    int first = sections.size() - 1;
    while (first > 0 && !sections.get(first).isWhole()) {
      first--;
    }
    Section begin = sections.get(first);
    if (first == sections.size() - 1) {
      return begin.applyTo(parent, parameters);
    }
    Universe universe =
        begin.isWhole() ? begin.universe : requireParent(parent).header().universe();
    if (begin.isWhole()) {
      requireRate(universe, begin.count + begin.hiddenCount, parameters);
    }
    try {
      ValueArray values =
          begin.isWhole()
              ? new ValueArray(begin.values(), begin.count)
              : new ValueArray(parent.values(), parent.header().count());
      for (Section section : sections.subList(begin.isWhole() ? first + 1 : 0, sections.size())) {
        long countAfter = section.countAfter(values.count());
        if (section.count > 0 || section.removedCount > 0) {
          values.change(section.added(universe), section.removed(values.count()), countAfter);
        }
      }
      long hashCount = values.count() + sections.get(sections.size() - 1).hiddenCount;
      return snapshot(values.iterator(), universe, values.count(), hashCount, parameters);
    } catch (UncheckedIOException e) {
      throw malformed(e);
    }
  }

  private static Snapshot requireParent(@Nullable Snapshot parent)
      throws MalformedSnapshotException {
    requireThat(parent != null, "the section changes a set, but there is no previous set");
    return parent;
  }

  private static Snapshot snapshot(
      PrimitiveIterator.OfLong values,
      Universe universe,
      long count,
      long hashCount,
      SnapshotParameters parameters)
      throws MalformedSnapshotException {
    requireRate(universe, hashCount, parameters);
    requireThat(
        universe.fits(count),
        "a set of " + count + " values cannot have " + universe.buckets() + " buckets");
    try {
      SnapshotWriter out = new SnapshotWriter(parameters, universe, count, hashCount);
      while (values.hasNext()) {
        out.add(values.nextLong());
      }
      return out.finish();
    } catch (UncheckedIOException e) {
      throw malformed(e);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  private static void requireRate(Universe universe, long hashCount, SnapshotParameters parameters)
      throws MalformedSnapshotException {
    try {
      parameters.set().requireUniverse(universe, hashCount);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  private static MalformedSnapshotException malformed(UncheckedIOException e) {
    return new MalformedSnapshotException(e.getCause().getMessage(), e);
  }

  private long countAfter(long parentCount) throws MalformedSnapshotException {
    requireThat(
        removedCount <= parentCount,
        "at most " + parentCount + " values can be removed, got " + removedCount);
    long after = parentCount - removedCount + count;
    requireThat(
        after > 0 || hiddenCount == 0,
        "a set without values must have no hashes, got " + hiddenCount);
    return after;
  }

  private PrimitiveIterator.OfLong values() throws MalformedSnapshotException {
    return code(count, universe.greatest()).decodeFilled(codes(), 0, bits());
  }

  private PrimitiveIterator.OfLong added(Universe unchanged) throws MalformedSnapshotException {
    AscendingCode code = code(count, unchanged.greatest());
    requireRoom("added ", code, count, addedBits, 0);
    return code.decode(codes(), 0, addedBits);
  }

  private PrimitiveIterator.OfLong removed(long parentCount) throws MalformedSnapshotException {
    AscendingCode code = code(removedCount, Math.max(0, parentCount - 1));
    requireRoom("removed ", code, removedCount, bits() - addedBits, Byte.SIZE - 1);
    return code.decodeFilled(codes(), addedBits, bits());
  }

  private static AscendingCode code(long count, long greatest) throws MalformedSnapshotException {
    try {
      return new AscendingCode(count, greatest);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  private BitReader codes() {
    return new BitReader(bytes.slice(codesAt, bytes.remaining() - codesAt));
  }

  private long bits() {
    return (long) Byte.SIZE * (bytes.remaining() - codesAt);
  }
}
