package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.gcs.AscendingCode;
import io.firstseen.filters.gcs.BitReader;
import io.firstseen.filters.gcs.Universe;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.PrimitiveIterator;

/**
 * One immutable file: the changes that turn the set of one snapshot, the parent, into the set of
 * another, the child. It holds the values that are added, and the places of the removed values
 * among the parent's values. Both have the same universe.
 *
 * <p>Safe for use by many threads. Specified in {@code docs/format/delta-v1.md}.
 */
public final class SnapshotDelta {
  private final SnapshotHeader header;
  private final AscendingCode addedCode;
  private final AscendingCode removedCode;
  private final BitReader codes;
  private final ByteBuffer file;

  private SnapshotDelta(SnapshotHeader header, ByteBuffer codes, ByteBuffer file) {
    this.header = header;
    this.codes = new BitReader(codes);
    this.file = file.slice().asReadOnlyBuffer();
    this.addedCode = addedCode(addedCount(), header.universe());
    this.removedCode = removedCode(removedCount(), parentCount());
  }

  /** Creates a delta from codes that this process has just written. */
  static SnapshotDelta of(
      SnapshotParameters parameters,
      long hashCount,
      long count,
      Universe universe,
      String setDigest,
      String parentSetDigest,
      SnapshotHeader.Changes changes,
      long payloadBits,
      byte[] payload) {
    ByteBuffer codes = ByteBuffer.wrap(payload);
    SnapshotHeader header =
        new SnapshotHeader(
            SnapshotFormat.VERSION,
            0,
            SnapshotHeader.CODEC_DELTA,
            parameters,
            hashCount,
            count,
            universe,
            0,
            payloadBits,
            0,
            payload.length,
            setDigest,
            parentSetDigest,
            SnapshotFormat.crc32c(codes),
            changes);
    return new SnapshotDelta(header, codes, SnapshotFormat.file(header, codes));
  }

  /**
   * Creates the delta from one snapshot to another. Decodes both once and keeps 8 bytes for each
   * change.
   *
   * @throws IllegalArgumentException if the two are of different sets, shards or universes
   * @throws UncheckedIOException if {@link Snapshot#verify} would refuse one of them
   */
  public static SnapshotDelta between(Snapshot parent, Snapshot child) {
    SnapshotHeader from = parent.header();
    SnapshotHeader to = child.header();
    requireSameLine(from, to);
    SnapshotDeltaWriter delta =
        new SnapshotDeltaWriter(to.parameters(), to.universe(), from.count(), from.setDigest());
    PrimitiveIterator.OfLong before = parent.values();
    PrimitiveIterator.OfLong after = child.values();
    boolean left = after.hasNext();
    long next = left ? after.nextLong() : 0;
    for (long place = 0; before.hasNext(); place++) {
      long value = before.nextLong();
      while (left && Long.compareUnsigned(next, value) < 0) {
        delta.add(next);
        left = after.hasNext();
        next = left ? after.nextLong() : 0;
      }
      if (left && next == value) {
        left = after.hasNext();
        next = left ? after.nextLong() : 0;
      } else {
        delta.remove(place);
      }
    }
    while (left) {
      delta.add(next);
      left = after.hasNext();
      next = left ? after.nextLong() : 0;
    }
    return delta.finish(to.hashCount(), to.setDigest());
  }

  /**
   * Opens a delta over an array, which must not change afterwards. Like {@link #read(ByteBuffer)}.
   */
  public static SnapshotDelta read(byte[] bytes) throws SnapshotException {
    return read(ByteBuffer.wrap(bytes));
  }

