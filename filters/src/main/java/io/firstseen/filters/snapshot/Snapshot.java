package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.gcs.UnsignedSort;
import io.firstseen.filters.gcs.ValueCursor;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.EqualBands;
import io.firstseen.filters.near.NearRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.PrimitiveIterator;
import org.jspecify.annotations.Nullable;

/**
 * One immutable file: the accepted hashes of one shard as a Golomb-coded set, with a header. For
 * each hash it stores the {@linkplain Universe#valueOf value} of its suffix (the bits below the
 * shard bits). An absent hash is therefore reported as present with probability count / range,
 * which is at most the requested false-positive rate.
 *
 * <p>Queries allocate nothing. Safe for use by many threads. Specified in {@code
 * docs/format/snapshot-v1.md}.
 */
public final class Snapshot {
  private final SnapshotHeader header;
  private final GolombCodedSet set;
  private final ByteBuffer file;

  private Snapshot(SnapshotHeader header, GolombCodedSet set, ByteBuffer file) {
    this.header = header;
    this.set = set;
    this.file = file.slice().asReadOnlyBuffer();
  }

  /**
   * Builds the snapshot of a shard, in the smallest universe that keeps the false-positive rate.
   *
   * @param hashes all hashes of the shard, in any order, repeats allowed; not changed
   * @throws IllegalArgumentException if a hash belongs to another shard, or if the false-positive
   *     rate needs more values than there are suffixes
   */
  public static Snapshot build(long[] hashes, SnapshotParameters parameters) {
    return ofSorted(UnsignedSort.parallelSorted(hashes), null, parameters);
  }

  /**
   * Builds the snapshot of a shard in a given universe.
   *
   * @param hashes all hashes of the shard, in any order, repeats allowed; not changed
   * @throws IllegalArgumentException if a hash belongs to another shard, or if the universe is too
   *     small for the false-positive rate or has more values than there are suffixes
   */
  public static Snapshot build(long[] hashes, Universe universe, SnapshotParameters parameters) {
    return ofSorted(
        UnsignedSort.parallelSorted(hashes), Objects.requireNonNull(universe), parameters);
  }

  /**
   * Builds the snapshot of hashes in unsigned order.
   *
   * @param wanted the universe; null for the smallest that keeps the false-positive rate
   */
  static Snapshot ofSorted(
      long[] sorted, @Nullable Universe wanted, SnapshotParameters parameters) {
    requireShard(sorted, parameters);
    long hashCount = distinct(sorted);
    SetParameters set = parameters.set();
    Universe universe = wanted == null ? set.universeFor(hashCount) : wanted;
    set.requireUniverse(universe, hashCount);
    GolombCodedSet values = GolombCodedSet.ofSortedHashes(sorted, set.shards().bits(), universe);
    return of(values, hashCount, SetDigest.of(values), parameters);
  }

  static long distinct(long[] sorted) {
    long count = 0;
    for (int i = 0; i < sorted.length; i++) {
      count += i == 0 || sorted[i] != sorted[i - 1] ? 1 : 0;
    }
    return count;
  }

  static Snapshot of(
      GolombCodedSet set, long hashCount, String setDigest, SnapshotParameters parameters) {
    int payloadBytes = set.payload().remaining();
    int startsBytes = set.bucketStarts().remaining();
    if (payloadBytes > Integer.MAX_VALUE - startsBytes) {
      throw new IllegalArgumentException(
          "a snapshot must have less than 2^31 bytes, got %d of codes and %d of bucket starts"
              .formatted(payloadBytes, startsBytes));
    }
    ByteBuffer sections = ByteBuffer.allocate(payloadBytes + startsBytes);
    sections.put(set.payload()).put(set.bucketStarts()).flip();
    SnapshotHeader header =
        new SnapshotHeader(
            SnapshotFormat.VERSION,
            SnapshotHeader.CODEC_SNAPSHOT,
            parameters,
            hashCount,
            set.count(),
            set.universe(),
            set.golombParameter(),
            set.payloadBits(),
            startsBytes,
            payloadBytes,
            setDigest,
            SnapshotFormat.crc32c(sections));
    return new Snapshot(header, set, SnapshotFormat.file(header, sections));
  }

  /**
   * Opens a snapshot over an array, which must not change afterwards. Like {@link
   * #read(ByteBuffer)}.
   */
  public static Snapshot read(byte[] bytes) throws SnapshotException {
    return read(ByteBuffer.wrap(bytes));
  }

  /**
   * Opens a snapshot over the remaining bytes of a buffer, which must not change afterwards. Checks
   * the header, the lengths and both checksums, and allocates almost nothing. Only {@link #verify}
   * checks the codes.
   *
   * @throws MalformedSnapshotException if the bytes are not a snapshot
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static Snapshot read(ByteBuffer bytes) throws SnapshotException {
    ByteBuffer file = bytes.slice();
    SnapshotHeader header = SnapshotFormat.readHeader(file);
    ByteBuffer sections = SnapshotFormat.sections(file, header);
    GolombCodedSet set = openSet(header, sections);
    requireThat(
        set.golombParameter() == header.golombParameter(),
        "the Golomb parameter must be "
            + Long.toUnsignedString(set.golombParameter())
            + ", got "
            + Long.toUnsignedString(header.golombParameter()));
    return new Snapshot(header, set, file);
  }

  /**
   * Maps a file into memory and opens it like {@link #read(ByteBuffer)}; messages begin with the
   * path. The file must not be changed in place while the snapshot is in use; it may be replaced or
   * deleted.
   *
   * @throws SnapshotException if the file cannot be read or {@link #read(ByteBuffer)} throws it
   */
  public static Snapshot read(Path path) throws SnapshotException {
    ByteBuffer file = map(path);
    try {
      return read(file);
    } catch (SnapshotException e) {
      throw e.at(path);
    }
  }

