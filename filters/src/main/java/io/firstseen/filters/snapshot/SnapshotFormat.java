package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a snapshot's header; only this class contains offsets. Specified in {@code
 * docs/format/snapshot-v1.md}. Integers are little-endian.
 */
final class SnapshotFormat {
  static final int VERSION = 1;

  /**
   * The length of magic, version and header length. These fields have the same place in every
   * version.
   */
  private static final int PROLOGUE_BYTES = 12;

  private static final byte[] MAGIC = {(byte) 0x89, 'F', 'S', 'S', 'N', 'A', 'P', '\n'};
  private static final int DIGEST_BYTES = 32;

  private static final int VERSION_AT = 8;
  private static final int HEADER_BYTES_AT = 10;
  private static final int REQUIRED_FLAGS_AT = 12;
  private static final int CODEC_AT = 16;
  private static final int RESERVED_BYTE_AT = 17;
  private static final int HASH_ALGORITHM_AT = 18;
  private static final int CANONICALISER_AT = 19;
  private static final int CANONICALISER_VERSION_AT = 20;
  private static final int RESERVED_AT = 22;
  private static final int SHARD_AT = 24;
  private static final int SHARD_COUNT_AT = 28;
  private static final int KEY_CHECK_AT = 32;
  private static final int FALSE_POSITIVE_RATE_AT = 40;
  private static final int SEQUENCE_AT = 48;
  private static final int WINDOW_START_AT = 56;
  private static final int WINDOW_END_AT = 64;
  private static final int HASH_COUNT_AT = 72;
  private static final int COUNT_AT = 80;
  private static final int GOLOMB_PARAMETER_AT = 88;
  private static final int RESERVED_LONG_AT = 96;
  private static final int PAYLOAD_BITS_AT = 104;
  private static final int BUCKET_STARTS_BYTES_AT = 112;
  private static final int PAYLOAD_BYTES_AT = 120;
  private static final int SET_DIGEST_AT = 128;
  private static final int RESERVED_DIGEST_AT = 160;
  private static final int BUCKETS_AT = 192;
  private static final int BUCKET_WIDTH_AT = 200;
  private static final int SECTIONS_CHECKSUM_AT = 208;
  private static final int SET_NAME_BYTES_AT = 212;
  private static final int SET_NAME_AT = 213;
  private static final int CHECKSUM_BYTES = 4;
  private static final int RULE_LENGTH_BYTES = 2;
  private static final int MIN_HEADER_BYTES = SET_NAME_AT + 1 + CHECKSUM_BYTES;
  private static final int MAX_HEADER_BYTES =
      SET_NAME_AT + 100 + RULE_LENGTH_BYTES + Canonicaliser.MAX_STRIPPED_CHARS + CHECKSUM_BYTES;

  /**
   * The feature flag of sets whose canonicaliser strips URL parameters; a bit of the required
   * flags.
   */
  private static final int STRIPS_PARAMETERS = 1;

  /** The feature flag of sets that contain the bands of a {@link NearRule}. */
  private static final int CONTAINS_BANDS = 2;

  private static final int MAX_NEAR_RULE_CHARS = 30;

  private SnapshotFormat() {}