  /**
   * Opens a delta over the remaining bytes of a buffer, which must not change afterwards. Checks
   * the header, the lengths and both checksums, and allocates almost nothing. {@link #applyTo}
   * checks the codes.
   *
   * @throws MalformedSnapshotException if the bytes are not a delta
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static SnapshotDelta read(ByteBuffer bytes) throws SnapshotException {
    ByteBuffer file = bytes.slice();
    SnapshotHeader header = SnapshotFormat.readHeader(file);
    requireThat(header.isDelta(), "this is a snapshot; a delta is needed");
    ByteBuffer sections = SnapshotFormat.sections(file, header);
    requireLengths(header, sections);
    SnapshotDelta delta = new SnapshotDelta(header, sections, file);
    SnapshotHeader.Changes changes = header.changes();
    long removedBits = header.payloadBits() - changes.addedBits();
    requireRoom("added", delta.addedCount(), delta.addedCode.minBits(), changes.addedBits());
    requireRoom("removed", delta.removedCount(), delta.removedCode.minBits(), removedBits);
    return delta;
  }

  /**
   * Maps a file into memory and opens it like {@link #read(ByteBuffer)}; messages begin with the
   * path. The file must not be changed in place while the delta is in use.
   *
   * @throws SnapshotException if the file cannot be read or {@link #read(ByteBuffer)} throws it
   */
  public static SnapshotDelta read(Path path) throws SnapshotException {
    ByteBuffer file = Snapshot.map(path);
    try {
      return read(file);
    } catch (SnapshotException e) {
      throw e.at(path);
    }
  }

  /** The header; its fields about a set describe the child. */
  public SnapshotHeader header() {
    return header;
  }

  /** The number of values that are in the child but not in the parent. */
  public long addedCount() {
    return header.changes().addedCount();
  }

  /** The number of values that are in the parent but not in the child. */
  public long removedCount() {
    return header.changes().removedCount();
  }

  /** The number of values of the parent. */
  public long parentCount() {
    return header.count() - addedCount() + removedCount();
  }

  /**
   * Decodes the whole file and checks that the codes are canonical and have as many values and
   * places as the header says. Only {@link #applyTo} checks that they lead to the child.
   *
   * @throws MalformedSnapshotException if a check fails
   */
  public void verify() throws MalformedSnapshotException {
    try {
      for (PrimitiveIterator.OfLong list : List.of(added(), removed())) {
        while (list.hasNext()) {
          list.nextLong();
        }
      }
    } catch (UncheckedIOException e) {
      throw new MalformedSnapshotException(e.getCause().getMessage(), e);
    }
  }

  /**
   * Builds the child. It has the same bytes as a snapshot that is built from the child's hashes.
   * Decodes the parent once, and keeps only the child's codes.
   *
   * @throws MalformedSnapshotException if the delta does not lead to the set that its digest names
   * @throws SnapshotException if the delta belongs to another parent
   */
  public Snapshot applyTo(Snapshot parent) throws SnapshotException {
    requireParent(parent.header());
    SnapshotWriter child = SnapshotWriter.of(header);
    try {
      merge(parent.values(), child);
    } catch (UncheckedIOException e) {
      throw new MalformedSnapshotException(e.getCause().getMessage(), e);
    }
    Snapshot made = child.finish();
    requireThat(
        made.header().setDigest().equals(header.setDigest()),
        "the delta must lead to the set "
            + header.setDigest()
            + ", it leads to "
            + made.header().setDigest());
    return made;
  }

  /** The SHA-256 of the whole file, as hexadecimal digits: the name of the blob. */
  public String digest() {
    return Sha256.hex(file);
  }

  /** The whole file, as a read-only view. */
  public ByteBuffer asByteBuffer() {
    return file.duplicate();
  }

  /** A copy of the whole file. */
  public byte[] toBytes() {
    byte[] bytes = new byte[file.limit()];
    file.get(0, bytes);
    return bytes;
  }

  private PrimitiveIterator.OfLong added() {
    return addedCode.decode(codes, 0, header.changes().addedBits());
  }

  private PrimitiveIterator.OfLong removed() {
    return removedCode.decode(codes, header.changes().addedBits(), header.payloadBits());
  }

