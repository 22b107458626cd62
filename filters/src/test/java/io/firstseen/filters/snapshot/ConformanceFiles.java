package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The binary files of {@code conformance/files}, by their paths there. What they must hold and why
 * the damaged ones must be refused is said by the cases of {@code conformance/cases}, which were
 * not made by this program. Offsets are those of docs/format, stated again so that a slip shows.
 */
final class ConformanceFiles {
  private static final long START = 1_700_000_000_000L;
  private static final long HOUR = 3_600_000;
  private static final HexFormat HEX = HexFormat.of();
  private static final KeyHash SECRET = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
  private static final String NAME = "example";

  /** Of RFC 8032, section 7.1, tests 1 and 2. */
  private static final SigningKey KEY =
      key("MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g");

  private static final SigningKey OTHER_KEY =
      key("MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7");

  /** The order of Ed25519's base point, RFC 8032, section 5.1. */
  private static final BigInteger ORDER =
      BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));

  private final SortedMap<String, byte[]> files = new TreeMap<>();

  private ConformanceFiles() {}

  /** The bytes of all files by their paths. */
  static SortedMap<String, byte[]> all() throws IOException {
    ConformanceFiles made = new ConformanceFiles();
    made.snapshots();
    made.windows();
    made.manifests();
    made.steadySet();
    made.damagedBlobs();
    made.damagedPack();
    made.lists();
    return made.files;
  }

  /** Writes all files into a folder. Files that are there already stay or are replaced. */
  static void write(Path folder) throws IOException {
    for (Map.Entry<String, byte[]> file : all().entrySet()) {
      Path path = folder.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.write(path, file.getValue());
    }
  }

  private static SigningKey key(String base64) {
    return SigningKey.parse(
        "-----BEGIN PRIVATE KEY-----\n" + base64 + "\n-----END PRIVATE KEY-----\n");
  }

  // Snapshots.

  private void snapshots() {
    SetParameters plain = parameters(KeyHash.fixed(), Canonicaliser.NONE, 1, 0.001);
    files.put(
        "snapshots/empty.snapshot",
        Snapshot.build(new long[0], new SnapshotParameters(plain, "empty", 0, 0, -HOUR, 0))
            .toBytes());
    snapshot("one", plain, KeyHash.fixed(), 0, null, keys("http://example.com/key-", 0, 1));
    snapshot(
        "dense",
        parameters(SECRET, Canonicaliser.NONE, 1, 0.1),
        SECRET,
        0,
        null,
        keys("key-", 0, 500));
    snapshot(
        "deep",
        parameters(KeyHash.fixed(), Canonicaliser.NONE, 1, 0x1p-50),
        KeyHash.fixed(),
        0,
        null,
        keys("key-", 0, 40));
    KeyHash seeded = KeyHash.xxh3(-1);
    snapshot(
        "shard-2-of-4",
        parameters(seeded, Canonicaliser.of("url-2"), 4, 0x1p-20),
        seeded,
        2,
        null,
        keys("http://example.com/key-", 0, 1000));
    snapshot("scope", plain, KeyHash.fixed(), 0, "mail", keys("user-", 0, 100));
    snapshot(
        "text",
        parameters(KeyHash.fixed(), Canonicaliser.TEXT, 1, 0.001),
        KeyHash.fixed(),
        0,
        null,
        Stream.of("You've WON!", "Your parcel 00340434 is waiting", "STRASSE ΟΔΟΣ", "½ price"));
    snapshot(
        "expressions",
        parameters(KeyHash.fixed(), Canonicaliser.of("url-expression-1"), 1, 1e-6),
        KeyHash.fixed(),
        0,
        null,
        Stream.of(
            "s2-citi.com",
            "*.evil.example",
            "https://pages.example.org/login/",
            "https://pages.example.org/login/step?id=7",
            "www.example.co.uk",
            "example.net:8080",
            "192.0.2.7/a/",
            "[2001:db8::1]",
            "bücher.example"));
    snapshot(
        "expressions-2",
        parameters(KeyHash.fixed(), Canonicaliser.URL_EXPRESSION, 1, 1e-6),
        KeyHash.fixed(),
        0,
        null,
        Stream.of(
            "s2-citi.com",
            "0.0.0.0 jackbootedroom.com  ## phishing",
            "http://pages.example.org/login # note",
            "a.b.c.d.evil.example",
            "deep.example/1/2/3/4/5/6/7/*",
            "http://8080/",
            "example.net:8080"));
    snapshot(
        "url-3",
        parameters(KeyHash.fixed(), Canonicaliser.URL, 1, 1e-6),
        KeyHash.fixed(),
        0,
        null,
        Stream.of("http://example.com/?a='b'", "http://example.com/it's"));
    SetParameters olderRule =
        new SetParameters(
            KeyHash.Algorithm.SIPHASH_2_4,
            KeyHash.fixed().keyCheck(),
            Canonicaliser.of("url-2"),
            1,
            new Shards(1),
            0.001);
    files.put(
        "snapshots/older-rule.snapshot",
        Snapshot.build(new long[] {1L << 40, 1L << 50}, parametersOf("older-rule", olderRule, 0))
            .toBytes());
    byte[] good =
        snapshot(
            "shard-5-of-16",
            parameters(KeyHash.fixed(), Canonicaliser.NONE, 16, 0.001),
            KeyHash.fixed(),
            5,
            null,
            keys("key-", 0, 2400));
    damagedSnapshots(good);
  }

  private static SetParameters parameters(
      KeyHash hash, Canonicaliser canonicaliser, int shards, double rate) {
    return SetParameters.of(hash, canonicaliser, new Shards(shards), rate);
  }

  private static SnapshotParameters parametersOf(String name, SetParameters set, int shard) {
    return new SnapshotParameters(set, name, shard, 7, START, START + HOUR);
  }

  private static Stream<String> keys(String prefix, int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> prefix + i);
  }

  /** A snapshot of those keys that fall into its shard. */
  private byte[] snapshot(
      String name, SetParameters set, KeyHash hash, int shard, String scope, Stream<String> keys) {
    long[] hashes =
        keys.mapToLong(key -> hash(set, hash, scope, key))
            .filter(each -> set.shards().shardOf(each) == shard)
            .toArray();
    byte[] bytes = Snapshot.build(hashes, parametersOf(name, set, shard)).toBytes();
    files.put("snapshots/" + name + ".snapshot", bytes);
    return bytes;
  }

  private static long hash(SetParameters set, KeyHash hash, String scope, String key) {
    try {
      return set.hash(scope == null ? null : scope.getBytes(UTF_8), key.getBytes(UTF_8), hash);
    } catch (InvalidKeyException | SnapshotException e) {
      throw new IllegalArgumentException(key, e);
    }
  }

  private void damagedSnapshots(byte[] good) {
    int header = ForgedFile.headerBytes("shard-5-of-16");
    ByteBuffer fields = ByteBuffer.wrap(good).order(ByteOrder.LITTLE_ENDIAN);
    int payload = (int) fields.getLong(120);
    long count = fields.getLong(80);
    damagedSnapshot("no-bytes", new byte[0]);
    damagedSnapshot("eleven-bytes", Arrays.copyOf(good, 11));
    damagedSnapshot("cut-in-the-header", Arrays.copyOf(good, 100));
    damagedSnapshot("last-byte-missing", Arrays.copyOf(good, good.length - 1));
    damagedSnapshot("a-byte-follows", Arrays.copyOf(good, good.length + 1));
    forged("magic", good, header, file -> file.put(0, (byte) 0x88));
    damagedSnapshot("checksum-of-the-header", flipped(good, 48));
    damagedSnapshot("checksum-of-the-sections", flipped(good, header + 2));
    byte[] otherChecksum = flipped(good, 208);
    ForgedFile.mendChecksumAt(header - 4, otherChecksum);
    damagedSnapshot("checksum-of-good-sections", otherChecksum);
    forged("version-0", good, header, file -> file.putShort(8, (short) 0));
    forged("version-2", good, header, file -> file.putShort(8, (short) 2));
    damagedSnapshot("set-name-empty", named(good, header, ""));
    damagedSnapshot("set-name-of-101-characters", named(good, header, "n".repeat(101)));
    damagedSnapshot(
        "header-beyond-the-file",
        Arrays.copyOf(changed(good, file -> file.putShort(10, (short) 317)), 300));
    forged("required-flag", good, header, file -> file.putInt(12, 1 << 31));
    forged("codec", good, header, file -> file.put(16, (byte) 2));
    forged("reserved-byte", good, header, file -> file.put(17, (byte) 1));
    forged("hash-algorithm", good, header, file -> file.put(18, (byte) 3));
    forged("canonicaliser", good, header, file -> file.put(19, (byte) 200));
    forged("canonicaliser-version-0", good, header, file -> file.putShort(20, (short) 0));
    forged("reserved-short", good, header, file -> file.putShort(22, (short) 1));
    forged("shard-beyond-the-shards", good, header, file -> file.putInt(24, 16));
    forged("shards-17", good, header, file -> file.putInt(28, 17));
    forged("shards-131072", good, header, file -> file.putInt(28, 131_072));
    forged("rate-0", good, header, file -> file.putDouble(40, 0));
    forged("rate-half", good, header, file -> file.putDouble(40, 0.5));
    forged("rate-nan", good, header, file -> file.putDouble(40, Double.NaN));
    forged("rate-too-small-for-the-range", good, header, file -> file.putDouble(40, 0.0005));
    forged("sequence-negative", good, header, file -> file.putLong(48, -1));
    forged("window-ends-before-it-begins", good, header, file -> file.putLong(64, START - 1));
    forged("fewer-hashes-than-values", good, header, file -> file.putLong(72, count - 1));
    forged("no-values-but-hashes", good, header, file -> file.putLong(80, 0));
    forged(
        "values-2-to-the-62",
        good,
        header,
        file -> file.putLong(72, 1L << 62).putLong(80, 1L << 62));
    forged("golomb-parameter", good, header, file -> file.putLong(88, file.getLong(88) - 1));
    forged("reserved-long", good, header, file -> file.putLong(96, 5));
    forged("payload-bits", good, header, file -> file.putLong(104, file.getLong(104) + 8));
    forged("payload-bytes-2-to-the-40", good, header, file -> file.putLong(120, 1L << 40));
    forged("bucket-starts-bytes", good, header, file -> file.putLong(112, 17));
    forged("set-digest", good, header, file -> file.put(128, (byte) ~file.get(128)));
    forged("reserved-digest", good, header, file -> file.put(191, (byte) 1));
    forged("buckets-0", good, header, file -> file.putLong(192, 0));
    forged("too-many-buckets-for-the-values", good, header, file -> file.putLong(192, 65_537));
    forged("width-0", good, header, file -> file.putLong(200, 0));
    forged("range-beyond-the-suffixes", good, header, file -> file.putLong(200, 1L << 60));
    forged("set-name-length", good, header, file -> file.put(212, (byte) 12));
    forged("set-name-with-a-slash", good, header, file -> file.put(213, (byte) '/'));
    forged(
        "bit-after-the-payload",
        good,
        header,
        file -> file.put(header + payload - 1, (byte) (file.get(header + payload - 1) | 1)));
    forged(
        "codes-of-other-values", good, header, file -> file.put(header, (byte) ~file.get(header)));
    forged(
        "codes-that-overlap",
        good,
        header,
        file -> {
          for (int i = 0; i < payload - 1; i++) {
            file.put(header + i, (byte) 0xFF);
          }
        });
    forged(
        "start-beyond-the-payload",
        good,
        header,
        file -> file.putLong(good.length - 18, file.getLong(good.length - 18) + (1L << 30)));
    forged("group-width-41", good, header, file -> file.put(good.length - 2, (byte) 41));
    forged("bucket-width-255", good, header, file -> file.put(good.length - 1, (byte) 255));
    byte[] empty = files.get("snapshots/empty.snapshot");
    damagedSnapshot(
        "empty-with-a-payload",
        ForgedFile.of(
            Arrays.copyOf(empty, empty.length + 1),
            empty.length,
            file -> file.putLong(104, 8).putLong(120, 1)));
    byte[] one = files.get("snapshots/one.snapshot");
    int sections = one.length - ForgedFile.headerBytes("one");
    damagedSnapshot(
        "starts-of-one-bucket",
        ForgedFile.of(
            Arrays.copyOf(one, one.length + 18),
            one.length - sections,
            file -> file.putLong(112, 18)));
    damagedSnapshot("value-in-the-bucket-before", inTheBucketBefore());
    forged(
        "bit-after-the-starts",
        good,
        header,
        file -> file.put(good.length - 19, (byte) (file.get(good.length - 19) | 1)));
    damagedSnapshot("widths-not-the-least", withWiderStarts(good, header, payload));
  }

  /** The same snapshot under another name. */
  private static byte[] named(byte[] good, int header, String name) {
    int newHeader = ForgedFile.headerBytes(name);
    byte[] named = new byte[good.length - header + newHeader];
    System.arraycopy(good, 0, named, 0, 213);
    System.arraycopy(name.getBytes(UTF_8), 0, named, 213, name.length());
    System.arraycopy(good, header, named, newHeader, good.length - header);
    return ForgedFile.of(
        named,
        newHeader,
        file -> file.putShort(10, (short) newHeader).put(212, (byte) name.length()));
  }

  /** A set of one value, whose codes are those of the bucket before the value's. */
  private static byte[] inTheBucketBefore() {
    SetParameters set = parameters(KeyHash.fixed(), Canonicaliser.NONE, 1, 0.001);
    SnapshotParameters parameters = parametersOf("buckets", set, 0);
    Universe one = new Universe(1, 2_000);
    Universe two = new Universe(2, 1_000);
    // Both have codes of 11 bits.
    byte[] codes = Snapshot.build(new long[] {hashOf(1_100, one)}, one, parameters).toBytes();
    byte[] good = Snapshot.build(new long[] {hashOf(900, two)}, two, parameters).toBytes();
    SetDigest digest = new SetDigest(two);
    digest.add(1_100);
    byte[] digestBytes = HEX.parseHex(digest.hex());
    int header = ForgedFile.headerBytes("buckets");
    return ForgedFile.of(
        good,
        header,
        file ->
            file.put(128, digestBytes)
                .put(header, codes[header])
                .put(header + 1, codes[header + 1]));
  }

  private static long hashOf(long value, Universe universe) {
    BigInteger range = universe.range();
    return BigInteger.valueOf(value)
        .shiftLeft(64)
        .add(range.subtract(BigInteger.ONE))
        .divide(range)
        .longValue();
  }

  /** The same starts of buckets, with a bit more for each distance than is needed. */
  private static byte[] withWiderStarts(byte[] good, int header, int payload) {
    int begin = header + payload;
    int end = good.length - 18;
    int groupWidth = good[good.length - 2];
    int width = good[good.length - 1];
    StringBuilder bits = new StringBuilder();
    for (int at = begin; at < end; at++) {
      bits.append(Integer.toBinaryString((good[at] & 0xFF) | 256).substring(1));
    }
    // With up to eight buckets there is one group, and its end.
    StringBuilder wider = new StringBuilder(bits.substring(0, groupWidth));
    for (int k = 0; k < 7; k++) {
      wider.append('0').append(bits, groupWidth + k * width, groupWidth + (k + 1) * width);
    }
    wider.append(bits, groupWidth + 7 * width, 2 * groupWidth + 7 * width);
    while (wider.length() % 8 != 0) {
      wider.append('0');
    }
    int startsBytes = wider.length() / 8;
    byte[] forged = Arrays.copyOf(good, begin + startsBytes + 18);
    for (int i = 0; i < startsBytes; i++) {
      forged[begin + i] = (byte) Integer.parseInt(wider.substring(8 * i, 8 * i + 8), 2);
    }
    System.arraycopy(good, end, forged, begin + startsBytes, 18);
    forged[forged.length - 1] = (byte) (width + 1);
    return ForgedFile.of(forged, header, file -> file.putLong(112, startsBytes + 18));
  }

  private void forged(String name, byte[] good, int header, Consumer<ByteBuffer> change) {
    damagedSnapshot(name, ForgedFile.of(good, header, change));
  }

  private void damagedSnapshot(String name, byte[] bytes) {
    files.put("damaged-snapshots/" + name + ".snapshot", bytes);
  }

  private static byte[] flipped(byte[] good, int at) {
    return changed(good, file -> file.put(at, (byte) (file.get(at) ^ 1)));
  }

  private static byte[] changed(byte[] good, Consumer<ByteBuffer> change) {
    byte[] copy = good.clone();
    change.accept(ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN));
    return copy;
  }

  // Windows of a set in four shards, of which the second never holds a key.

  private static final SetParameters FOUR_SHARDS =
      parameters(KeyHash.fixed(), Canonicaliser.NONE, 4, 0.001);

  private final List<Manifest> windows = new ArrayList<>();

  private void windows() {
    PublishedSet set = new PublishedSet(NAME, FOUR_SHARDS);
    set.startMillis = START;
    set.newBase = (since, bytes) -> false;
    set.newList = (since, bytes) -> false;
    window(set, Stream.of());
    window(set, Stream.concat(hashes(0, 100, 0), hashes(0, 100, 2)));
    window(
        set,
        Stream.of(hashes(10, 120, 0), hashes(0, 100, 2), hashes(0, 120, 3)).flatMap(each -> each));
    set.newList = (since, bytes) -> true;
    window(set, Stream.concat(hashes(10, 120, 0), hashes(0, 120, 3)));
    set.newList = (since, bytes) -> false;
    for (int i = 0; i < 2; i++) {
      window(
          set,
          Stream.of(hashes(10, 300, 0), hashes(120, 130, 2), hashes(0, 120, 3))
              .flatMap(each -> each));
    }
  }

  private void window(PublishedSet set, Stream<Long> hashes) {
    Manifest manifest = set.window(windows.size(), hashes.toList());
    windows.add(manifest);
    directory(
        "window-" + manifest.sequence(),
        manifest,
        manifest.pack() == null ? List.of() : set.needed(),
        set);
  }

  private static Stream<Long> hashes(int from, int to, int shard) {
    return keys("http://example.com/key-", from, to)
        .map(key -> hash(FOUR_SHARDS, KeyHash.fixed(), null, key))
        .filter(hash -> FOUR_SHARDS.shards().shardOf(hash) == shard);
  }

  private void directory(
      String name, Manifest manifest, Collection<String> digests, PublishedSet set) {
    manifestFile(name, manifest);
    for (String digest : digests) {
      blobFile(name, digest, set.blobs().get(digest));
    }
  }

  private void manifestFile(String name, Manifest manifest) {
    files.put(
        "sets/%s/manifest-%010d.bin".formatted(name, manifest.sequence()), manifest.toBytes());
  }

  private void blobFile(String name, String digest, byte[] bytes) {
    files.put("sets/" + name + "/blobs/" + digest, bytes);
  }

  // Manifests.

  private void manifests() {
    Manifest full =
        windows
            .get(4)
            .withTimes(1_700_021_661_000L, 1_700_031_661_000L)
            .withBlobs(URI.create("https://snapshots.example.com/example/blobs"));
    byte[] signed = KEY.sign(full).toBytes();
    byte[] good = full.toBytes();
    manifest("plain", windows.get(4).toBytes());
    manifest("of-nothing", windows.get(0).toBytes());
    manifest("all-parts", good);
    manifest("signed", signed);
    // A later release may write fields that are not known yet.
    byte[] extended = spliced(good, 6, "07", "17");
    byte[] extension = HEX.parseHex("03a1b2c3");
    byte[] withExtension = Arrays.copyOf(extended, extended.length + extension.length);
    System.arraycopy(extension, 0, withExtension, extended.length - 4, extension.length);
    manifest("extension", ForgedFile.mendEnd(withExtension));

    damagedManifest("no-bytes", new byte[0]);
    damagedManifest("cut", ForgedFile.mendEnd(Arrays.copyOf(good, 60)));
    damagedManifest("a-byte-follows", withZeroByte(good));
    damagedManifest("checksum", flipped(good, 16));
    forgedManifest("magic", good, 3, "4d", "42");
    forgedManifest("version-0", good, 4, "01", "00");
    forgedManifest("version-2", good, 4, "01", "02");
    forgedManifest("required-flag", good, 5, "00", "80");
    forgedManifest("unknown-part", good, 6, "07", "27");
    forgedManifest("set-name-empty", good, 7, "07" + HEX.formatHex(NAME.getBytes(UTF_8)), "00");
    forgedManifest("set-name-with-a-slash", good, 8, "65", "2f");
    forgedManifest("sequence-with-leading-zeros", good, 15, "04", "8400");
    forgedManifest("sequence-2-to-the-63", good, 15, "04", "80808080808080808001");
    forgedManifest("expires-when-published", good, 34, "80ade204", "00");
    forgedManifest("published-after-9999", good, 28, null, "80b8ff90fdce39");
    damagedManifest(
        "expires-after-9999",
        ForgedFile.mendEnd(
            spliced(
                spliced(good, 34, "80ade204", "02"),
                28,
                HEX.formatHex(good, 28, 34),
                "feb7ff90fdce39")));
    forgedManifest(
        "window-begins-before-all-times",
        good,
        16,
        HEX.formatHex(good, 16, 24),
        "0000000000000080");
    forgedManifest("hash-algorithm", good, 38, "01", "03");
    forgedManifest("canonicaliser", good, 47, "00", "c8");
    forgedManifest("canonicaliser-version-0", good, 48, "01", "00");
    forgedManifest("canonicaliser-version-65536", good, 48, "01", "808004");
    forgedManifest("shards-3", good, 49, "04", "03");
    forgedManifest("shards-131072", good, 49, "04", "808008");
    forgedManifest("rate-0", good, 50, "fca9f1d24d62503f", "0000000000000000");
    forgedManifest("rate-half", good, 50, "fca9f1d24d62503f", "000000000000e03f");
    forgedManifest("rate-nan", good, 50, "fca9f1d24d62503f", "000000000000f87f");
    forgedManifest("count-above-2-to-the-40", good, 58, leb(full.count()), "818080808020");
    int packAt = 58 + leb(full.count()).length() / 2 + 32 + 32;
    String packLength = leb(full.pack().bytes());
    String packBytes = leb(full.packBytes());
    forgedManifest("pack-of-no-bytes", good, packAt, packLength, "00");
    forgedManifest("pack-of-2-to-the-31-bytes", good, packAt, packLength, "8080808008");
    forgedManifest(
        "pack-longer-than-all-packs",
        good,
        packAt + packLength.length() / 2,
        packBytes,
        leb(full.pack().bytes() - 1));
    int blobsAt = packAt + packLength.length() / 2 + packBytes.length() / 2;
    String blobs = blobs("https://snapshots.example.com/example/blobs");
    for (Map.Entry<String, String> uri :
        Map.of(
                "relative", "example/blobs",
                "with-a-user", "https://me@snapshots.example.com/",
                "with-a-query", "https://snapshots.example.com/?x=1",
                "with-a-fragment", "https://snapshots.example.com/#x",
                "with-a-space", "https://snapshots.example.com/a b",
                "not-hierarchical", "mailto:a")
            .entrySet()) {
      forgedManifest("blobs-" + uri.getKey(), good, blobsAt, blobs, blobs(uri.getValue()));
    }
    forgedManifest("blobs-empty", good, blobsAt, blobs, "00");
    byte[] nothing = windows.get(0).toBytes();
    forgedManifest("count-without-a-pack", nothing, nothing.length - 4 - 32 - 1, "00", "01");

    manifest("signed-by-another-key", OTHER_KEY.sign(full).toBytes());
    manifest("signature-damaged", flipped(signed, signed.length - 64));
    byte[] s = Arrays.copyOfRange(signed, signed.length - 32, signed.length);
    byte[] beyond = reversed(new BigInteger(1, reversed(s)).add(ORDER).toByteArray());
    byte[] malleable = signed.clone();
    System.arraycopy(beyond, 0, malleable, malleable.length - 32, 32);
    manifest("signature-with-s-beyond-the-order", malleable);
    // Of another manifest: the time of publication was changed and the checksum mended.
    byte[] later =
        KEY.sign(full.withTimes(full.publishedMillis() + 1, full.expiresMillis())).toBytes();
    byte[] moved = later.clone();
    System.arraycopy(signed, signed.length - 64, moved, moved.length - 64, 64);
    manifest("signature-of-another-manifest", moved);
    // The trusted key's name on the signature of another.
    byte[] named = OTHER_KEY.sign(full).toBytes();
    System.arraycopy(signed, signed.length - 72, named, named.length - 72, 8);
    manifest("signed-under-a-false-name", named);
  }

  private static byte[] reversed(byte[] bytes) {
    byte[] reversed = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      reversed[i] = bytes[bytes.length - 1 - i];
    }
    return reversed;
  }

  private static String blobs(String uri) {
    return leb(uri.length()) + HEX.formatHex(uri.getBytes(UTF_8));
  }

  private static String leb(long number) {
    return HEX.formatHex(new FieldWriter().leb(number).toBytes());
  }

  private void manifest(String name, byte[] bytes) {
    files.put("manifests/" + name + ".bin", bytes);
  }

  private void damagedManifest(String name, byte[] bytes) {
    files.put("damaged-manifests/" + name + ".bin", bytes);
  }

  private void forgedManifest(String name, byte[] good, int at, String before, String after) {
    // A LEB of six bytes unless said otherwise.
    String replaced = before == null ? HEX.formatHex(good, at, at + 6) : before;
    damagedManifest(name, ForgedFile.mendEnd(spliced(good, at, replaced, after)));
  }

  /** With a byte of zeros before the checksum. */
  private static byte[] withZeroByte(byte[] good) {
    return ForgedFile.mendEnd(spliced(good, good.length - 4, "", "00"));
  }

  /** Replaces bytes, which must be there. */
  private static byte[] spliced(byte[] good, int at, String before, String after) {
    int length = before.length() / 2;
    if (!HEX.formatHex(good, at, at + length).equals(before)) {
      throw new IllegalStateException(
          "there must be %s at %d of %s".formatted(before, at, HEX.formatHex(good)));
    }
    return HEX.parseHex(
        HEX.formatHex(good, 0, at) + after + HEX.formatHex(good, at + length, good.length));
  }

  // A set of one shard that changes little, so that packs are fewer bytes than bases.

  private static final SetParameters ONE_SHARD =
      parameters(KeyHash.fixed(), Canonicaliser.NONE, 1, 0.001);

  private static List<Long> steady(int from, int to) {
    return keys("key-", from, to).map(key -> hash(ONE_SHARD, KeyHash.fixed(), null, key)).toList();
  }

  private void steadySet() {
    PublishedSet set = new PublishedSet(NAME, ONE_SHARD);
    set.startMillis = START;
    set.newBase = (since, bytes) -> false;
    Manifest newest = null;
    for (int window = 1; window <= 4; window++) {
      boolean second = window == 2;
      set.newList = (since, bytes) -> second;
      newest = set.window(window, steady(window, 300 + window));
      if (window == 1) {
        directory("steady-1", newest, set.needed(), set);
      }
    }
    // Of windows 2, 3 and 4. The list is of window 2.
    List<String> packs = set.keptPacks().stream().map(BlobReference::digest).toList();
    String base = set.list().bases().get(0).digest();
    byte[] baseBytes = set.blobs().get(base);
    directory("steady-4", newest, set.needed(), set);
    directory("packs-only", newest, packs, set);
    directory("pack-damaged", newest, set.needed(), set);
    blobFile("pack-damaged", packs.get(0), flipped(set.blobs().get(packs.get(0)), 60));
    directory("pack-missing", newest, set.needed(), set);
    removeBlob("pack-missing", packs.get(0));
    directory("pack-since-the-list-missing", newest, set.needed(), set);
    removeBlob("pack-since-the-list-missing", packs.get(1));
    directory("list-missing", newest, set.needed(), set);
    removeBlob("list-missing", set.listReference().digest());
    directory("base-missing", newest, set.needed(), set);
    removeBlob("base-missing", base);
    directory("base-damaged", newest, set.needed(), set);
    blobFile("base-damaged", base, flipped(baseBytes, baseBytes.length - 10));
    directory("base-longer", newest, set.needed(), set);
    blobFile("base-longer", base, Arrays.copyOf(baseBytes, baseBytes.length + 1));
  }

  private void removeBlob(String name, String digest) {
    files.remove("sets/" + name + "/blobs/" + digest);
  }

  // Blobs that are forged, with digests that fit.

  /** The blobs of the second window of a set of one shard, each of which may be forged. */
  private final class Forgery {
    private final PublishedSet set = new PublishedSet(NAME, ONE_SHARD);
    private final Manifest first;
    private final Manifest second;
    private final Snapshot before;
    private UnaryOperator<byte[]> base = UnaryOperator.identity();
    private UnaryOperator<byte[]> list = UnaryOperator.identity();
    private UnaryOperator<byte[]> pack = UnaryOperator.identity();
    private UnaryOperator<Manifest> manifest = UnaryOperator.identity();
    private Section change;
    private long moreKeptFrom;
    private long moreBasesBytes;
    private long morePacksSince;

    Forgery() throws SnapshotException {
      set.startMillis = START;
      set.newBase = (since, bytes) -> false;
      set.newList = (since, bytes) -> false;
      first = set.window(1, steady(1, 60));
      before = set.snapshots()[0];
      second = set.window(2, steady(3, 62));
      change = pack().sections().get(0);
    }

    private Pack pack() throws SnapshotException {
      return Pack.read(set.load(second.pack()), NAME, 1);
    }

    private Forgery base(UnaryOperator<byte[]> forging) {
      base = forging;
      return this;
    }

    private Forgery list(UnaryOperator<byte[]> forging) {
      list = forging;
      return this;
    }

    private Forgery pack(UnaryOperator<byte[]> forging) {
      pack = forging;
      return this;
    }

    private Forgery manifest(UnaryOperator<Manifest> forging) {
      manifest = forging;
      return this;
    }

    /** Adds to fields of the newest pack. */
    private Forgery more(long keptFrom, long basesBytes, long packsSince) {
      moreKeptFrom = keptFrom;
      moreBasesBytes = basesBytes;
      morePacksSince = packsSince;
      return this;
    }

    private Forgery change(Section forged) {
      change = forged;
      return this;
    }

    /** The directory of the manifest, with the first pack, which the others lead to. */
    void into(String name) throws SnapshotException {
      Pack good = pack();
      BaseList goodList = set.list();
      byte[] forgedBase = base.apply(bytes(goodList.bases().get(0)));
      byte[] forgedList =
          list.apply(
              new BaseList(
                      NAME,
                      goodList.sequence(),
                      List.of(new BaseList.Shard(BlobReference.to(forgedBase), List.of())))
                  .toBytes());
      byte[] forgedPack =
          pack.apply(
              new Pack(
                      NAME,
                      good.sequence(),
                      good.before(),
                      good.keptFrom() + moreKeptFrom,
                      BlobReference.to(forgedList),
                      forgedList.length + forgedBase.length + moreBasesBytes,
                      good.packsSince() + morePacksSince,
                      new TreeMap<>(Map.of(0, change)))
                  .toBytes());
      Manifest forgedManifest =
          manifest.apply(
              Manifest.of(
                  NAME,
                  second.sequence(),
                  second.windowStartMillis(),
                  second.windowEndMillis(),
                  ONE_SHARD,
                  second.count(),
                  second.root(),
                  BlobReference.to(forgedPack),
                  first.packBytes() + forgedPack.length));
      manifestFile("forged/" + name, forgedManifest);
      for (byte[] blob : List.of(forgedBase, forgedList, forgedPack)) {
        blobFile("forged/" + name, BlobReference.to(blob).digest(), blob);
      }
    }

    private byte[] bytes(BlobReference blob) throws MissingBlobsException {
      return set.load(blob).array();
    }
  }

  private static UnaryOperator<byte[]> splice(int at, String before, String after) {
    return good -> ForgedFile.mendEnd(spliced(good, at, before, after));
  }

  private void damagedBlobs() throws SnapshotException {
    new Forgery().into("nothing-forged");
    new Forgery().pack(splice(3, "42", "43")).into("pack-magic");
    new Forgery().pack(splice(4, "01", "00")).into("pack-version-0");
    new Forgery().pack(splice(4, "01", "02")).into("pack-version-2");
    new Forgery().pack(splice(5, "00", "01")).into("pack-required-flag");
    new Forgery().pack(splice(6, "01", "04")).into("pack-of-an-unknown-kind");
    new Forgery().pack(splice(6, "01", "02")).into("pack-that-says-it-is-a-base");
    new Forgery().pack(splice(8, "65", "66")).into("pack-of-another-set");
    new Forgery().pack(good -> flipped(good, good.length - 1)).into("pack-checksum");
    new Forgery().pack(ConformanceFiles::withZeroByte).into("pack-with-a-byte-left");
    new Forgery().pack(splice(15, "02", "8200")).into("pack-sequence-with-leading-zeros");
    new Forgery().pack(splice(15, "02", "01")).into("pack-sequence-of-the-list");
    new Forgery().pack(splice(16, "01", "02")).into("pack-mark-of-the-pack-before-2");
    // Packs that the bases need would not be kept.
    new Forgery().more(1 << 20, 0, 0).into("pack-kept-from-beyond-the-packs");
    new Forgery().more(0, 1, 0).into("pack-of-other-bases-bytes");
    new Forgery().more(0, 0, 1).into("pack-of-other-packs-since");
    new Forgery().list(splice(6, "03", "02")).into("list-that-says-it-is-a-base");
    new Forgery().list(splice(4, "01", "02")).into("list-version-2");
    new Forgery().list(splice(5, "00", "80")).into("list-required-flag");
    new Forgery().list(splice(8, "65", "66")).into("list-of-another-set");
    new Forgery().list(splice(16, "01", "02")).into("list-of-another-number-of-shards");
    new Forgery().list(ConformanceFiles::withZeroByte).into("list-with-a-byte-left");
    new Forgery().list(good -> flipped(good, good.length - 1)).into("list-checksum");
    new Forgery().base(splice(6, "02", "01")).into("base-that-says-it-is-a-pack");
    new Forgery().base(splice(4, "01", "02")).into("base-version-2");
    new Forgery().base(splice(5, "00", "40")).into("base-required-flag");
    new Forgery().base(splice(8, "65", "66")).into("base-of-another-set");
    new Forgery().base(splice(15, "00", "01")).into("base-of-another-shard");
    new Forgery().base(splice(16, "02", "03")).into("base-with-a-section-of-an-unknown-kind");
    new Forgery().base(good -> flipped(good, good.length - 1)).into("base-checksum");
    new Forgery().base(ConformanceFiles::withZeroByte).into("base-with-eight-zero-bits-more");
    Forgery crowded = new Forgery();
    SnapshotHeader before = crowded.before.header();
    crowded
        .base(
            good ->
                Base.write(
                    NAME,
                    0,
                    Section.whole(
                        crowded.before.values(),
                        before.universe(),
                        before.count(),
                        2 * before.hashCount())))
        .into("base-of-more-hashes-than-its-range-allows");
    new Forgery()
        .list(
            good -> {
              BaseList list = readList(good);
              return new BaseList(
                      NAME, list.sequence(), List.of(list.shards().get(0), BaseList.Shard.NONE))
                  .toBytes();
            })
        .into("list-of-two-shards");
    Section change = new Forgery().change;
    new Forgery().change(withBitAtTheEnd(change)).into("change-with-a-bit-after-its-codes");
    new Forgery().change(movingAValue()).into("change-that-removes-and-adds-a-value");
    Section removal = removingAll(crowded.before);
    String none = new SetDigest(crowded.before.header().universe()).hex();
    new Forgery()
        .change(withHiddenHash(removal))
        .manifest(good -> withRoot(good, 1, ShardTree.root(List.of(new ShardTree.Leaf(none, 1)))))
        .into("change-that-leaves-a-hash-without-a-value");
    // The places of all values are as many zero bits: 59, in 8 bytes before the checksum.
    new Forgery()
        .change(removal)
        .manifest(good -> withRoot(good, 0, ShardTree.root(List.of(new ShardTree.Leaf(none, 0)))))
        .pack(
            good ->
                ForgedFile.mendEnd(
                    spliced(
                        good,
                        good.length - 4 - 13,
                        "0100003b000000000000000000",
                        "0100003b030000000000000000")))
        .into("change-with-bits-of-no-added-values");
    new Forgery()
        .manifest(good -> withRoot(good, good.count(), Sha256.hex(new byte[0])))
        .into("manifest-of-another-root");
    new Forgery()
        .manifest(good -> withRoot(good, good.count() + 1, good.root()))
        .into("manifest-of-another-count");
    new Forgery()
        .manifest(
            good ->
                withPack(good, new BlobReference(good.pack().digest(), good.pack().bytes() - 1)))
        .into("manifest-of-a-pack-of-another-length");
  }

  /** The right set, but for a pack of other bytes than its digest says. */
  private void damagedPack() throws SnapshotException {
    Forgery good = new Forgery();
    good.into("pack-of-another-digest");
    Manifest manifest =
        Manifest.read(files.get("sets/forged/pack-of-another-digest/manifest-0000000002.bin"));
    String path = "pack-of-another-digest";
    Pack pack = Pack.read(ByteBuffer.wrap(blob(path, manifest.pack())), NAME, 1);
    byte[] other =
        new Pack(
                NAME,
                pack.sequence(),
                pack.before(),
                pack.keptFrom() + 1,
                pack.bases(),
                pack.basesBytes(),
                pack.packsSince(),
                pack.sections())
            .toBytes();
    blobFile("forged/" + path, manifest.pack().digest(), other);
  }

  private byte[] blob(String name, BlobReference blob) {
    return files.get("sets/forged/" + name + "/blobs/" + blob.digest());
  }

  private static BaseList readList(byte[] bytes) {
    try {
      return BaseList.read(ByteBuffer.wrap(bytes), NAME, 1);
    } catch (SnapshotException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Manifest withRoot(Manifest of, long count, String root) {
    return Manifest.of(
        NAME,
        of.sequence(),
        of.windowStartMillis(),
        of.windowEndMillis(),
        of.parameters(),
        count,
        root,
        of.pack(),
        of.packBytes());
  }

  private static Manifest withPack(Manifest of, BlobReference pack) {
    return Manifest.of(
        NAME,
        of.sequence(),
        of.windowStartMillis(),
        of.windowEndMillis(),
        of.parameters(),
        of.count(),
        of.root(),
        pack,
        of.packBytes());
  }

  private static Section withBitAtTheEnd(Section section) throws SnapshotException {
    byte[] forged = bytes(section);
    if ((forged[forged.length - 1] & 1) != 0) {
      throw new IllegalStateException("the last bit must be one after the codes");
    }
    forged[forged.length - 1] |= 1;
    return Section.read(ByteBuffer.wrap(forged));
  }

  private static Section removingAll(Snapshot snapshot) {
    SectionWriter writer =
        new SectionWriter(snapshot.header().universe(), snapshot.header().count());
    for (long place = 0; place < snapshot.header().count(); place++) {
      writer.remove(place);
    }
    return writer.finish(0);
  }

  private static Section withHiddenHash(Section section) throws SnapshotException {
    byte[] forged = bytes(section);
    forged[1] = 1;
    return Section.read(ByteBuffer.wrap(forged));
  }

  private static byte[] bytes(Section section) {
    ByteBuffer bytes = section.toByteBuffer();
    byte[] copy = new byte[bytes.remaining()];
    bytes.get(copy);
    return copy;
  }

  /** The right change, which in addition removes a value that it adds again. */
  private Section movingAValue() throws SnapshotException {
    Forgery good = new Forgery();
    long[] before = values(good.before);
    long[] after = values(good.set.snapshots()[0]);
    long stays =
        Arrays.stream(before)
            .filter(value -> Arrays.binarySearch(after, value) >= 0)
            .findFirst()
            .orElseThrow();
    SectionWriter writer = new SectionWriter(good.before.header().universe(), before.length);
    for (long value : after) {
      if (value == stays || Arrays.binarySearch(before, value) < 0) {
        writer.add(value);
      }
    }
    for (int place = 0; place < before.length; place++) {
      if (before[place] == stays || Arrays.binarySearch(after, before[place]) < 0) {
        writer.remove(place);
      }
    }
    return writer.finish(good.second.count());
  }

  private static long[] values(Snapshot snapshot) {
    List<Long> values = new ArrayList<>();
    snapshot.values().forEachRemaining((Consumer<? super Long>) values::add);
    return values.stream().mapToLong(Long::longValue).toArray();
  }

  // Lists of hosts and URLs.

  private void lists() {
    SetParameters parameters = parameters(SECRET, Canonicaliser.of("url-expression-1"), 2, 1e-9);
    PublishedSet set = new PublishedSet("phishing", parameters);
    set.startMillis = START;
    Manifest manifest =
        set.window(
            1,
            Stream.concat(
                    Stream.of(
                        "s2-citi.com",
                        "*.evil.example",
                        "https://pages.example.org/login/",
                        "https://pages.example.org/login/step?id=7",
                        "www.example.co.uk",
                        "example.net:8080",
                        "192.0.2.7/a/",
                        "[2001:db8::1]",
                        "bücher.example"),
                    IntStream.range(0, 400).mapToObj(i -> "host-" + i + ".example.com/p/"))
                .map(entry -> hash(parameters, SECRET, null, entry))
                .toList());
    directory("expressions", manifest, set.needed(), set);
  }
}
