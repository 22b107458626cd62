package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.gcs.Universe;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The header of a snapshot.
 *
 * @param formatVersion 1
 * @param codec how the values are coded: {@link #CODEC_SNAPSHOT}
 * @param parameters the parameters of the snapshot
 * @param hashCount the number of distinct hashes that the set was built from
 * @param count the number of values of the set; less than hashCount if hashes share a value
 * @param universe the values that the set may hold
 * @param golombParameter the parameter of the Golomb code, unsigned
 * @param payloadBits the length of the codes in bits
 * @param bucketStartsBytes the length of the section of bucket starts
 * @param payloadBytes the length of the section of codes
 * @param setDigest the {@link SetDigest}, as hexadecimal digits
 * @param sectionsChecksum CRC32C over all sections
 */
public record SnapshotHeader(
    int formatVersion,
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
    int sectionsChecksum) {

  /** A snapshot: a Golomb-coded set in buckets. */
  public static final int CODEC_SNAPSHOT = 1;

  /**
   * Reads and checks the header of a snapshot. The buffer may hold only its beginning.
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

  /** Rejects fields that contradict each other. */
  void requireSound() throws MalformedSnapshotException {
    SetParameters set = parameters.set();
    requireThat(
        set.isPossible(universe),
        "there must be at most 2^%d values, got %s"
            .formatted(Long.SIZE - set.shards().bits(), universe.range()));
    requireThat(set.hasRoomForTags(universe), set.tooSmallForTags(universe));
    requireThat(
        hashCount >= count && (hashCount == 0) == (count == 0),
        "the number of hashes must be at least the number of values (%d), and 0 if there are none, got %d"
            .formatted(count, hashCount));
    requireThat(
        universe.keepsRate(count, set.falsePositiveRate()),
        "a range of %s is too small for %d values at the false-positive rate %s"
            .formatted(universe.range(), count, set.falsePositiveRate()));
    requireThat(
        universe.fits(count),
        "a set of " + count + " values cannot have " + universe.buckets() + " buckets");
  }
}
