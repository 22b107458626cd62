package io.firstseen.filters.snapshot;

import java.nio.ByteBuffer;

/**
 * The header of a snapshot file.
 *
 * @param formatVersion 1
 * @param requiredFlags features that a reader must know; none exist in version 1
 * @param codec how the values are coded: {@link #CODEC_GOLOMB_FORWARD}
 * @param parameters what the snapshot says about itself
 * @param hashCount the number of distinct hashes that it was built from
 * @param count the number of its values; less than hashCount if hashes agree in the value's bits
 * @param valueBits the bits of a value
 * @param golombParameter the parameter of the Golomb code, unsigned
 * @param bucketCount the number of buckets
 * @param payloadBits the length of the codes in bits
 * @param bucketStartsBytes the length of the section of bucket starts
 * @param payloadBytes the length of the section of codes
 * @param setDigest SHA-256 over the values in order, each 8 bytes big-endian, as hexadecimal digits
 * @param parentDigest the set digest of the snapshot that this one changes; null, since every
 *     snapshot of version 1 stands for itself
 * @param sectionsChecksum CRC32C over both sections
 */
public record SnapshotHeader(
    int formatVersion,
    int requiredFlags,
    int codec,
    SnapshotParameters parameters,
    long hashCount,
    long count,
    int valueBits,
    long golombParameter,
    long bucketCount,
    long payloadBits,
    int bucketStartsBytes,
    int payloadBytes,
    String setDigest,
    String parentDigest,
    int sectionsChecksum) {

  /** A Golomb-coded set whose buckets are coded from their lower bound upwards. */
  public static final int CODEC_GOLOMB_FORWARD = 1;

  /**
   * Reads and checks the header of a snapshot of which there may be no more than the beginning.
   *
   * @param bytes what remains is the first bytes of the file; the buffer's position stays
   * @throws MalformedSnapshotException if they are no header
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static SnapshotHeader read(ByteBuffer bytes) throws SnapshotException {
    return SnapshotFormat.readHeader(bytes);
  }
}
