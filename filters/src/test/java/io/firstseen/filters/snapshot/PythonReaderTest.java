package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.PythonReader.Answer;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The package in Python, which was written from the specification alone, agrees with ours: on
 * golden files, on files written here and on damaged ones. The snapshots that it builds from blobs
 * have the same bytes as ours.
 */
// A read from a process is not interrupted.
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PythonReaderTest {
  private static final Path GOLDEN =
      Path.of("src/test/resources/io/firstseen/filters/snapshot/golden-v1");
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);
  private static final HexFormat HEX = HexFormat.of();
  private static final String SECRET = "000102030405060708090a0b0c0d0e0f";

  private static PythonReader python;

  private static final String ONE_INVALID =
      "invalid: 1 could not be evaluated, so whether they are present is unknown\n";

  @TempDir Path directory;

  @BeforeAll
  static void start() throws Exception {
    PythonPackage.require();
    python = new PythonReader();
  }

  @AfterAll
  static void stop() {
    if (python != null) {
      python.close();
    }
  }

  @Test
  void isAProgram() throws Exception {
    Path file = directory.resolve("a.snapshot");
    Process process =
        PythonPackage.process("-m", "firstseen", "info", file.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(said).isEqualTo("cannot open " + file + ": No such file or directory\n");
    assertThat(process.waitFor()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"0,0.001", "1,0.001", "37,0.001", "38,0.1", "400,0x1p-20", "700,0x1p-50"})
  void findsWhatWeFind(int count, double rate) throws Exception {
    List<String> keys = IntStream.range(0, 2 * count + 20).mapToObj(i -> "Schlüssel " + i).toList();
    Snapshot snapshot = snapshot(KeyHash.fixed(), Canonicaliser.NONE, rate, keys.subList(0, count));
    Path file = Files.write(directory.resolve("a.snapshot"), snapshot.toBytes());
    assertThat(run(file, "verify")).isEqualTo(new Answer(0, file + ": valid\n", ""));
    assertThat(run(file, "info").output())
        .contains("values               " + snapshot.header().count() + " of ")
        .contains(snapshot.header().setDigest());

    StringBuilder expected = new StringBuilder();
    for (String key : keys) {
      boolean present = snapshot.mightContain(hash(snapshot, null, key, KeyHash.fixed()));
      expected.append(key).append(present ? "\tpresent\n" : "\tabsent\n");
    }
    Files.write(directory.resolve("keys"), keys);
    assertThat(run(file, "query")).isEqualTo(new Answer(0, expected.toString(), ""));
  }

  @Test
  void knowsScopesAndHashKeys() throws Exception {
    KeyHash secret = KeyHash.parse(SECRET);
    SetParameters set = SetParameters.of(secret, Canonicaliser.NONE, new Shards(1), 0.001);
    long[] hashes = {set.hash("mail".getBytes(StandardCharsets.UTF_8), new byte[] {'a'}, secret)};
    Path file =
        Files.write(
            directory.resolve("a.snapshot"),
            Snapshot.build(hashes, new SnapshotParameters(set, "python", 0, 1, 0, 1)).toBytes());
    Path key = Files.writeString(Files.createTempFile(directory, "hash", ".key"), SECRET + "\n");
    Files.writeString(directory.resolve("keys"), "a\n");
    String keyFile = "--hash-key-file=" + key;
    assertThat(run(file, "query", "--scope", "mail", keyFile))
        .isEqualTo(new Answer(0, "a\tpresent\n", ""));
    assertThat(run(file, "query", "--scope", "news", keyFile).output()).isEqualTo("a\tabsent\n");
    assertThat(run(file, "query", keyFile).output()).isEqualTo("a\tabsent\n");
    assertThat(run(file, "query"))
        .isEqualTo(new Answer(2, "", file + ": the snapshot was made with another hash key\n"));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
    assertThat(run(file, "query", keyFile).errors())
        .isEqualTo(
            "warning: users other than its owner have access to the secret file %s (mode 0640): chmod 600 %s\n"
                .formatted(key, key));
  }

  @ParameterizedTest
  @CsvSource({
    "none,'',a,b",
    "url,'',a.example,HTTP://A.example:80",
    "url,'gclid,utm_*',a.example/?id=1,a.example?utm_source=x&id=1",
    "text,'',Win $5,WIN £17"
  })
  void findsKeysInOtherSpellings(String rule, String stripped, String key, String spelling)
      throws Exception {
    Canonicaliser plain = Canonicaliser.of(rule);
    Canonicaliser canonicaliser = stripped.isEmpty() ? plain : plain.stripping(stripped);
    Snapshot snapshot = snapshot(KeyHash.fixed(), canonicaliser, 0.001, List.of(key));
    Path file = Files.write(directory.resolve("a.snapshot"), snapshot.toBytes());
    Files.writeString(directory.resolve("keys"), key + "\n" + spelling + "\n\n");
    String second = rule.equals("none") ? "absent" : "present";
    assertThat(run(file, "query"))
        .isEqualTo(
            new Answer(
                4,
                key + "\tpresent\n" + spelling + "\t" + second + "\n\tinvalid\tkey is empty\n",
                ONE_INVALID));
  }

  @Test
  void findsEntriesThatListUrls() throws Exception {
    Snapshot list =
        snapshot(
            KeyHash.fixed(),
            Canonicaliser.URL_EXPRESSION,
            0.001,
            List.of("s2-citi.com", "b.example/x/"));
    Path file = Files.write(directory.resolve("a.snapshot"), list.toBytes());
    Snapshot allow =
        snapshot(
            KeyHash.fixed(), Canonicaliser.URL_EXPRESSION, 0.001, List.of("ok.s2-citi.com/a/"));
    Path allowed = Files.write(directory.resolve("b.snapshot"), allow.toBytes());
    Files.writeString(
        directory.resolve("keys"),
        """
        https://www.s2-citi.com/login
        http://b.example/
        https://ok.s2-citi.com/a/b
        @@x
        """);
    assertThat(run(file, "match"))
        .isEqualTo(
            new Answer(
                4,
                """
                https://www.s2-citi.com/login\tpresent\ts2-citi.com/
                http://b.example/\tabsent
                https://ok.s2-citi.com/a/b\tpresent\ts2-citi.com/
                @@x\tinvalid\t'@@x' has an at sign and no scheme, as an e-mail address has
                """,
                ONE_INVALID));
    assertThat(run(file, "match", "--allow", allowed.toString()).output())
        .as("both sets have one name, so they are named by their places")
        .contains("login\tpresent\ts2-citi.com/\t" + file + "\n")
        .contains("a/b\tabsent\tok.s2-citi.com/a/\t" + allowed + "\n");
    assertThat(run(file, "match", "--json").output())
        .contains(
            "\"answer\":\"present\",\"matches\":[{\"set\":\"python\",\"entry\":\"s2-citi.com/\"}]")
        .contains("\"reason\":");
  }

  @Test
  void saysWhatItCannotAnswer() throws Exception {
    Snapshot snapshot = snapshot(KeyHash.xxh3(1), Canonicaliser.NONE, 0.001, List.of("a"));
    Path file = Files.write(directory.resolve("a.snapshot"), snapshot.toBytes());
    Files.writeString(directory.resolve("keys"), "a\n");
    assertThat(run(file, "verify").status()).isZero();
    assertThat(run(file, "query"))
        .isEqualTo(
            new Answer(
                2, "", file + ": the keys are hashed by xxh3-64, got a key of siphash-2-4\n"));
    byte[] older = snapshot(KeyHash.fixed(), Canonicaliser.URL, 0.001, List.of("a.b")).toBytes();
    older[20] = 1;
    ForgedFile.mend(older, ForgedFile.headerBytes("python"));
    Files.write(file, older);
    assertThat(run(file, "query").errors())
        .isEqualTo(
            file + ": the canonicaliser url has version 1, the newest of this reader is 3\n");
    Files.write(file, snapshot(KeyHash.fixed(), Canonicaliser.URL, 0.001, List.of()).toBytes());
    assertThat(run(file, "match").errors())
        .isEqualTo(
            file
                + ": set 'python' must have the canonicaliser url-expression to look up URLs, got url\n");
    assertThat(run(directory.resolve("missing"), "info"))
        .isEqualTo(
            new Answer(
                2,
                "",
                "cannot open " + directory.resolve("missing") + ": No such file or directory\n"));
  }

  @Test
  void refusesWhatWeRefuse() throws Exception {
    List<String> keys = IntStream.range(0, 100).mapToObj(i -> "key " + i).toList();
    byte[] good = snapshot(KeyHash.fixed(), Canonicaliser.NONE, 0.001, keys).toBytes();
    SplittableRandom random = new SplittableRandom(95);
    int[] statuses = new int[3];
    for (int i = 0; i < 60 * SCALE; i++) {
      byte[] damaged = good.clone();
      switch (i % 4) {
        case 0 -> damaged = Arrays.copyOf(good, random.nextInt(good.length));
        case 1 -> damaged[random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
        case 2 -> {
          damaged[random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
          ForgedFile.mend(damaged, ForgedFile.headerBytes("python"));
        }
        default -> {
          int sections = 223 + random.nextInt(good.length - 223);
          damaged[sections] ^= (byte) (1 << random.nextInt(8));
          ForgedFile.mend(damaged, ForgedFile.headerBytes("python"));
        }
      }
      Path file = Files.write(directory.resolve("damaged.snapshot"), damaged);
      Answer answer = run(file, "verify");
      int expected = 0;
      try {
        Snapshot.read(damaged).verify();
      } catch (UnsupportedSnapshotException e) {
        expected = 2;
      } catch (MalformedSnapshotException e) {
        expected = 1;
      }
      assertThat(answer.status()).as("damage %d: %s", i, answer).isEqualTo(expected);
      assertThat(answer.errors().lines().count()).isEqualTo(expected == 2 ? 1 : 0);
      statuses[expected]++;
    }
    assertThat(statuses[1]).isGreaterThan(40 * SCALE);
  }

  @Test
  void readsTheGoldenFiles() throws Exception {
    SnapshotDirectory golden = new SnapshotDirectory(directory.resolve("set"));
    try (Stream<Path> files = Files.list(GOLDEN)) {
      for (Path file : files.toList()) {
        boolean isManifest = file.toString().endsWith(".bin");
        assertThat(run(file, isManifest ? "info" : "verify").status()).as("%s", file).isZero();
        byte[] bytes = Files.readAllBytes(file);
        if (file.toString().endsWith(".blob")) {
          golden.writeBlob(Sha256.hex(bytes), bytes);
        }
      }
    }
    Manifest nothing = Manifest.read(Files.readAllBytes(GOLDEN.resolve("manifest-of-nothing.bin")));
    Manifest newest = Manifest.read(Files.readAllBytes(GOLDEN.resolve("manifest.bin")));
    golden.writeManifest(nothing);
    golden.writeManifest(newest);
    assertThat(run(golden.path(), "verify"))
        .isEqualTo(new Answer(0, golden.path() + ": valid\n", ""));
    SnapshotSet expected = SnapshotSet.open(newest, golden::blob);
    assertThat(build(golden, newest, null)).isEqualTo(bytes(expected));
    assertThat(build(golden, newest, nothing)).isEqualTo(bytes(expected));
    assertThat(build(golden, nothing, null)).isEmpty();

    Files.writeString(directory.resolve("keys"), "http://example.com/key-125\nhttp://x/\n");
    assertThat(run(golden.path(), "query").errors()).isEmpty();
    Manifest signed = Manifest.read(Files.readAllBytes(GOLDEN.resolve("manifest-signed.bin")));
    golden.writeManifest(signed);
    assertThat(run(golden.path(), "verify").output())
        .isEqualTo(golden.path() + ": valid, its signature is not checked\n");
    assertThat(run(golden.path(), "info").output())
        .contains("extension            none\n")
        .contains("signature            of the key " + signed.signature().key() + ", not checked\n")
        .contains("blobs                https://snapshots.example.com/golden/blobs\n")
        .contains(signed.root());
    assertThat(run(GOLDEN.resolve("manifest-with-extension.bin"), "info").output())
        .contains("extension            2 bytes\n");
  }

  /** From any window of a random set to any later one, by packs as by bases. */
  @ParameterizedTest
  @CsvSource({"1,0.001,21", "4,0.1,22", "16,0x1p-20,23", "2,0x1p-45,24"})
  void buildsTheSetsThatWeBuild(int shards, double rate, long seed) throws Exception {
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(shards), rate);
    SplittableRandom random = new SplittableRandom(seed);
    PublishedSet published = new PublishedSet("python", parameters);
    SnapshotDirectory store = new SnapshotDirectory(directory.resolve("set"));
    List<Manifest> manifests = new ArrayList<>();
    Set<String> keys = new TreeSet<>();
    for (int sequence = 0; sequence < 7; sequence++) {
      int change = random.nextInt(1, 1 + 40 * shards);
      for (int i = 0; i < change && sequence != 3; i++) {
        keys.add("key " + random.nextInt(400));
        keys.remove("key " + random.nextInt(400));
      }
      List<Long> hashes = new ArrayList<>();
      for (String key : keys) {
        hashes.add(parameters.hash(null, key.getBytes(StandardCharsets.UTF_8), KeyHash.fixed()));
      }
      manifests.add(published.window(sequence, hashes));
    }
    writeBlobs(published, store);
    for (Manifest manifest : manifests) {
      store.writeManifest(manifest);
    }
    assertThat(run(store.path(), "verify").output()).isEqualTo(store.path() + ": valid\n");
    for (Manifest to : manifests) {
      SnapshotSet expected = SnapshotSet.open(to, published);
      assertThat(build(store, to, null)).isEqualTo(bytes(expected));
      for (Manifest from : manifests.subList(0, manifests.indexOf(to))) {
        Map<String, String> built = build(store, to, from);
        assertThat(built.keySet()).isEqualTo(bytes(expected).keySet());
        for (String file : built.values()) {
          Snapshot snapshot = Snapshot.read(HEX.parseHex(file));
          SnapshotHeader header = snapshot.header();
          SnapshotHeader ours = expected.snapshot(header.parameters().shard()).header();
          snapshot.verify();
          assertThat(header.setDigest()).isEqualTo(ours.setDigest());
          assertThat(header.hashCount()).isEqualTo(ours.hashCount());
        }
      }
    }
    List<String> asked = IntStream.range(0, 450).mapToObj(i -> "key " + i).toList();
    Files.write(directory.resolve("keys"), asked);
    SnapshotSet newest = SnapshotSet.open(manifests.get(6), published);
    StringBuilder expected = new StringBuilder();
    for (String key : asked) {
      byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
      boolean present = newest.mightContainKey(bytes, KeyHash.fixed());
      expected.append(key).append(present ? "\tpresent\n" : "\tabsent\n");
    }
    assertThat(run(store.path(), "query")).isEqualTo(new Answer(0, expected.toString(), ""));
  }

  /** Corrects the references to a damaged blob, so that the reader reaches its content. */
  @ParameterizedTest
  @EnumSource(BlobFrame.Kind.class)
  void refusesBlobsThatWeRefuse(BlobFrame.Kind kind) throws Exception {
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(2), 0.01);
    PublishedSet published = new PublishedSet("python", parameters);
    published.newBase = (since, bytes) -> false;
    SplittableRandom random = new SplittableRandom(96);
    Set<Long> hashes = new TreeSet<>();
    Manifest manifest = null;
    for (int sequence = 0; sequence < 3; sequence++) {
      for (int i = 0; i < (sequence == 0 ? 30 : 3); i++) {
        hashes.add(random.nextLong());
      }
      // So the list has sections since the bases, and the newest pack has changes that it has not.
      published.newList = sequence < 2 ? (since, bytes) -> true : (since, bytes) -> false;
      manifest = published.window(sequence, hashes);
    }
    Pack newest = new ManifestBlobs(manifest, published).newestPack();
    BaseList list = published.list();
    assertThat(list.shards().get(0).sections()).isNotEmpty();
    byte[] good =
        switch (kind) {
          case PACK -> newest.toBytes();
          case BASE_LIST -> list.toBytes();
          case BASE -> published.blobs().get(list.bases().get(0).digest());
        };
    SnapshotDirectory store = new SnapshotDirectory(directory.resolve("set"));
    int[] statuses = new int[3];
    int damages = 40 * SCALE;
    for (int i = 0; i < damages; i++) {
      byte[] damaged = good.clone();
      damaged[random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
      if (i % 10 > 0) {
        ForgedFile.mendEnd(damaged);
      }
      BlobReference reference = published.put(damaged);
      if (kind == BlobFrame.Kind.BASE) {
        List<BaseList.Shard> shards = new ArrayList<>(list.shards());
        shards.set(0, new BaseList.Shard(reference, shards.get(0).sections()));
        reference = published.put(new BaseList("python", list.sequence(), shards).toBytes());
      }
      if (kind != BlobFrame.Kind.PACK) {
        reference = published.put(naming(reference, newest).toBytes());
      }
      Manifest forged = withPack(manifest, reference);
      writeBlobs(published, store);
      store.writeManifest(forged);
      int expected = status(() -> ManifestBlobs.verify(forged, published));
      Answer answer = run(store.path(), "verify");
      assertThat(answer.status()).as("damage %d: %s", i, answer).isEqualTo(expected);
      statuses[expected]++;
    }
    assertThat(statuses[1]).isGreaterThan(damages / 4);
    assertThat(statuses[2]).isPositive();
  }

  /** The section leads to the root, so only the rule rejects it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void refusesToAddWhatIsThere(boolean isAdded) throws Exception {
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.01);
    PublishedSet published = new PublishedSet("python", parameters);
    SplittableRandom random = new SplittableRandom(98);
    Manifest manifest = published.window(0, random.longs(30).boxed().toList());
    Snapshot before = published.snapshots()[0];
    SectionWriter same = new SectionWriter(before.header().universe(), before.header().count());
    if (isAdded) {
      same.add(before.values().nextLong());
      same.remove(0);
    }
    Pack pack = new ManifestBlobs(manifest, published).newestPack();
    byte[] next =
        new Pack(
                pack.setName(),
                1,
                manifest.pack(),
                0,
                pack.bases(),
                pack.basesBytes(),
                0,
                new TreeMap<>(Map.of(0, same.finish(before.header().hashCount()))))
            .toBytes();
    Manifest forged =
        Manifest.of(
            manifest.setName(),
            1,
            manifest.windowStartMillis(),
            manifest.windowEndMillis(),
            manifest.parameters(),
            manifest.count(),
            manifest.root(),
            published.put(next),
            manifest.packBytes() + next.length);
    SnapshotDirectory store = new SnapshotDirectory(directory.resolve("set"));
    writeBlobs(published, store);
    store.writeManifest(forged);
    int expected = isAdded ? 1 : 0;
    assertThat(status(() -> ManifestBlobs.verify(forged, published))).isEqualTo(expected);
    Answer answer = run(store.path(), "verify");
    assertThat(answer.status()).as("%s", answer).isEqualTo(expected);
    if (isAdded) {
      assertThat(answer.output()).contains("an added value must not be there before");
    }
  }

  @Test
  void knowsTheNamesOfManifests() throws Exception {
    byte[] nothing = Files.readAllBytes(GOLDEN.resolve("manifest-of-nothing.bin"));
    long sequence = Manifest.read(nothing).sequence();
    SnapshotDirectory store = new SnapshotDirectory(directory.resolve("set"));
    store.writeManifest(nothing);
    for (String name :
        List.of(
            "manifest-00000000099.bin",
            "manifest-099.bin",
            "manifest-9223372036854775808.bin",
            "manifest-0000000099.bin.tmp")) {
      Files.writeString(store.path().resolve(name), "no manifest");
    }
    assertThat(store.sequences()).containsExactly(sequence);
    assertThat(run(store.path(), "verify").output()).isEqualTo(store.path() + ": valid\n");
    Files.write(store.manifestFile(Long.MAX_VALUE), nothing);
    assertThat(run(store.path(), "verify"))
        .isEqualTo(
            new Answer(
                1,
                store.path()
                    + ": invalid: the sequence must match the file's name, got "
                    + sequence
                    + "\n",
                ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"info", "verify", "query"})
  void saysWhatCannotBeOpened(String verb) throws Exception {
    Answer answer = python.run(List.of(verb, "a\0b"), directory);
    assertThat(answer.status()).isEqualTo(2);
    // Python's own words follow.
    assertThat(answer.errors()).startsWith("'a\\x00b': ").hasLineCount(1);
  }

  private static void writeBlobs(PublishedSet published, SnapshotDirectory store)
      throws IOException {
    Path blobs = Files.createDirectories(store.path().resolve("blobs"));
    for (Map.Entry<String, byte[]> blob : published.blobs().entrySet()) {
      Path file = blobs.resolve(blob.getKey());
      if (!Files.exists(file)) {
        Files.write(file, blob.getValue());
      }
    }
  }

  private static Pack naming(BlobReference list, Pack pack) {
    return new Pack(
        pack.setName(),
        pack.sequence(),
        pack.before(),
        pack.keptFrom(),
        list,
        pack.basesBytes(),
        pack.packsSince(),
        pack.sections());
  }

  private static Manifest withPack(Manifest manifest, BlobReference pack) {
    return Manifest.of(
        manifest.setName(),
        manifest.sequence(),
        manifest.windowStartMillis(),
        manifest.windowEndMillis(),
        manifest.parameters(),
        manifest.count(),
        manifest.root(),
        pack,
        manifest.packBytes());
  }

  @Test
  void refusesManifestsThatWeRefuse() throws Exception {
    byte[] good = Files.readAllBytes(GOLDEN.resolve("manifest-signed.bin"));
    int checksumAt = good.length - 72 - 4;
    SplittableRandom random = new SplittableRandom(97);
    int[] statuses = new int[3];
    for (int i = 0; i < 150 * SCALE; i++) {
      // The location of the blobs has a separate test.
      byte[] damaged = good.clone();
      damaged[random.nextInt(checksumAt - 45)] ^= (byte) (1 << random.nextInt(8));
      if (i % 10 > 0) {
        ForgedFile.mendChecksumAt(checksumAt, damaged);
      }
      if (i % 7 == 0) {
        damaged = Arrays.copyOf(damaged, random.nextInt(good.length + 2));
      }
      statuses[requireSameAnswer(damaged)]++;
    }
    for (int count : statuses) {
      assertThat(count).isGreaterThan(5 * SCALE);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "s3://bucket/path,true",
    "s3:/bucket//path,true",
    "file:///tmp/blob,true",
    "s3://bucket-path,true",
    "s3://b/%41@;(x)=,true",
    "s3://[::1]:9/p/x,true",
    "FILE://host/path,true",
    "file://host/path,false",
    "file://[/pathxyz,false",
    "s3://[::g]:9/p/x,false",
    "s3://a[b]/path/x,false",
    "s3://%41cket/p/x,false",
    "s3://bucket/%00x,false",
    "s3://bucket/pa?h,false",
    "s3://bucket/pa#h,false",
    "s3://u@cket/path,false",
    "s3:bucket///path,false",
    "s3_//bucket/path,false",
    "s3://bucket/p th,false",
    "s3://bucket/%4_h,false",
    "s3://bucket/pä/,false",
    "//bucket/path/xy,false"
  })
  void knowsPlacesOfBlobs(String uri, boolean isValid) throws Exception {
    Manifest nothing = Manifest.read(Files.readAllBytes(GOLDEN.resolve("manifest-of-nothing.bin")));
    byte[] manifest = nothing.withBlobs(URI.create("s3://bucket/path")).toBytes();
    byte[] place = uri.getBytes(StandardCharsets.UTF_8);
    assertThat(place).hasSize(16);
    System.arraycopy(place, 0, manifest, manifest.length - 4 - place.length, place.length);
    ForgedFile.mendEnd(manifest);
    assertThat(requireSameAnswer(manifest)).isEqualTo(isValid ? 0 : 1);
  }

  @Test
  void knowsTheLastTimeOfExpiry() throws Exception {
    long last = Manifest.MAX_MILLIS;
    Manifest nothing = Manifest.read(Files.readAllBytes(GOLDEN.resolve("manifest-of-nothing.bin")));
    byte[] manifest = nothing.withTimes(last - 3, last).toBytes();
    assertThat(requireSameAnswer(manifest)).isZero();
    int lifetime = Arrays.mismatch(manifest, nothing.withTimes(last - 3, last - 1).toBytes());
    manifest[lifetime]++;
    ForgedFile.mendEnd(manifest);
    assertThat(requireSameAnswer(manifest)).isEqualTo(1);
  }

  /** The status of both readers for a manifest: 0 valid, 1 malformed, 2 unsupported. */
  private int requireSameAnswer(byte[] manifest) throws Exception {
    int expected = status(() -> Manifest.read(manifest));
    Path file = Files.write(directory.resolve("a.manifest"), manifest);
    Answer answer = run(file, "info");
    assertThat(answer.status()).as("%s", answer).isEqualTo(expected == 0 ? 0 : 2);
    assertThat(run(file, "verify").status() == 1).as("%s", answer).isEqualTo(expected == 1);
    return expected;
  }

  /** What reads. */
  @FunctionalInterface
  private interface Reading {
    void read() throws IOException;
  }

  private static int status(Reading reading) throws IOException {
    try {
      reading.read();
      return 0;
    } catch (MalformedSnapshotException | MissingBlobsException e) {
      return 1;
    } catch (UnsupportedSnapshotException e) {
      return 2;
    }
  }

  /** The snapshots that the script writes, in hexadecimal digits, by the names of their files. */
  private Map<String, String> build(SnapshotDirectory store, Manifest to, Manifest from)
      throws Exception {
    Path out = Files.createTempDirectory(directory, "out");
    List<String> options = new ArrayList<>(List.of(out.toString()));
    if (from != null) {
      options.add("--from=" + store.manifestFile(from.sequence()));
    }
    Answer answer = run(store.manifestFile(to.sequence()), "apply", options.toArray(String[]::new));
    assertThat(answer.errors()).isEmpty();
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> written = Files.list(out)) {
      for (Path file : written.toList()) {
        files.put(file.getFileName().toString(), HEX.formatHex(Files.readAllBytes(file)));
      }
    }
    return files;
  }

  private static Map<String, String> bytes(SnapshotSet set) {
    Map<String, String> files = new TreeMap<>();
    for (Snapshot snapshot : set.snapshots()) {
      if (snapshot != null) {
        files.put(
            snapshot.header().parameters().shard() + ".snapshot",
            HEX.formatHex(snapshot.toBytes()));
      }
    }
    return files;
  }

  private static Snapshot snapshot(
      KeyHash keyHash, Canonicaliser canonicaliser, double rate, List<String> keys)
      throws Exception {
    SetParameters set = SetParameters.of(keyHash, canonicaliser, new Shards(1), rate);
    long[] hashes = new long[keys.size()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = set.hash(null, keys.get(i).getBytes(StandardCharsets.UTF_8), keyHash);
    }
    return Snapshot.build(hashes, new SnapshotParameters(set, "python", 0, 1, 0, 1));
  }

  private static long hash(Snapshot snapshot, byte[] scope, String key, KeyHash keyHash)
      throws Exception {
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    return snapshot.header().parameters().set().hash(scope, bytes, keyHash);
  }

  /**
   * Returns the output of the script; its standard input is the file {@code keys}, if it exists.
   */
  private Answer run(Path file, String verb, String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(verb, file.toString()));
    arguments.addAll(List.of(options));
    return python.run(arguments, directory);
  }
}