  private void merge(PrimitiveIterator.OfLong parent, SnapshotWriter child)
      throws MalformedSnapshotException {
    PrimitiveIterator.OfLong added = added();
    PrimitiveIterator.OfLong removed = removed();
    boolean adds = added.hasNext();
    long nextAdded = adds ? added.nextLong() : 0;
    // -1 stands for no further removal; places are at least 0.
    long nextRemoved = removed.hasNext() ? removed.nextLong() : -1;
    for (long place = 0; parent.hasNext(); place++) {
      long value = parent.nextLong();
      while (adds && Long.compareUnsigned(nextAdded, value) < 0) {
        child.add(nextAdded);
        adds = added.hasNext();
        nextAdded = adds ? added.nextLong() : 0;
      }
      if (adds && nextAdded == value) {
        throw new MalformedSnapshotException(
            "an added value must not be in the parent, got " + Long.toUnsignedString(value));
      }
      if (place == nextRemoved) {
        nextRemoved = removed.hasNext() ? removed.nextLong() : -1;
      } else {
        child.add(value);
      }
    }
    while (adds) {
      child.add(nextAdded);
      adds = added.hasNext();
      nextAdded = adds ? added.nextLong() : 0;
    }
  }

  private void requireParent(SnapshotHeader parent) throws SnapshotException {
    if (!parent.setDigest().equals(header.parentDigest())) {
      throw new SnapshotException(
          "the delta changes the set "
              + header.parentDigest()
              + ", it cannot be applied to the set "
              + parent.setDigest());
    }
    try {
      requireSameLine(parent, header);
    } catch (IllegalArgumentException e) {
      throw new SnapshotException("the delta cannot be applied: " + e.getMessage(), e);
    }
    requireThat(
        parent.count() == parentCount(),
        "the delta changes a set of "
            + parentCount()
            + " values, the parent has "
            + parent.count());
  }

  private static void requireSameLine(SnapshotHeader parent, SnapshotHeader child) {
    SnapshotParameters ofParent = parent.parameters();
    SnapshotParameters ofChild = child.parameters();
    requireSame("set", ofParent.setName(), ofChild.setName());
    requireSame("parameters", ofParent.set(), ofChild.set());
    requireSame("shard", ofParent.shard(), ofChild.shard());
    requireSame("universe", parent.universe(), child.universe());
  }

  private static void requireSame(String what, Object ofParent, Object ofChild) {
    if (!ofParent.equals(ofChild)) {
      throw new IllegalArgumentException(
          "parent and child must have the same "
              + what
              + ", the parent has "
              + ofParent
              + " and the child "
              + ofChild);
    }
  }

  private static void requireLengths(SnapshotHeader header, ByteBuffer payload)
      throws MalformedSnapshotException {
    SnapshotHeader.Changes changes = header.changes();
    long bits = header.payloadBits();
    long bytes = (bits >>> 3) + ((bits & 7) == 0 ? 0 : 1);
    requireThat(
        payload.limit() == bytes,
        "the payload must have " + bytes + " bytes, got " + payload.limit());
    int padding = (int) (-bits & 7);
    requireThat(
        padding == 0 || (payload.get(payload.limit() - 1) & ((1 << padding) - 1)) == 0,
        "the padding of the payload must be zero");
    requireThat(
        changes.addedBits() <= bits,
        "the codes of the added values must have at most the "
            + bits
            + " bits of the payload, got "
            + changes.addedBits());
    // These checks come before any computation with the counts, so that no sum overflows.
    requireRoom("added", changes.addedCount(), 1, changes.addedBits());
    requireRoom("removed", changes.removedCount(), 1, bits - changes.addedBits());
  }

  private static void requireRoom(String what, long count, int minBits, long bits)
      throws MalformedSnapshotException {
    requireThat(
        count <= bits / minBits && (count > 0 || bits == 0),
        count == 0
            ? "the codes of no " + what + " values must have 0 bits, got " + bits
            : String.format(
                "there must be at most %d %s values, since each takes at least %d of %d bits, got"
                    + " %d",
                bits / minBits, what, minBits, bits, count));
  }

  static AscendingCode addedCode(long addedCount, Universe universe) {
    return new AscendingCode(addedCount, universe.greatest());
  }

  static AscendingCode removedCode(long removedCount, long parentCount) {
    if (removedCount > parentCount) {
      throw new IllegalArgumentException(
          "at most " + parentCount + " values can be removed, got " + removedCount);
    }
    return new AscendingCode(removedCount, Math.max(0, parentCount - 1));
  }
}