  static byte[] headerBytes(SnapshotHeader header) {
    SnapshotParameters parameters = header.parameters();
    SetParameters set = parameters.set();
    byte[] setName = parameters.setName().getBytes(StandardCharsets.US_ASCII);
    byte[] rule = rule(set);
    int ruleBytes = rule.length == 0 ? 0 : RULE_LENGTH_BYTES + rule.length;
    int ruleAt = SET_NAME_AT + setName.length;
    byte[] bytes = new byte[ruleAt + ruleBytes + CHECKSUM_BYTES];
    ByteBuffer out = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    out.put(0, MAGIC);
    out.putShort(VERSION_AT, (short) header.formatVersion());
    out.putShort(HEADER_BYTES_AT, (short) bytes.length);
    out.putInt(REQUIRED_FLAGS_AT, requiredFlags(set));
    out.put(CODEC_AT, (byte) header.codec());
    out.put(HASH_ALGORITHM_AT, (byte) set.hashAlgorithm().code());
    out.put(CANONICALISER_AT, (byte) set.canonicaliser().code());
    out.putShort(CANONICALISER_VERSION_AT, (short) set.canonicaliserVersion());
    out.putInt(SHARD_AT, parameters.shard());
    out.putInt(SHARD_COUNT_AT, set.shards().count());
    out.putLong(KEY_CHECK_AT, set.keyCheck());
    out.putDouble(FALSE_POSITIVE_RATE_AT, set.falsePositiveRate());
    out.putLong(SEQUENCE_AT, parameters.sequence());
    out.putLong(WINDOW_START_AT, parameters.windowStartMillis());
    out.putLong(WINDOW_END_AT, parameters.windowEndMillis());
    out.putLong(HASH_COUNT_AT, header.hashCount());
    out.putLong(COUNT_AT, header.count());
    out.putLong(GOLOMB_PARAMETER_AT, header.golombParameter());
    out.putLong(BUCKET_STARTS_BYTES_AT, header.bucketStartsBytes());
    out.putLong(PAYLOAD_BITS_AT, header.payloadBits());
    out.putLong(PAYLOAD_BYTES_AT, header.payloadBytes());
    out.put(SET_DIGEST_AT, HexFormat.of().parseHex(header.setDigest()));
    out.putLong(BUCKETS_AT, header.universe().buckets());
    out.putLong(BUCKET_WIDTH_AT, header.universe().width());
    out.putInt(SECTIONS_CHECKSUM_AT, header.sectionsChecksum());
    out.put(SET_NAME_BYTES_AT, (byte) setName.length);
    out.put(SET_NAME_AT, setName);
    if (rule.length > 0) {
      out.putShort(ruleAt, (short) rule.length);
      out.put(ruleAt + RULE_LENGTH_BYTES, rule);
    }
    int checksumAt = bytes.length - CHECKSUM_BYTES;
    out.putInt(checksumAt, crc32c(ByteBuffer.wrap(bytes, 0, checksumAt)));
    return bytes;
  }

  /** Returns the length of the header of a file. Does not check the header. */
  static int headerLength(ByteBuffer file) throws SnapshotException {
    ByteBuffer in = file.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (in.limit() < PROLOGUE_BYTES) {
      throw new MalformedSnapshotException(
          "a snapshot must have at least " + MIN_HEADER_BYTES + " bytes, got " + in.limit());
    }
    if (in.mismatch(ByteBuffer.wrap(MAGIC)) != MAGIC.length) {
      throw new MalformedSnapshotException("this is not a snapshot: the magic number is missing");
    }
    int version = in.getShort(VERSION_AT) & 0xFFFF;
    if (version > VERSION) {
      throw new UnsupportedSnapshotException(
          "the snapshot has format version "
              + version
              + ", this program reads versions up to "
              + VERSION);
    }
    requireThat(version == VERSION, "the format version must be 1, got " + version);
    int headerBytes = in.getShort(HEADER_BYTES_AT) & 0xFFFF;
    requireThat(
        headerBytes >= MIN_HEADER_BYTES && headerBytes <= MAX_HEADER_BYTES,
        "the header must have 218 to 1319 bytes, got " + headerBytes);
    requireThat(
        headerBytes <= in.limit(),
        "the header has " + headerBytes + " bytes, the file only " + in.limit());
    return headerBytes;
  }

