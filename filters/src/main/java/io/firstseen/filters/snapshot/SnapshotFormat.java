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
 * The bytes of a snapshot's header. Specified in {@code docs/format/snapshot-v1.md}. Integers are
 * little-endian.
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
    byte[] rule = rule(set);
    int ruleBytes = rule.length == 0 ? 0 : RULE_LENGTH_BYTES + rule.length;
    FieldWriter out =
        new FieldWriter()
            .bytes(MAGIC)
            .u16(header.formatVersion())
            .u16(SET_NAME_AT + parameters.setName().length() + ruleBytes + CHECKSUM_BYTES)
            .i32(requiredFlags(set))
            .u8(header.codec())
            .u8(0)
            .u8(set.hashAlgorithm().code())
            .u8(set.canonicaliser().code())
            .u16(set.canonicaliserVersion())
            .u16(0)
            .i32(parameters.shard())
            .i32(set.shards().count())
            .i64(set.keyCheck())
            .i64(Double.doubleToLongBits(set.falsePositiveRate()))
            .i64(parameters.sequence())
            .i64(parameters.windowStartMillis())
            .i64(parameters.windowEndMillis())
            .i64(header.hashCount())
            .i64(header.count())
            .i64(header.golombParameter())
            .i64(0)
            .i64(header.payloadBits())
            .i64(header.bucketStartsBytes())
            .i64(header.payloadBytes())
            .digest(header.setDigest())
            .bytes(new byte[DIGEST_BYTES])
            .i64(header.universe().buckets())
            .i64(header.universe().width())
            .i32(header.sectionsChecksum())
            .name(parameters.setName());
    if (rule.length > 0) {
      out.u16(rule.length).bytes(rule);
    }
    return out.checksum().toBytes();
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
          "the snapshot has format version %d, this program reads versions up to %d"
              .formatted(version, VERSION));
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
    int checksumAt = headerBytes - CHECKSUM_BYTES;
    ByteBuffer in = file.slice().order(ByteOrder.LITTLE_ENDIAN);
    int checksum = in.getInt(checksumAt);
    in.limit(checksumAt);
    requireThat(
        checksum == crc32c(in),
        "the checksum of the header does not match its " + headerBytes + " bytes");
    in.position(PROLOGUE_BYTES);
    int requiredFlags = in.getInt();
    requireKnown(requiredFlags, "snapshot");
    int codec = in.get() & 0xFF;
    if (codec != SnapshotHeader.CODEC_SNAPSHOT) {
      throw new UnsupportedSnapshotException("the codec must be 1, got " + codec);
    }
    long reserved = in.get();
    KeyHash.Algorithm hashAlgorithm;
    Canonicaliser canonicaliser;
    int canonicaliserVersion;
    try {
      hashAlgorithm = KeyHash.Algorithm.of(in.get() & 0xFF);
      int code = in.get() & 0xFF;
      canonicaliserVersion = in.getShort() & 0xFFFF;
      canonicaliser = Canonicaliser.of(code, canonicaliserVersion);
    } catch (IllegalArgumentException e) {
      throw new UnsupportedSnapshotException(e.getMessage(), e);
    }
    reserved |= in.getShort();
    int shard = in.getInt();
    int shardCount = in.getInt();
    long keyCheck = in.getLong();
    double falsePositiveRate = in.getDouble();
    long sequence = in.getLong();
    long windowStartMillis = in.getLong();
    long windowEndMillis = in.getLong();
    long hashCount = in.getLong();
    long count = in.getLong();
    long golombParameter = in.getLong();
    reserved |= in.getLong();
    long payloadBits = in.getLong();
    long bucketStartsBytes = in.getLong();
    long payloadBytes = in.getLong();
    String setDigest = HexFormat.of().formatHex(nextBytes(in, DIGEST_BYTES));
    requireThat(
        reserved == 0 && Arrays.equals(nextBytes(in, DIGEST_BYTES), new byte[DIGEST_BYTES]),
        "the reserved bytes must be 0");
    long buckets = in.getLong();
    long width = in.getLong();
    int sectionsChecksum = in.getInt();
    int setNameBytes = in.get() & 0xFF;
    int ruleBytes = in.remaining() - setNameBytes - RULE_LENGTH_BYTES;
    if (requiredFlags == 0) {
      requireThat(
          in.remaining() == setNameBytes,
          "the set name must have " + in.remaining() + " bytes, got " + setNameBytes);
    } else {
      requireThat(
          ruleBytes > 0 && (in.getShort(in.position() + setNameBytes) & 0xFFFF) == ruleBytes,
          ruleField(requiredFlags) + " must end where the checksum of the header begins");
    }
    // Bytes that are not ASCII become characters that are not allowed in a set name.
    String setName = new String(nextBytes(in, setNameBytes), StandardCharsets.ISO_8859_1);
    byte[] rule = {};
    if (requiredFlags != 0) {
      in.getShort();
      rule = nextBytes(in, ruleBytes);
    }
    try {
      SetParameters set =
          new SetParameters(
              hashAlgorithm,
              keyCheck,
              stripping(canonicaliser, requiredFlags, rule),
              canonicaliserVersion,
              new Shards(shardCount),
              falsePositiveRate,
              near(requiredFlags, rule));
      SnapshotHeader header =
          new SnapshotHeader(
              VERSION,
              codec,
              new SnapshotParameters(
                  set, setName, shard, sequence, windowStartMillis, windowEndMillis),
              requireCount(hashCount, "the number of hashes"),
              requireCount(count, "the number of values"),
              new Universe(buckets, width),
              golombParameter,
              requireCount(payloadBits, "the number of payload bits"),
              requireLength(bucketStartsBytes, "the bucket starts"),
              requireLength(payloadBytes, "the payload"),
              setDigest,
              sectionsChecksum);
      header.requireSound();
      return header;
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
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

  static String ruleField(int requiredFlags) {
    return requiredFlags == CONTAINS_BANDS
        ? "the rule for near-duplicates"
        : "the stripped parameters";
  }

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

  private static long requireCount(long count, String name) throws MalformedSnapshotException {
    requireThat(
        count >= 0, name + " must be at most 2^63 - 1, got " + Long.toUnsignedString(count));
    return count;
  }

  private static int requireLength(long length, String name) throws MalformedSnapshotException {
    requireThat(
        length >= 0 && length <= Integer.MAX_VALUE,
        name + " must have at most 2^31 - 1 bytes, got " + Long.toUnsignedString(length));
    return (int) length;
  }

  private static byte[] nextBytes(ByteBuffer in, int length) {
    byte[] bytes = new byte[length];
    in.get(bytes);
    return bytes;
  }
}
