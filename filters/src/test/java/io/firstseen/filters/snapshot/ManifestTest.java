package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchIllegalArgumentException;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ManifestTest {
  /** One in so many forgeries, and each changed bit, is tried. */
  private static final int STEP = Integer.getInteger("firstseen.scale", 1) > 1 ? 1 : 5;

  private static final String ROOT = "ab".repeat(32);
  private static final String DIGEST = "cd".repeat(32);
  private static final BlobReference PACK = new BlobReference(DIGEST, 300);
  private static final SetParameters PARAMETERS = parameters(2, 0.001);
  private static final int SIGNATURE_BYTES = 72;

  private final Manifest manifest =
      Manifest.of(
          "phishing", 7, 1_700_000_000_000L, 1_700_003_600_000L, PARAMETERS, 43, ROOT, PACK, 4000);
  private final Manifest full =
      manifest
          .withTimes(1_700_003_661_000L, 1_700_007_261_000L)
          .withBlobs(URI.create("s3://bucket/phishing/blobs"))
          .withSignature(ManifestSignature.of("0123456789abcdef", bytesFrom(64)));

  /** Like {@link #full}, of a set that strips parameters. */
  private final Manifest stripping =
      Manifest.of(
              "phishing",
              7,
              1_700_000_000_000L,
              1_700_003_600_000L,
              new SetParameters(
                  PARAMETERS.hashAlgorithm(),
                  PARAMETERS.keyCheck(),
                  Canonicaliser.URL.stripping("utm_*,gclid"),
                  PARAMETERS.canonicaliserVersion(),
                  PARAMETERS.shards(),
                  PARAMETERS.falsePositiveRate()),
              43,
              ROOT,
              PACK,
              4000)
          .withTimes(1_700_003_661_000L, 1_700_007_261_000L)
          .withBlobs(URI.create("s3://bucket/phishing/blobs"))
          .withSignature(ManifestSignature.of("0123456789abcdef", bytesFrom(64)));

  /** The fields of {@link #full} up to the checksum, as the specification says. */
  private static Map<String, String> fields() {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("magic", "8946534d");
    fields.put("version", "01");
    fields.put("flags", "00");
    fields.put("parts", "0f");
    fields.put("name", "08" + hex("phishing"));
    fields.put("sequence", "07");
    fields.put("windowEnd", "80561cd08b010000");
    fields.put("window", "80dddb01");
    fields.put("published", "c889f580bd31");
    fields.put("expires", "80dddb01");
    fields.put("hash", "01");
    fields.put("keyCheck", "ff00000000000000");
    fields.put("canonicaliser", "01");
    fields.put("canonicaliserVersion", "01");
    fields.put("shards", "02");
    // 0x3F50624DD2F1A9FC is the number that is nearest to 0.001.
    fields.put("rate", "fca9f1d24d62503f");
    fields.put("count", "2b");
    fields.put("root", ROOT);
    fields.put("pack", DIGEST + "ac02");
    fields.put("packBytes", "a01f");
    fields.put("blobs", "1a" + hex("s3://bucket/phishing/blobs"));
    return fields;
  }

  @Test
  void hasTheDocumentedBytes() {
    byte[] bytes = full.toBytes();
    int signedBytes = bytes.length - SIGNATURE_BYTES;
    assertThat(HexFormat.of().formatHex(bytes, 0, signedBytes - 4))
        .isEqualTo(String.join("", fields().values()));
    byte[] mended = ForgedFile.mendEnd(Arrays.copyOf(bytes, signedBytes));
    assertThat(bytes).startsWith(mended);
    assertThat(HexFormat.of().formatHex(bytes, signedBytes, bytes.length))
        .isEqualTo("0123456789abcdef" + HexFormat.of().formatHex(bytesFrom(64)));
  }

  @Test
  void isSmallForAnyNumberOfShards() {
    for (int shards : new int[] {1, 64, 65_536}) {
      Manifest any =
          Manifest.of("phishing", 7, 0, 3_600_000, parameters(shards, 0.001), 43, ROOT, PACK, 4000);
      assertThat(any.toBytes()).hasSizeLessThan(140);
    }
  }

  @Test
  void isReadBack() throws Exception {
    Manifest nothing = Manifest.of("a", 0, 0, 0, parameters(1, 0.1), 0, ROOT, null, 0);
    Manifest widest =
        new Manifest(
            "s".repeat(100),
            Long.MAX_VALUE,
            -1,
            Long.MAX_VALUE - 1,
            253_402_300_799_998L,
            253_402_300_799_999L,
            new SetParameters(
                KeyHash.Algorithm.XXH3_64,
                -1,
                Canonicaliser.TEXT,
                65_535,
                new Shards(65_536),
                Double.MIN_VALUE),
            1L << 40,
            ROOT,
            new BlobReference(DIGEST, Integer.MAX_VALUE),
            1L << 53,
            URI.create("s3://" + "b".repeat(1_995)),
            "ef".repeat(4_096),
            ManifestSignature.of("f".repeat(16), bytesFrom(64)));
    for (Manifest each : new Manifest[] {manifest, full, nothing, widest}) {
      assertThat(Manifest.read(each.toBytes())).isEqualTo(each);
      assertThat(Manifest.read(each.toBytes()).toBytes()).isEqualTo(each.toBytes());
      Manifest unsigned = each.withSignature(null);
      assertThat(Manifest.read(unsigned.toBytes())).isEqualTo(unsigned);
    }
    byte[] earliest = bytesWith(Map.of("windowEnd", "0000000000000080", "window", "00"));
    assertThat(Manifest.read(earliest).windowEndMillis()).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void isReadBackWithEachOfItsParts() throws Exception {
    for (int parts = 0; parts < 32; parts++) {
      Manifest each =
          new Manifest(
              "phishing",
              7,
              0,
              10,
              5,
              (parts & 1) == 0 ? null : 6L,
              PARAMETERS,
              (parts & 4) == 0 ? 0 : 43,
              ROOT,
              (parts & 4) == 0 ? null : PACK,
              (parts & 4) == 0 ? 0 : 300,
              (parts & 2) == 0 ? null : full.blobs(),
              (parts & 16) == 0 ? null : "00",
              (parts & 8) == 0 ? null : full.signature());
      byte[] bytes = each.toBytes();
      assertThat(bytes[6]).isEqualTo((byte) parts);
      assertThat(Manifest.read(bytes)).isEqualTo(each);
    }
  }

  @Test
  void whatItSaysOfTheSetDependsOnNeitherTimeNorPlace() {
    Manifest later =
        full.withTimes(1_700_003_662_000L, null).withBlobs(null).withExtension("010100");
    assertThat(later.hasContentOf(full)).isTrue();
    assertThat(later.content().toBytes()).isEqualTo(full.content().toBytes());
    assertThat(full.withTimes(0, null).signature()).as("of another time").isNull();
    assertThat(full.withBlobs(URI.create("file:///elsewhere")).signature())
        .as("of another place")
        .isNull();
    Manifest other =
        Manifest.of(
            "phishing",
            7,
            1_700_000_000_000L,
            1_700_003_600_000L,
            PARAMETERS,
            43,
            DIGEST,
            PACK,
            4000);
    assertThat(other.hasContentOf(full)).as("another root").isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "s3://bucket/phishing, s3://bucket/phishing/",
    "s3://bucket/phishing/, s3://bucket/phishing/",
    "https://a.example:8080/x%20y, https://a.example:8080/x%20y/",
    "file:/var/blobs, file:/var/blobs/",
    "file:/var/bl\u00f6cke, file:/var/bl\u00f6cke/",
  })
  void saysWhereABlobLies(String directory, String before) throws Exception {
    Manifest elsewhere = manifest.withBlobs(URI.create(directory));
    assertThat(elsewhere.blobUri(DIGEST)).hasToString(before + DIGEST);
    assertThat(Manifest.read(elsewhere.toBytes()).blobUri(DIGEST).toASCIIString())
        .isEqualTo(elsewhere.blobUri(DIGEST).toASCIIString());
    assertThatThrownBy(() -> manifest.blobUri(DIGEST)).isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "version | 02 | the manifest has format version 2, this program reads versions up to 1",
        "version | ff | the manifest has format version 255,",
        "flags | 04 | the manifest needs features 0x04, of which this program knows 0x03",
        "flags | 80 | the manifest needs features 0x80, of which this program knows 0x03",
        "parts | 2f | the manifest has parts 0x2f, of which this program knows 0x1f",
        "parts | 8f | the manifest has parts 0x8f, of which this program knows 0x1f",
        "hash | 00 | hash code must be in [1, 2], got 0",
        "hash | 03 | hash code must be in [1, 2], got 3",
        "canonicaliser | 04 | the canonicaliser must be in [0, 3], got 4",
      })
  void leavesNewerOnesToNewerReaders(String field, String hex, String sentence) {
    assertThatThrownBy(() -> Manifest.read(fullWith(field, hex)))
        .isInstanceOf(UnsupportedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  @Test
  void statesStrippedParameters() throws Exception {
    assertThat(Manifest.read(stripping.toBytes())).isEqualTo(stripping).isNotEqualTo(full);
    assertThat(stripping.toBytes())
        .isEqualTo(
            bytesWith(Map.of("flags", "01", "canonicaliserVersion", "010b" + hex("gclid,utm_*"))));
  }

  @Test
  void statesARuleForNearDuplicates() throws Exception {
    Manifest near = Manifest.read(nearBytes("0e" + hex("words:3,18x8,1")));
    assertThat(near.parameters().near()).isEqualTo(NearRule.of("words:3,18x8,1"));
    assertThat(near.toBytes()).isEqualTo(nearBytes("0e" + hex("words:3,18x8,1")));
  }

  private byte[] nearBytes(String rule) {
    return bytesWith(
        Map.of("flags", "02", "canonicaliser", "02", "canonicaliserVersion", "01" + rule));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "02 | 02 | 00 | the length of the rule for near-duplicates must be in [1, 30], got 0",
        "02 | 02 | 046c6f6e67 | must be in its form words:3,20x9,1, got long",
        "02 | 02 | 0177 | near must be short, long, or UNIT:SHINGLE,BANDSxROWS,MATCHES",
        "02 | 01 | 0e776f7264733a332c313878382c31 | need the canonicaliser text, got url",
        "03 | 01 | 0161 | the manifest must have one of the features 1 and 2",
      })
  void refusesOtherRulesForNearDuplicates(
      String flags, String canonicaliser, String rule, String sentence) {
    byte[] bytes =
        bytesWith(
            Map.of(
                "flags",
                flags,
                "canonicaliser",
                canonicaliser,
                "canonicaliserVersion",
                "01" + rule));
    assertThatThrownBy(() -> Manifest.read(bytes))
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "01 | 00 | the length of the stripped parameters must be in [1, 1000], got 0",
        "01 | e907 | the length of the stripped parameters must be in [1, 1000], got 1001",
        "01 | e807 | the stripped parameters needs 1000 bytes, only",
        "01 | 03622c61 | the stripped parameters must be sorted and distinct, got b,a",
        "01 | 03612c61 | the stripped parameters must be sorted and distinct, got a,a",
        "01 | 06636f6d6d6f6e | the stripped parameters must be sorted and distinct, got common",
        "01 | 01e4 | a stripped parameter must be a name of letters, digits and",
        "00 | 0161 | only the canonicaliser url strips parameters, not none",
        "03 | 0161 | only the canonicaliser url strips parameters, not url-expression",
      })
  void refusesOtherStrippedParameters(String canonicaliser, String hex, String sentence) {
    byte[] bytes =
        bytesWith(
            Map.of(
                "flags", "01", "canonicaliser", canonicaliser, "canonicaliserVersion", "01" + hex));
    assertThatThrownBy(() -> Manifest.read(bytes))
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  /** Nothing behind the version must be understood, nor even the checksum fit. */
  @Test
  void saysThatANewerVersionIsNewerWhateverItLooksLike() {
    byte[] newer = {(byte) 0x89, 'F', 'S', 'M', 2};
    assertThatThrownBy(() -> Manifest.read(newer)).isInstanceOf(UnsupportedSnapshotException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "magic | 89465342 | this is not a manifest: the magic number is missing",
        "version | 00 | the format version must be 1, got 0",
        "name | 00 | a set name must be 1 to 100 of the characters",
        "name | 03612f62 | a set name must be 1 to 100 of the characters",
        "name | 01e4 | a set name must be 1 to 100 of the characters",
        "sequence | 80808080808080808001 | sequence must be below 2^63",
        "sequence | 8700 | sequence must have no leading zeros",
        "window | 80808080808080808001 | the length of the window must be below 2^63",
        "windowEnd | 0000000000000080 | the window must begin at -2^63 or later",
        "published | 80b8ff90fdce39 | publishedMillis must be in [0, 253402300799999]",
        "expires | 00 | the time until the expiry must be in [1, 253402300799999], got 0",
        "expires | ffb7ff90fdce39 | expiresMillis must be in [1700003661001, 253402300799999]",
        "expires | 80b8ff90fdce39 | the time until the expiry must be in [1, 253402300799999]",
        "canonicaliserVersion | 00 | canonicaliserVersion must be in [1, 65535], got 0",
        "canonicaliserVersion | 808004 | canonicaliserVersion must be in [1, 65535], got 65536",
        "shards | 00 | shards must be",
        "shards | 03 | shards must be a power of two in [1, 65536], got 3",
        "shards | 808008 | shards must be a power of two in [1, 65536], got 131072",
        "shards | 8080808010 | shards must be in [1, 2147483647], got 4294967296",
        "rate | 0000000000000000 | falsePositiveRate must be in (0, 0.1], got 0.0",
        "rate | 000000000000e03f | falsePositiveRate must be in (0, 0.1], got 0.5",
        "rate | 000000000000f87f | falsePositiveRate must be in (0, 0.1], got NaN",
        "rate | fca9f1d24d6250bf | falsePositiveRate must be in (0, 0.1], got -0.001",
        "count | 818080808020 | count must be in [0, 2^40], got 1099511627777",
        "pack | DIGEST00 | the length of the pack must be in [1, 2147483647], got 0",
        "pack | DIGEST8080808008 | the length of the pack must be in [1, 2147483647], got 21474",
        "packBytes | ab02 | packBytes must be at least 300, got 299",
        "blobs | 00 | the length of blobs must be in [1, 2000], got 0",
        "blobs | d10f | the length of blobs must be in [1, 2000], got 2001",
        "blobs | 01 | blobs needs 1 bytes, only 0 are left",
      })
  void refusesFieldsOutOfRange(String field, String hex, String sentence) {
    byte[] bytes =
        field.equals("windowEnd")
            ? bytesWith(Map.of(field, hex, "window", "01"))
            : fullWith(field, hex.replace("DIGEST", DIGEST));
    assertThatThrownBy(() -> Manifest.read(bytes))
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "blobs/x | blobs must be the URI of a directory, such as s3://bucket/path, got 'blobs/x'",
        "mailto:a | blobs must be the URI of a directory",
        "http://a.example/?x=1 | blobs must be the URI of a directory",
        "http://a.example/#x | blobs must be the URI of a directory",
        "http://a b | Illegal character in authority at index 7: http://a b",
        "http://me:secret@a.example/ | blobs must not have a user or a password in it",
        "s3://b/\u00e4 | blobs must be ASCII, got 's3://b/\u00e4'",
      })
  void refusesWhatIsNoDirectory(String uri, String sentence) {
    byte[] letters = uri.getBytes(StandardCharsets.ISO_8859_1);
    byte[] bytes = fullWith("blobs", leb(letters.length) + HexFormat.of().formatHex(letters));
    assertThatThrownBy(() -> Manifest.read(bytes))
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(sentence)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("secret"));
  }

  private static Manifest empty(long sequence, long start, long count, String root, long bytes) {
    return Manifest.of("a", sequence, start, 1, PARAMETERS, count, root, null, bytes);
  }

  @Test
  void refusesContradictions() {
    assertThat(catchIllegalArgumentException(() -> empty(0, 0, 1, ROOT, 0)))
        .hasMessageContainingAll("packBytes", "count", "0 and 1");
    assertThat(catchIllegalArgumentException(() -> empty(0, 0, 0, ROOT, 2)))
        .hasMessageContainingAll("packBytes", "count", "2 and 0");
    assertThat(catchIllegalArgumentException(() -> empty(0, 2, 0, ROOT, 0)))
        .hasMessageContainingAll("windowStartMillis", "windowEndMillis (1)", "got 2");
    assertThat(catchIllegalArgumentException(() -> empty(-1, 0, 0, ROOT, 0)))
        .hasMessageContainingAll("sequence", "at least 0", "-1");
    assertThat(catchIllegalArgumentException(() -> empty(0, 0, 0, "AB", 0)))
        .hasMessageContainingAll("root", "64", "'AB'");
    long tooEarly = Long.MIN_VALUE + 1;
    assertThat(catchIllegalArgumentException(() -> empty(0, tooEarly, 0, ROOT, 0)))
        .hasMessageContainingAll("window", "2^63 ms", "[" + tooEarly + ", 1)");
    assertThat(catchIllegalArgumentException(() -> manifest.withTimes(5, 5L)))
        .hasMessageContainingAll("expiresMillis", "[6, 253402300799999]", "got 5");
    assertThat(catchIllegalArgumentException(() -> manifest.withTimes(-1, null)))
        .hasMessageContainingAll("publishedMillis", "[0, 253402300799999]", "-1");
    URI tooLong = URI.create("s3://" + "b".repeat(1_996));
    assertThat(catchIllegalArgumentException(() -> manifest.withBlobs(tooLong)))
        .hasMessageContainingAll("blobs", "2000", "2001");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void refusesOtherTexts(int kind) {
    byte[] bytes =
        switch (kind) {
          case 0 -> new byte[0];
          case 1 -> new byte[] {(byte) 0x89, 'F', 'S'};
          case 2 -> "{\"format\":1,\"set\":\"phishing\"}".getBytes(StandardCharsets.UTF_8);
          default -> new byte[100];
        };
    assertThatThrownBy(() -> Manifest.read(bytes))
        .isExactlyInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll("manifest", "magic number");
  }

  @Test
  void refusesEveryTruncationAndWhatFollows() {
    for (byte[] good : new byte[][] {manifest.toBytes(), full.toBytes(), stripping.toBytes()}) {
      for (int length = 0; length <= good.length + 1; length++) {
        byte[] cut = Arrays.copyOf(good, length);
        if (length != good.length) {
          assertMalformed(cut, length);
        }
        // Shorter ones have the checksum where the version should be.
        if (length != good.length && length > 10 && good[6] < 8) {
          assertMalformed(ForgedFile.mendEnd(cut), length);
        }
      }
    }
  }

  private static void assertMalformed(byte[] bytes, int length) {
    assertThatThrownBy(() -> Manifest.read(bytes))
        .as("%d bytes", length)
        .isExactlyInstanceOf(MalformedSnapshotException.class);
  }

  /** The checksum finds each; a signature is not under it, but see {@link SigningKeyTest}. */
  @Test
  void refusesEveryChangeOfAByte() throws Exception {
    byte[] good = full.toBytes();
    for (int at = 0; at < good.length; at++) {
      for (int change = 1; change < 256; change++) {
        if (change % STEP != 0 && Integer.bitCount(change) > 1) {
          continue;
        }
        byte[] changed = good.clone();
        changed[at] ^= (byte) change;
        if (at >= good.length - SIGNATURE_BYTES) {
          Manifest read = Manifest.read(changed);
          assertThat(read.withSignature(null)).isEqualTo(full.withSignature(null));
          assertThat(read).isNotEqualTo(full);
        } else {
          assertThat(isRefused(changed)).as("byte %d changed by %d", at, change).isTrue();
        }
      }
    }
  }

  /** Even with a corrected checksum, no manifest with a second encoding is accepted. */
  @Test
  void forgedBytesAreRefusedOrTheOneFormOfAManifest() throws Exception {
    SplittableRandom random = new SplittableRandom(61);
    int refused = 0;
    int forgeries = 0;
    for (Manifest each : new Manifest[] {manifest, full, stripping}) {
      byte[] good = each.withSignature(null).toBytes();
      for (int at = 0; at < good.length - 4; at++) {
        for (int change = 1; change < 256; change += STEP) {
          byte[] forged = good.clone();
          forged[at] ^= (byte) change;
          refused += isRefused(ForgedFile.mendEnd(forged)) ? 1 : 0;
          forgeries++;
        }
      }
      for (int i = 0; i < 20_000 / STEP; i++) {
        byte[] forged = Arrays.copyOf(good, good.length + random.nextInt(5) - 2);
        for (int change = random.nextInt(3); change >= 0; change--) {
          forged[random.nextInt(forged.length)] = (byte) random.nextInt();
        }
        refused += isRefused(ForgedFile.mendEnd(forged)) ? 1 : 0;
        forgeries++;
      }
    }
    assertThat(refused).isBetween(forgeries / 4, forgeries - forgeries / 4);
  }

  /** Fails if what is accepted has other bytes when it is written again. */
  private static boolean isRefused(byte[] bytes) throws Exception {
    Manifest read;
    try {
      read = Manifest.read(bytes);
    } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
      assertThat(e.getMessage()).hasSizeLessThan(2_500);
      return true;
    }
    assertThat(read.toBytes()).isEqualTo(bytes);
    return false;
  }

  private byte[] fullWith(String field, String hex) {
    return bytesWith(Map.of(field, hex));
  }

  /** The bytes of {@link #full} with other fields, and a checksum that fits. */
  private byte[] bytesWith(Map<String, String> changes) {
    Map<String, String> fields = fields();
    fields.putAll(changes);
    byte[] head = HexFormat.of().parseHex(String.join("", fields.values()));
    byte[] checked = ForgedFile.mendEnd(Arrays.copyOf(head, head.length + 4));
    byte[] bytes = Arrays.copyOf(checked, checked.length + SIGNATURE_BYTES);
    byte[] good = full.toBytes();
    System.arraycopy(good, good.length - SIGNATURE_BYTES, bytes, checked.length, SIGNATURE_BYTES);
    return bytes;
  }

  private static SetParameters parameters(int shards, double falsePositiveRate) {
    return new SetParameters(
        KeyHash.Algorithm.SIPHASH_2_4,
        255,
        Canonicaliser.URL,
        1,
        new Shards(shards),
        falsePositiveRate);
  }

  private static byte[] bytesFrom(int count) {
    byte[] bytes = new byte[count];
    for (int i = 0; i < count; i++) {
      bytes[i] = (byte) (3 * i);
    }
    return bytes;
  }

  private static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static String leb(long number) {
    return HexFormat.of().formatHex(new FieldWriter().leb(number).toBytes());
  }
}