  /** Reads and checks a header. The checksum is checked first. */
  static SnapshotHeader readHeader(ByteBuffer file) throws SnapshotException {
    int headerBytes = headerLength(file);
    ByteBuffer in = file.slice().limit(headerBytes).order(ByteOrder.LITTLE_ENDIAN);
    int checksumAt = headerBytes - CHECKSUM_BYTES;
    requireThat(
        in.getInt(checksumAt) == crc32c(in.duplicate().limit(checksumAt)),
        "the checksum of the header does not match its " + headerBytes + " bytes");
    int requiredFlags = in.getInt(REQUIRED_FLAGS_AT);
    requireKnown(requiredFlags, "snapshot");
    int codec = in.get(CODEC_AT) & 0xFF;
    if (codec != SnapshotHeader.CODEC_SNAPSHOT) {
      throw new UnsupportedSnapshotException("the codec must be 1, got " + codec);
    }
    KeyHash.Algorithm hashAlgorithm;
    Canonicaliser canonicaliser;
    try {
      hashAlgorithm = KeyHash.Algorithm.of(in.get(HASH_ALGORITHM_AT) & 0xFF);
      canonicaliser =
          Canonicaliser.of(
              in.get(CANONICALISER_AT) & 0xFF, in.getShort(CANONICALISER_VERSION_AT) & 0xFFFF);
    } catch (IllegalArgumentException e) {
      throw new UnsupportedSnapshotException(e.getMessage(), e);
    }
    requireThat(
        in.get(RESERVED_BYTE_AT) == 0
            && in.getShort(RESERVED_AT) == 0
            && in.getLong(RESERVED_LONG_AT) == 0
            && Arrays.equals(bytesAt(in, RESERVED_DIGEST_AT, DIGEST_BYTES), new byte[DIGEST_BYTES]),
        "the reserved bytes must be 0");
    int setNameBytes = in.get(SET_NAME_BYTES_AT) & 0xFF;
    int ruleAt = SET_NAME_AT + setNameBytes;
    byte[] rule = {};
    if (requiredFlags == 0) {
      requireThat(
          ruleAt == checksumAt,
          "the set name must have " + (checksumAt - SET_NAME_AT) + " bytes, got " + setNameBytes);
    } else {
      int ruleBytes = checksumAt - ruleAt - RULE_LENGTH_BYTES;
      requireThat(
          ruleBytes > 0 && (in.getShort(ruleAt) & 0xFFFF) == ruleBytes,
          ruleField(requiredFlags) + " must end where the checksum of the header begins");
      rule = bytesAt(in, ruleAt + RULE_LENGTH_BYTES, ruleBytes);
    }
    SnapshotHeader header =
        new SnapshotHeader(
            VERSION,
            codec,
            readParameters(in, hashAlgorithm, canonicaliser, requiredFlags, rule, setNameBytes),
            countAt(in, HASH_COUNT_AT, "the number of hashes"),
            countAt(in, COUNT_AT, "the number of values"),
            readUniverse(in),
            in.getLong(GOLOMB_PARAMETER_AT),
            countAt(in, PAYLOAD_BITS_AT, "the number of payload bits"),
            lengthAt(in, BUCKET_STARTS_BYTES_AT, "the bucket starts"),
            lengthAt(in, PAYLOAD_BYTES_AT, "the payload"),
            HexFormat.of().formatHex(bytesAt(in, SET_DIGEST_AT, DIGEST_BYTES)),
            in.getInt(SECTIONS_CHECKSUM_AT));
    header.requireSound();
    return header;
  }

  /**
   * Returns the sections of a snapshot, from the end of the header to the end of the file, after a
   * check of their length and checksum.
   */
  static ByteBuffer sections(ByteBuffer file, SnapshotHeader header) throws SnapshotException {
    int headerBytes = headerLength(file);
    long expectedBytes = (long) headerBytes + header.bucketStartsBytes() + header.payloadBytes();
    requireThat(
        file.limit() == expectedBytes,
        "the file must have " + expectedBytes + " bytes, got " + file.limit());
    ByteBuffer sections = file.slice(headerBytes, file.limit() - headerBytes);
    requireThat(
        crc32c(sections) == header.sectionsChecksum(),
        "the checksum of the sections does not match their " + sections.limit() + " bytes");
    return sections;
  }

  /** Joins header and sections to the bytes of a file, ready to be read. */
  static ByteBuffer file(SnapshotHeader header, ByteBuffer sections) {
    byte[] headerBytes = headerBytes(header);
    return ByteBuffer.allocate(Math.addExact(headerBytes.length, sections.remaining()))
        .put(headerBytes)
        .put(sections.duplicate())
        .flip();
  }

