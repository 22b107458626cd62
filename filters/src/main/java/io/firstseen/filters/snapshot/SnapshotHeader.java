package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.gcs.Universe;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The header of a blob, which is a snapshot or a delta.
 *
 * @param formatVersion 1
 * @param requiredFlags features that a reader must know; none exist in version 1
 * @param codec what the blob holds: {@link #CODEC_SNAPSHOT} or {@link #CODEC_DELTA}
 * @param parameters the parameters of the set; for a delta, of the child
 * @param hashCount the number of distinct hashes that the set was built from
 * @param count the number of values of the set; less than hashCount if hashes share a value
 * @param universe the values that the set may hold
 * @param golombParameter the parameter of a snapshot's Golomb code, unsigned; 0 for a delta
 * @param payloadBits the length of the codes in bits
 * @param bucketStartsBytes the length of a snapshot's section of bucket starts; 0 for a delta
 * @param payloadBytes the length of the section of codes
 * @param setDigest the {@link SetDigest}, as hexadecimal digits
 * @param parentDigest the set digest of the set that a delta changes; null for a snapshot
 * @param sectionsChecksum CRC32C over all sections
 * @param changes what a delta holds; null for a snapshot
 */
public record SnapshotHeader(
    int formatVersion,
    int requiredFlags,
    int codec,
    SnapshotParameters parameters,
    long hashCount,
    long count,
    Universe universe,
    long golombParameter,
    long payloadBits,
    int bucketStartsBytes,
    int payloadBytes,
    String setDigest,
    @Nullable String parentDigest,
    int sectionsChecksum,
    @Nullable Changes changes) {

  /** A snapshot: a Golomb-coded set in buckets. */
  public static final int CODEC_SNAPSHOT = 1;

  /** A delta: the changes that turn one set into another. */
  public static final int CODEC_DELTA = 2;

  /**
   * What a delta holds.
   *
   * @param addedCount the number of values that it adds
   * @param removedCount the number of values that it removes
   * @param addedBits the length in bits of the codes of the added values; the remaining payload
   *     holds the codes of the removed ones
   */
  public record Changes(long addedCount, long removedCount, long addedBits) {}

  /** Whether the blob is a delta. */
  public boolean isDelta() {
    return codec == CODEC_DELTA;
  }

  /**
   * Reads and checks the header of a blob. The buffer may hold only the beginning of the blob.
   *
   * @param bytes the remaining bytes are the first bytes of the file; the buffer's position does
   *     not change
   * @throws MalformedSnapshotException if they are not a header
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static SnapshotHeader read(ByteBuffer bytes) throws SnapshotException {
    return SnapshotFormat.readHeader(bytes);
  }

  /**
   * Reads and checks the header of a file; messages begin with the path.
   *
   * @throws SnapshotException if the file cannot be read or {@link #read(ByteBuffer)} throws it
   */
  public static SnapshotHeader read(Path path) throws SnapshotException {
    ByteBuffer file = Snapshot.map(path);
    try {
      return read(file);
    } catch (SnapshotException e) {
      throw e.at(path);
    }
  }

  /** Refuses fields that contradict each other. */
  void requireSound() throws MalformedSnapshotException {
    SetParameters set = parameters.set();
    requireThat(
        set.isPossible(universe),
        "there must be at most 2^"
            + (Long.SIZE - set.shards().bits())
            + " values, got "
            + universe.range());
    requireThat(
        hashCount >= count && (hashCount == 0) == (count == 0),
        "the number of hashes must be at least that of values ("
            + count
            + "), and 0 if there are none, got "
            + hashCount);
    requireThat(
        universe.keepsRate(count, set.falsePositiveRate()),
        "a range of "
            + universe.range()
            + " is too small for "
            + count
            + " values at the false-positive rate "
            + set.falsePositiveRate());
    requireThat(
        universe.fits(count),
        "a set of " + count + " values cannot have " + universe.buckets() + " buckets");
    long added = changes == null ? 0 : changes.addedCount();
    requireThat(
        added <= count,
        "the number of added values must be at most that of all (" + count + "), got " + added);
  }
}