  /** Returns the header. */
  public SnapshotHeader header() {
    return header;
  }

  /**
   * Returns whether the snapshot holds a hash, or another hash with the same value.
   *
   * @throws IllegalArgumentException if the hash belongs to another shard
   */
  public boolean mightContain(long hash) {
    SnapshotParameters parameters = header.parameters();
    if (parameters.set().shards().shardOf(hash) != parameters.shard()) {
      throw wrongShard(hash, parameters);
    }
    return set.mightContain(parameters.set().shards().suffix(hash));
  }

  /**
   * Passes on the tags of the live texts with a band. All elements of a band have one shard, and
   * their values are neighbours.
   */
  void textTags(long band, EqualBands found) {
    SetParameters parameters = header.parameters().set();
    NearRule rule = Objects.requireNonNull(parameters.near());
    Shards shards = parameters.shards();
    if (rule.tagBits() == 0) {
      if (set.mightContain(shards.suffix(band))) {
        found.accept(0);
      }
      return;
    }
    long first = shards.suffix(rule.element(band, 0));
    long last = shards.suffix(rule.element(band, (1 << rule.tagBits()) - 1));
    Universe universe = set.universe();
    long least = universe.valueOf(first);
    ValueCursor cursor = set.cursorBetween(first, last);
    long[] values = new long[32];
    try {
      for (int count = cursor.read(values); count > 0; count = cursor.read(values)) {
        for (int i = 0; i < count; i++) {
          if (Long.compareUnsigned(values[i], least) >= 0) {
            int tag = tagOf(values[i], rule, band);
            if (tag == 1 << rule.tagBits() || found.isBoilerplate()) {
              return;
            }
            if (universe.valueOf(shards.suffix(rule.element(band, tag))) == values[i]) {
              found.accept(tag);
            }
          }
        }
      }
    } catch (MalformedGolombCodedSetException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the first tag whose element has at least a value; the number of tags if none has. */
  private int tagOf(long value, NearRule rule, long band) {
    Shards shards = header.parameters().set().shards();
    int low = 0;
    int high = 1 << rule.tagBits();
    while (low < high) {
      int middle = (low + high) >>> 1;
      long element = shards.suffix(rule.element(band, middle));
      if (Long.compareUnsigned(set.universe().valueOf(element), value) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Returns the position that a query for a hash reads, see {@link GolombCodedSet#position}. */
  long position(long hash) {
    return set.position(header.parameters().set().shards().suffix(hash));
  }

  long touch(long position) {
    return set.touch(position);
  }

  /**
   * Returns the values in ascending unsigned order. The iterator throws {@link
   * java.io.UncheckedIOException} if the codes are damaged, as {@link #verify} would find.
   */
  public PrimitiveIterator.OfLong values() {
    return set.iterator();
  }

  /**
   * Decodes the whole file and checks that it is the canonical form of the set that its digest
   * names.
   *
   * @throws MalformedSnapshotException if it is not
   */
  public void verify() throws MalformedSnapshotException {
    try {
      set.verify();
    } catch (MalformedGolombCodedSetException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
    String digest = SetDigest.of(set);
    requireThat(
        digest.equals(header.setDigest()),
        "the set digest must be " + digest + ", got " + header.setDigest());
  }

  /** Returns the SHA-256 of the whole file, as hexadecimal digits. */
  public String digest() {
    return Sha256.hex(file);
  }

  /** Returns the whole file, as a read-only view. */
  public ByteBuffer asByteBuffer() {
    return file.duplicate();
  }

  /** Returns a copy of the whole file. */
  public byte[] toBytes() {
    byte[] bytes = new byte[file.limit()];
    file.get(0, bytes);
    return bytes;
  }

  private static GolombCodedSet openSet(SnapshotHeader header, ByteBuffer sections)
      throws MalformedSnapshotException {
    int payloadBytes = header.payloadBytes();
    try {
      return GolombCodedSet.wrap(
          header.count(),
          header.universe(),
          header.payloadBits(),
          sections.slice(payloadBytes, header.bucketStartsBytes()),
          sections.slice(0, payloadBytes));
    } catch (MalformedGolombCodedSetException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  static ByteBuffer map(Path path) throws SnapshotException {
    if (Files.isDirectory(path)) {
      throw new SnapshotException("cannot read " + path + ": it is a directory");
    }
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      long size = channel.size();
      if (size > Integer.MAX_VALUE) {
        throw new UnsupportedSnapshotException(
            path + ": a snapshot must have at most 2^31 - 1 bytes, got " + size);
      }
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, size);
    } catch (SnapshotException e) {
      throw e;
    } catch (IOException e) {
      throw SnapshotException.of("cannot read", path, e);
    }
  }

  private static void requireShard(long[] sortedHashes, SnapshotParameters parameters) {
    Shards shards = parameters.set().shards();
    // A shard is a range of hashes: if the first and the last are in it, all are.
    for (int i : new int[] {0, sortedHashes.length - 1}) {
      if (sortedHashes.length > 0 && shards.shardOf(sortedHashes[i]) != parameters.shard()) {
        throw wrongShard(sortedHashes[i], parameters);
      }
    }
  }

  private static IllegalArgumentException wrongShard(long hash, SnapshotParameters parameters) {
    return new IllegalArgumentException(
        String.format(
            "the hash must belong to shard %d of %d, got %016x of shard %d",
            parameters.shard(),
            parameters.set().shards().count(),
            hash,
            parameters.set().shards().shardOf(hash)));
  }
}