  private static Universe readUniverse(ByteBuffer in) throws MalformedSnapshotException {
    try {
      return new Universe(in.getLong(BUCKETS_AT), in.getLong(BUCKET_WIDTH_AT));
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  private static SnapshotParameters readParameters(
      ByteBuffer in,
      KeyHash.Algorithm hashAlgorithm,
      Canonicaliser canonicaliser,
      int requiredFlags,
      byte[] rule,
      int setNameBytes)
      throws MalformedSnapshotException {
    try {
      return new SnapshotParameters(
          new SetParameters(
              hashAlgorithm,
              in.getLong(KEY_CHECK_AT),
              stripping(canonicaliser, requiredFlags, rule),
              in.getShort(CANONICALISER_VERSION_AT) & 0xFFFF,
              new Shards(in.getInt(SHARD_COUNT_AT)),
              in.getDouble(FALSE_POSITIVE_RATE_AT),
              near(requiredFlags, rule)),
          // Bytes that are not ASCII become characters that are not allowed in a set name.
          new String(bytesAt(in, SET_NAME_AT, setNameBytes), StandardCharsets.ISO_8859_1),
          in.getInt(SHARD_AT),
          in.getLong(SEQUENCE_AT),
          in.getLong(WINDOW_START_AT),
          in.getLong(WINDOW_END_AT));
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  /** Returns the CRC32C of the remaining bytes of a buffer. */
  static int crc32c(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate());
    return (int) crc.getValue();
  }

  static void requireThat(boolean holds, String sentence) throws MalformedSnapshotException {
    if (!holds) {
      throw new MalformedSnapshotException(sentence);
    }
  }

  /** Returns the required flags of a file with these parameters. */
  static int requiredFlags(SetParameters set) {
    return (set.canonicaliser().strippedParameters().isEmpty() ? 0 : STRIPS_PARAMETERS)
        | (set.near() == null ? 0 : CONTAINS_BANDS);
  }

  /** Returns the field that the required flags announce; empty for none. */
  static byte[] rule(SetParameters set) {
    String rule =
        set.near() == null ? set.canonicaliser().strippedParameters() : set.near().toString();
    return rule.getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the name of the field that the required flags announce. */
  static String ruleField(int requiredFlags) {
    return requiredFlags == CONTAINS_BANDS
        ? "the rule for near-duplicates"
        : "the stripped parameters";
  }

  /** Returns the maximum length of the field that the required flags announce. */
  static int maxRuleChars(int requiredFlags) {
    return requiredFlags == CONTAINS_BANDS ? MAX_NEAR_RULE_CHARS : Canonicaliser.MAX_STRIPPED_CHARS;
  }

  /** Rejects a file that requires features which this version does not support. */
  static void requireKnown(int requiredFlags, String what) throws SnapshotException {
    int known = STRIPS_PARAMETERS | CONTAINS_BANDS;
    if ((requiredFlags & ~known) != 0) {
      throw new UnsupportedSnapshotException(
          "the %s needs features 0x%02x, of which this program knows 0x%02x"
              .formatted(what, requiredFlags, known));
    }
    // They need different canonicalisers.
    requireThat(requiredFlags != known, "the " + what + " must have one of the features 1 and 2");
  }

  /**
   * Returns the canonicaliser with the stripped parameters of a file, which must be in their
   * canonical form.
   */
  static Canonicaliser stripping(Canonicaliser canonicaliser, int requiredFlags, byte[] patterns)
      throws MalformedSnapshotException {
    if (requiredFlags != STRIPS_PARAMETERS) {
      return canonicaliser;
    }
    String text = new String(patterns, StandardCharsets.ISO_8859_1);
    Canonicaliser stripping = canonicaliser.stripping(text);
    requireThat(
        stripping.strippedParameters().equals(text),
        "the stripped parameters must be sorted and distinct, got " + text);
    return stripping;
  }

  /** Returns the rule for near-duplicates of a file, which must be in its canonical form. */
  static @Nullable NearRule near(int requiredFlags, byte[] rule) throws MalformedSnapshotException {
    if (requiredFlags != CONTAINS_BANDS) {
      return null;
    }
    String text = new String(rule, StandardCharsets.ISO_8859_1);
    NearRule near = NearRule.of(text);
    requireThat(
        near.toString().equals(text),
        "the rule for near-duplicates must be in its form " + near + ", got " + text);
    return near;
  }

  private static long countAt(ByteBuffer in, int offset, String name)
      throws MalformedSnapshotException {
    long count = in.getLong(offset);
    requireThat(
        count >= 0, name + " must be at most 2^63 - 1, got " + Long.toUnsignedString(count));
    return count;
  }

  private static int lengthAt(ByteBuffer in, int offset, String name)
      throws MalformedSnapshotException {
    long length = in.getLong(offset);
    requireThat(
        length >= 0 && length <= Integer.MAX_VALUE,
        name + " must have at most 2^31 - 1 bytes, got " + Long.toUnsignedString(length));
    return (int) length;
  }

  private static byte[] bytesAt(ByteBuffer in, int offset, int length) {
    byte[] bytes = new byte[length];
    in.get(offset, bytes);
    return bytes;
  }
}
