package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The binary form of a manifest. Specified in {@code docs/format/manifest-v1.md}. */
final class ManifestFormat {
  static final int SIGNATURE_BYTES = 8 + ManifestSignature.VALUE_BYTES;

  private static final byte[] MAGIC = {(byte) 0x89, 'F', 'S', 'M'};
  private static final int CHECKSUM_BYTES = 4;
  private static final int EXPIRES = 1;
  private static final int BLOBS = 2;
  private static final int PACK = 4;
  private static final int SIGNED = 8;
  private static final int EXTENSION = 16;
  private static final int ALL_PARTS = EXPIRES | BLOBS | PACK | SIGNED | EXTENSION;

  private ManifestFormat() {}

  static byte[] write(Manifest manifest) {
    ManifestSignature signature = manifest.signature();
    byte[] signed = signedBytes(manifest, signature != null);
    if (signature == null) {
      return signed;
    }
    return new FieldWriter()
        .bytes(signed)
        .bytes(HexFormat.of().parseHex(signature.key()))
        .bytes(signature.bytes())
        .toBytes();
  }

  /** Returns the bytes before the signature, which it covers. */
  static byte[] signedBytes(Manifest manifest, boolean isSigned) {
    SetParameters set = manifest.parameters();
    Long expires = manifest.expiresMillis();
    URI blobs = manifest.blobs();
    BlobReference pack = manifest.pack();
    String extension = manifest.extension();
    FieldWriter out =
        FieldWriter.begin(MAGIC)
            .u8(SnapshotFormat.requiredFlags(set))
            .u8(
                (expires == null ? 0 : EXPIRES)
                    | (blobs == null ? 0 : BLOBS)
                    | (pack == null ? 0 : PACK)
                    | (isSigned ? SIGNED : 0)
                    | (extension == null ? 0 : EXTENSION))
            .name(manifest.setName())
            .leb(manifest.sequence())
            .i64(manifest.windowEndMillis())
            .leb(manifest.windowEndMillis() - manifest.windowStartMillis())
            .leb(manifest.publishedMillis());
    if (expires != null) {
      out.leb(expires - manifest.publishedMillis());
    }
    out.u8(set.hashAlgorithm().code())
        .i64(set.keyCheck())
        .u8(set.canonicaliser().code())
        .leb(set.canonicaliserVersion());
    byte[] rule = SnapshotFormat.rule(set);
    if (rule.length > 0) {
      out.leb(rule.length).bytes(rule);
    }
    out.leb(set.shards().count())
        .i64(Double.doubleToLongBits(set.falsePositiveRate()))
        .leb(manifest.count())
        .digest(manifest.root());
    if (pack != null) {
      out.reference(pack).leb(manifest.packBytes());
    }
    if (blobs != null) {
      byte[] uri = blobs.toASCIIString().getBytes(StandardCharsets.US_ASCII);
      out.leb(uri.length).bytes(uri);
    }
    if (extension != null) {
      byte[] bytes = HexFormat.of().parseHex(extension);
      out.leb(bytes.length).bytes(bytes);
    }
    return out.checksum().toBytes();
  }

  /** Returns the bytes that the signature of a signed manifest covers. */
  static byte[] signedPart(byte[] manifest) {
    return Arrays.copyOf(manifest, manifest.length - SIGNATURE_BYTES);
  }

  static Manifest read(ByteBuffer bytes) throws SnapshotException {
    FieldReader in = new FieldReader(bytes);
    in.begin(MAGIC, "a manifest", "the manifest");
    int requiredFlags = in.u8("the required flags");
    SnapshotFormat.requireKnown(requiredFlags, "manifest");
    int parts = in.u8("the parts");
    if ((parts & ~ALL_PARTS) != 0) {
      throw new UnsupportedSnapshotException(
          "the manifest has parts 0x%02x, of which this program knows 0x%02x"
              .formatted(parts, ALL_PARTS));
    }
    boolean isSigned = (parts & SIGNED) != 0;
    int checkedBytes = bytes.remaining() - CHECKSUM_BYTES - (isSigned ? SIGNATURE_BYTES : 0);
    requireThat(checkedBytes >= in.position(), "the manifest ends too early");
    ByteBuffer checked = bytes.slice().limit(checkedBytes);
    FieldReader fields = new FieldReader(checked.duplicate().position(in.position()));
    FieldReader end = new FieldReader(bytes.slice().position(checkedBytes));
    requireThat(
        end.i32("the checksum") == SnapshotFormat.crc32c(checked),
        "the checksum of the manifest does not match its bytes");
    ManifestSignature signature = isSigned ? readSignature(end) : null;
    try {
      return readFields(fields, requiredFlags, parts, signature);
    } catch (IllegalArgumentException e) {
      throw new MalformedSnapshotException(e.getMessage(), e);
    }
  }

  private static Manifest readFields(
      FieldReader in, int requiredFlags, int parts, @Nullable ManifestSignature signature)
      throws SnapshotException {
    String setName = in.name();
    long sequence = in.leb("sequence");
    long windowEndMillis = in.i64("windowEndMillis");
    long windowMillis = in.leb("the length of the window");
    requireThat(
        windowEndMillis >= Long.MIN_VALUE + windowMillis,
        "the window must begin at -2^63 or later");
    long publishedMillis = in.leb("publishedMillis", 0, Manifest.MAX_MILLIS);
    Long expiresMillis =
        (parts & EXPIRES) == 0
            ? null
            : publishedMillis + in.leb("the time until the expiry", 1, Manifest.MAX_MILLIS);
    SetParameters parameters = readParameters(in, requiredFlags);
    long count = in.leb("count");
    String root = in.digest("the root");
    BlobReference pack = (parts & PACK) == 0 ? null : in.reference("the pack");
    long packBytes = pack == null ? 0 : in.leb("packBytes", 0, Manifest.MAX_BYTES);
    URI blobs = (parts & BLOBS) == 0 ? null : readUri(in);
    String extension = (parts & EXTENSION) == 0 ? null : readExtension(in);
    in.requireEnd();
    return new Manifest(
        setName,
        sequence,
        windowEndMillis - windowMillis,
        windowEndMillis,
        publishedMillis,
        expiresMillis,
        parameters,
        count,
        root,
        pack,
        packBytes,
        blobs,
        extension,
        signature);
  }

  private static SetParameters readParameters(FieldReader in, int requiredFlags)
      throws SnapshotException {
    int hash = in.u8("the hash");
    long keyCheck = in.i64("keyCheck");
    int canonicaliserCode = in.u8("the canonicaliser");
    KeyHash.Algorithm algorithm;
    Canonicaliser canonicaliser;
    int version;
    try {
      algorithm = KeyHash.Algorithm.of(hash);
      version = (int) in.leb("canonicaliserVersion", 1, 65_535);
      canonicaliser = Canonicaliser.of(canonicaliserCode, version);
    } catch (IllegalArgumentException e) {
      throw new UnsupportedSnapshotException(e.getMessage(), e);
    }
    byte[] rule = {};
    if (requiredFlags != 0) {
      String field = SnapshotFormat.ruleField(requiredFlags);
      long length = in.leb("the length of " + field, 1, SnapshotFormat.maxRuleChars(requiredFlags));
      rule = in.bytes((int) length, field);
    }
    int shards = (int) in.leb("shards", 1, Integer.MAX_VALUE);
    return new SetParameters(
        algorithm,
        keyCheck,
        SnapshotFormat.stripping(canonicaliser, requiredFlags, rule),
        version,
        new Shards(shards),
        Double.longBitsToDouble(in.i64("falsePositiveRate")),
        SnapshotFormat.near(requiredFlags, rule));
  }

  private static URI readUri(FieldReader in) throws MalformedSnapshotException {
    int length = (int) in.leb("the length of blobs", 1, Manifest.MAX_URI_CHARS);
    String uri = new String(in.bytes(length, "blobs"), StandardCharsets.ISO_8859_1);
    URI read = URI.create(uri);
    requireThat(read.toASCIIString().equals(uri), "blobs must be ASCII, got '" + uri + "'");
    return read;
  }

  private static String readExtension(FieldReader in) throws MalformedSnapshotException {
    int length = (int) in.leb("the length of the extension", 1, Manifest.MAX_EXTENSION_BYTES);
    return HexFormat.of().formatHex(in.bytes(length, "the extension"));
  }

  private static ManifestSignature readSignature(FieldReader in) throws MalformedSnapshotException {
    String key = HexFormat.of().formatHex(in.bytes(8, "the id of the key"));
    byte[] value = in.bytes(ManifestSignature.VALUE_BYTES, "the signature");
    in.requireEnd();
    return ManifestSignature.of(key, value);
  }
}
