package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.JavaScriptReader.request;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ProtocolNames;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.key.UrlExpressions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The reader in JavaScript, which was written from the specifications alone, agrees with ours: on
 * real URLs, on sets and files made here, and on damaged ones. The snapshots that it builds from
 * blobs have the same bytes as ours.
 */
// A read from a process is not interrupted.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class JavaScriptReaderTest {
  private static final HexFormat HEX = HexFormat.of();
  private static final String SECRET = "000102030405060708090a0b0c0d0e0f";
  private static final long SEED = -7;
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);

  private static final List<Canonicaliser> RULES =
      List.of(
          Canonicaliser.NONE,
          Canonicaliser.URL,
          Canonicaliser.URL.stripping("id,u*"),
          Canonicaliser.TEXT,
          Canonicaliser.of("url-2"),
          Canonicaliser.URL_EXPRESSION,
          Canonicaliser.of("url-expression-1"));

  /** URLs that users may look up for a listed host. */
  private static final List<String> VISITS =
      List.of(
          "%s",
          "http://%s/",
          "https://www.%s/signin/index.php?id=1&user=a%%40b#top",
          "HTTPS://user@a.b.c.d.%s.:8443/a/../b//c/d/e/f/g",
          "ftp://x-%s:2121/%%c3%%bc",
          "http://%s@example.com/");

  private static JavaScriptReader reader;

  @TempDir Path directory;

  @BeforeAll
  static void start() throws IOException {
    assumeTrue(
        JavaScriptReader.node().isPresent(),
        "no node on this machine, so the reader in JavaScript is not tested (Debian: apt-get install"
            + " nodejs)");
    reader = new JavaScriptReader();
  }

  @AfterAll
  static void stop() {
    if (reader != null) {
      reader.close();
    }
  }

  static List<Path> streams() throws IOException {
    Path streams = Path.of(System.getProperty("firstseen.streams", "../examples"));
    try (Stream<Path> files = Files.list(streams)) {
      return files.filter(file -> file.toString().endsWith(".tsv.gz")).sorted().toList();
    }
  }

  /** The keys of a stream, or every {@code step}th if it is the one of every build. */
  private static List<String> keysOf(Path stream, int step) throws IOException {
    List<String> keys = keysOf(stream);
    return System.getProperty("firstseen.streams") != null
        ? keys
        : IntStream.range(0, keys.size() / step).mapToObj(i -> keys.get(step * i)).toList();
  }

  private static List<String> keysOf(Path stream) throws IOException {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(Files.newInputStream(stream)), UTF_8))) {
      return lines.lines().map(line -> line.split("\t", 3)[2]).distinct().sorted().toList();
    }
  }

  /** With {@code -Dfirstseen.streams=DIR} on all streams of a directory. */
  @ParameterizedTest
  @MethodSource("streams")
  void realKeysHaveTheSameForms(Path stream) throws Exception {
    int forms = 0;
    for (String key : keysOf(stream, 120 / Math.min(6, SCALE))) {
      for (String visit : VISITS) {
        String url = visit.formatted(key);
        for (Canonicaliser rule : RULES) {
          forms += requireSameForm(rule, url.getBytes(UTF_8));
        }
        requireSameExpressions(url);
      }
    }
    assertThat(forms).isGreaterThan(2_500);
  }

  @Test
  void realUrlsHaveTheSameForms() throws Exception {
    Path urls = Path.of("src/test/resources/io/firstseen/filters/key/phishing-urls.txt");
    int forms = 0;
    for (String url : Files.readAllLines(urls)) {
      for (Canonicaliser rule : RULES) {
        forms += requireSameForm(rule, url.getBytes(UTF_8));
      }
      requireSameExpressions(url);
    }
    assertThat(forms).isGreaterThan(700);
  }

  /** Texts of pieces that matter to the rules, so that their edges meet in all ways. */
  @Test
  void madeUpKeysHaveTheSameForms() throws Exception {
    List<String> pieces =
        List.of(
            ("http://¦ftp:¦//¦\\¦a¦B¦example¦.com¦.¦..¦/¦?¦&¦=¦#¦@¦:¦80¦443¦%41¦%2e¦%2F¦%¦"
                    + "%zz¦ ¦\t¦\n¦ü¦ß¦İ¦。¦＿¦一¦xn--¦[¦]¦::1¦127.0.0.1¦0x7f¦*.¦*¦/*¦/24¦##¦||¦^¦"
                    + "$important¦!¦{¦~¦+¦\u200d¦\u00ad¦𝟙¦ﬃ¦ς¦Σ¦\u0301¦١¦🔥¦\u0085¦co.uk¦www.")
                .split("¦"));
    SplittableRandom random = new SplittableRandom(24);
    int forms = 0;
    int texts = 1_000 * SCALE;
    for (int i = 0; i < texts; i++) {
      StringBuilder key = new StringBuilder();
      for (int left = random.nextInt(1, 9); left > 0; left--) {
        key.append(pieces.get(random.nextInt(pieces.size())));
      }
      byte[] bytes = key.toString().getBytes(UTF_8);
      if (i % 10 == 0) {
        // No UTF-8.
        bytes[random.nextInt(bytes.length)] = (byte) 0xFF;
      }
      for (Canonicaliser rule : RULES) {
        forms += requireSameForm(rule, bytes);
      }
    }
    assertThat(forms).isBetween(5 * texts / 3, 23 * texts / 6);
  }

  /**
   * Requires that both give the same form, or that both reject the key; returns 1 if there is a
   * form.
   */
  private static int requireSameForm(Canonicaliser rule, byte[] key) throws IOException {
    String expected;
    try {
      expected = HEX.formatHex(rule.canonicalise(key));
    } catch (InvalidKeyException e) {
      expected = null;
    }
    ObjectNode request =
        request("canonical")
            .put("canonicaliser", ProtocolNames.of(rule))
            .put("keyHex", HEX.formatHex(key));
    if (!rule.strippedParameters().isEmpty()) {
      request.put("strip", rule.strippedParameters());
    }
    JsonNode answer = reader.ask(request);
    if (!Objects.equals(answer.path("form").textValue(), expected)) {
      throw new AssertionError("%s: %s, not %s".formatted(request, answer, expected));
    }
    return expected == null ? 0 : 1;
  }

  private static void requireSameExpressions(String url) throws IOException {
    JsonNode answer =
        reader.ask(
            request("expressions")
                .put("canonicaliser", ProtocolNames.of(Canonicaliser.URL_EXPRESSION))
                .put("url", url));
    if (!texts(answer, "expressions").equals(expressions(url))) {
      throw new AssertionError("%s: %s, not %s".formatted(url, answer, expressions(url)));
    }
  }

  private static List<String> expressions(String url) {
    try {
      return List.copyOf(UrlExpressions.of(url.getBytes(UTF_8)).asList());
    } catch (InvalidKeyException e) {
      return List.of();
    }
  }

  private static List<String> texts(JsonNode answer, String field) {
    List<String> texts = new ArrayList<>();
    answer.path(field).forEach(text -> texts.add(text.textValue()));
    return texts;
  }

  @Test
  void hashesAreTheSame() throws Exception {
    SplittableRandom random = new SplittableRandom(25);
    for (int length = 0; length < 600; length++) {
      byte[] form = new byte[length < 520 ? length : random.nextInt(520, 5_000)];
      random.nextBytes(form);
      long seed = length % 3 == 0 ? 0 : random.nextLong();
      byte[] key = new byte[16];
      random.nextBytes(key);
      ObjectNode request = request("hash").put("formHex", HEX.formatHex(form));
      if (form.length > 0 && form[0] != -1) {
        request.put("algorithm", "xxh3-64").put("hashKey", Long.toUnsignedString(seed));
        assertThat(reader.ask(request).path("hash").textValue())
            .isEqualTo(HEX.toHexDigits(KeyHash.xxh3(seed).hash(form)));
        request.put("algorithm", "siphash-2-4").put("hashKey", HEX.formatHex(key));
        assertThat(reader.ask(request).path("hash").textValue())
            .isEqualTo(HEX.toHexDigits(KeyHash.sipHash24(key).hash(form)));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0,0.001",
    "1,0.001",
    "37,0.001",
    "38,0.1",
    "2000,0.01",
    "3000,1e-9",
    "400,0x1p-20",
    "700,0x1p-50",
    "3,0x1p-57"
  })
  void findsWhatWeFind(int count, double rate) throws Exception {
    List<String> keys = IntStream.range(0, 2 * count + 20).mapToObj(i -> "Schlüssel " + i).toList();
    for (KeyHash keyHash : List.of(KeyHash.parse(SECRET), KeyHash.xxh3(SEED))) {
      SetParameters set = SetParameters.of(keyHash, Canonicaliser.NONE, new Shards(1), rate);
      long[] hashes = new long[count];
      for (int i = 0; i < count; i++) {
        hashes[i] = set.hash(scope(i), keys.get(i).getBytes(UTF_8), keyHash);
      }
      Snapshot snapshot =
          Snapshot.build(hashes, new SnapshotParameters(set, "javascript", 0, 1, 0, 1));
      Path file = Files.write(directory.resolve("a.snapshot"), snapshot.toBytes());
      JsonNode read =
          reader.ask(request("snapshot").put("file", file.toString()).put("verify", true));
      assertThat(read.path("setDigest").textValue()).isEqualTo(snapshot.header().setDigest());
      assertThat(read.path("count").longValue()).isEqualTo(snapshot.header().count());
      for (int scope = 0; scope < 2; scope++) {
        ObjectNode request = query(keyHash).put("file", file.toString());
        if (scope == 1) {
          request.put("scope", "mail");
        }
        List<Boolean> expected = new ArrayList<>();
        ArrayNode asked = request.putArray("keys");
        for (String key : keys) {
          asked.add(key);
          expected.add(snapshot.mightContain(set.hash(scope(scope), key.getBytes(UTF_8), keyHash)));
        }
        assertThat(present(reader.ask(request))).isEqualTo(expected);
      }
    }
  }

  /** Keys of odd numbers are of a tenant. */
  private static byte[] scope(int number) {
    return number % 2 == 0 ? null : "mail".getBytes(UTF_8);
  }

  private static ObjectNode query(KeyHash keyHash) {
    boolean isXxh3 = keyHash.algorithm() == KeyHash.Algorithm.XXH3_64;
    return request("query")
        .put("algorithm", keyHash.algorithm().id())
        .put("hashKey", isXxh3 ? Long.toUnsignedString(SEED) : SECRET);
  }

  private static List<Boolean> present(JsonNode answer) {
    List<Boolean> present = new ArrayList<>();
    answer.path("present").forEach(each -> present.add(each.booleanValue()));
    assertThat(present).as("%s", answer).isNotEmpty();
    return present;
  }

  @Test
  void refusesAnotherHashKeyAndAnotherVersionOfARule() throws Exception {
    KeyHash keyHash = KeyHash.parse(SECRET);
    SetParameters url = SetParameters.of(keyHash, Canonicaliser.URL, new Shards(1), 0.01);
    SetParameters old =
        new SetParameters(
            url.hashAlgorithm(), url.keyCheck(), Canonicaliser.URL, 1, url.shards(), 0.01);
    SetParameters other = SetParameters.of(KeyHash.fixed(), Canonicaliser.URL, new Shards(1), 0.01);
    List<String> refusals = new ArrayList<>();
    for (SetParameters parameters : List.of(url, old, other)) {
      Snapshot snapshot =
          Snapshot.build(new long[] {1}, new SnapshotParameters(parameters, "js", 0, 1, 0, 1));
      Path file = Files.write(directory.resolve("a.snapshot"), snapshot.toBytes());
      ObjectNode request = query(keyHash).put("file", file.toString());
      request.putArray("keys").add("http://a.example/");
      refusals.add(reader.ask(request).path("refused").asText("none"));
    }
    assertThat(refusals.get(0)).isEqualTo("none");
    assertThat(refusals.get(1))
        .isEqualTo(
            "the keys went through version 1 of the canonicaliser url, the newest of this program"
                + " is version 3");
    assertThat(refusals.get(2))
        .startsWith("the set was made with another hash key: siphash-2-4 (key check af95951d");
  }

  /** Hosts on a real list and hosts that are not, with the same entries. */
  @ParameterizedTest
  @MethodSource("streams")
  void realListsMatchTheSame(Path stream) throws Exception {
    KeyHash keyHash = KeyHash.parse(SECRET);
    SetParameters parameters =
        SetParameters.of(keyHash, Canonicaliser.URL_EXPRESSION, new Shards(4), 0.001);
    List<String> hosts = keysOf(stream, 15 / Math.min(3, SCALE));
    List<Long> hashes = new ArrayList<>();
    for (int i = 0; i < hosts.size(); i += 2) {
      try {
        hashes.add(parameters.hash(null, hosts.get(i).getBytes(UTF_8), keyHash));
      } catch (InvalidKeyException e) {
        // Some lines of the streams are not hosts.
      }
    }
    PublishedSet published = new PublishedSet("list", parameters);
    Manifest manifest = published.window(1, hashes);
    SnapshotSet list = SnapshotSet.open(manifest, published);
    SnapshotDirectory store = store(published, List.of(manifest));
    ObjectNode request = request("match").put("directory", store.path().toString());
    request.put("algorithm", "siphash-2-4").put("hashKey", SECRET);
    ArrayNode asked = request.putArray("urls");
    List<String> expected = new ArrayList<>();
    for (String host : hosts) {
      for (String visit : VISITS) {
        String url = visit.formatted(host);
        asked.add(url);
        String entry = null;
        for (String expression : expressions(url)) {
          if (list.mightContainKey(expression.getBytes(UTF_8), keyHash)) {
            entry = expression;
            break;
          }
        }
        expected.add(entry);
      }
    }
    assertThat(texts(reader.ask(request), "entries")).isEqualTo(expected);
    assertThat(expected.stream().filter(entry -> entry != null).count())
        .isGreaterThan(2L * hosts.size());
    assertThat(expected).contains((String) null);
  }

  @Test
  void refusesWhatWeRefuse() throws Exception {
    SetParameters set = SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001);
    SplittableRandom random = new SplittableRandom(95);
    Snapshot snapshot =
        Snapshot.build(
            random.longs(100).toArray(), new SnapshotParameters(set, "javascript", 0, 1, 0, 1));
    byte[] good = snapshot.toBytes();
    int headerBytes = ForgedFile.headerBytes("javascript");
    int[] kinds = new int[3];
    for (int i = 0; i < 600; i++) {
      byte[] damaged = good.clone();
      if (i % 4 == 0) {
        damaged = Arrays.copyOf(good, random.nextInt(good.length));
      } else {
        // Headers, payloads and bucket starts alike.
        int from = i % 4 == 3 ? headerBytes : 0;
        damaged[random.nextInt(from, good.length)] ^= (byte) (1 << random.nextInt(8));
        if (i % 4 > 1) {
          ForgedFile.mend(damaged, headerBytes);
        }
      }
      byte[] file = damaged;
      int kind = kindOf(() -> Snapshot.read(file).verify());
      requireKind(kind, Files.write(directory.resolve("a.snapshot"), damaged), "damage " + i);
      kinds[kind]++;
    }
    assertThat(kinds[1]).isGreaterThan(400);
    assertThat(kinds[2]).isPositive();
  }

  /** Requires that the file is valid (0), malformed (1) or unsupported (2). */
  private static void requireKind(int kind, Path file, String about) throws IOException {
    JsonNode answer = reader.ask(request("verify").put("file", file.toString()));
    String expected = kind == 0 ? null : kind == 1 ? "malformed" : "unsupported";
    assertThat(answer.path("kind").textValue()).as("%s: %s", about, answer).isEqualTo(expected);
  }

  /** What reads. */
  @FunctionalInterface
  private interface Reading {
    void read() throws IOException;
  }

  private static int kindOf(Reading reading) throws IOException {
    try {
      reading.read();
      return 0;
    } catch (MalformedSnapshotException e) {
      return 1;
    } catch (UnsupportedSnapshotException | MissingBlobsException e) {
      return 2;
    }
  }

  /** From any window of a random set to any later one, by packs as by bases. */
  @ParameterizedTest
  @CsvSource({"1,0.001,21", "4,0.1,22", "16,0x1p-20,23", "2,0x1p-45,24", "2,0x1p-55,26"})
  void buildsTheSetsThatWeBuild(int shards, double rate, long seed) throws Exception {
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(shards), rate);
    SplittableRandom random = new SplittableRandom(seed);
    PublishedSet published = new PublishedSet("javascript", parameters);
    List<Manifest> manifests = new ArrayList<>();
    Set<Long> hashes = new TreeSet<>();
    for (int sequence = 0; sequence < 7; sequence++) {
      int change = random.nextInt(1, 1 + 40 * shards);
      for (int i = 0; i < change && sequence != 3; i++) {
        hashes.add(random.nextLong());
        if (i % 3 == 0) {
          hashes.remove(hashes.iterator().next());
        }
      }
      manifests.add(published.window(sequence, hashes));
    }
    SnapshotDirectory store = store(published, manifests);
    int byPacks = 0;
    for (Manifest to : manifests) {
      SnapshotSet expected = SnapshotSet.open(to, published);
      assertThat(build(store, to, null).path("snapshots")).isEqualTo(hexOf(expected));
      for (Manifest from : manifests.subList(0, manifests.indexOf(to))) {
        JsonNode built = build(store, to, from);
        byPacks += built.path("way").textValue().equals("packs") ? 1 : 0;
        for (int shard = 0; shard < shards; shard++) {
          Snapshot ours = expected.snapshot(shard);
          String file = built.path("snapshots").path(shard).textValue();
          assertThat(file == null).isEqualTo(ours == null);
          if (file != null) {
            Snapshot theirs = Snapshot.read(HEX.parseHex(file));
            theirs.verify();
            assertThat(theirs.header().setDigest()).isEqualTo(ours.header().setDigest());
            assertThat(theirs.header().hashCount()).isEqualTo(ours.header().hashCount());
          }
        }
      }
    }
    assertThat(byPacks).isPositive();
  }

  /** Blobs and manifests of a publisher in a directory. */
  private SnapshotDirectory store(PublishedSet published, Collection<Manifest> manifests)
      throws IOException {
    SnapshotDirectory store = new SnapshotDirectory(directory.resolve("set"));
    Path blobs = Files.createDirectories(store.path().resolve("blobs"));
    for (var blob : published.blobs().entrySet()) {
      Path file = blobs.resolve(blob.getKey());
      if (!Files.exists(file)) {
        Files.write(file, blob.getValue());
      }
    }
    for (Manifest manifest : manifests) {
      store.writeManifest(manifest);
    }
    return store;
  }

  private static JsonNode build(SnapshotDirectory store, Manifest to, Manifest from)
      throws IOException {
    ObjectNode request = request("apply").put("file", store.manifestFile(to.sequence()).toString());
    if (from != null) {
      request.put("from", store.manifestFile(from.sequence()).toString());
    }
    JsonNode built = reader.ask(request);
    assertThat(built.has("snapshots")).as("%s", built).isTrue();
    return built;
  }

  private static ArrayNode hexOf(SnapshotSet set) {
    ArrayNode files = request("files").putArray("snapshots");
    for (Snapshot snapshot : set.snapshots()) {
      files.add(snapshot == null ? null : HEX.formatHex(snapshot.toBytes()));
    }
    return files;
  }

  /** Corrects the references to a damaged blob, so that the reader reaches its content. */
  @ParameterizedTest
  @EnumSource(BlobFrame.Kind.class)
  void refusesBlobsThatWeRefuse(BlobFrame.Kind kind) throws Exception {
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(2), 0.01);
    PublishedSet published = new PublishedSet("javascript", parameters);
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
    byte[] good =
        switch (kind) {
          case PACK -> newest.toBytes();
          case BASE_LIST -> list.toBytes();
          case BASE -> published.blobs().get(list.bases().get(0).digest());
        };
    int[] kinds = new int[3];
    int damages = 50 * SCALE;
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
        reference = published.put(new BaseList("javascript", list.sequence(), shards).toBytes());
      }
      if (kind != BlobFrame.Kind.PACK) {
        reference = published.put(naming(reference, newest).toBytes());
      }
      Manifest forged = manifest(manifest, manifest.sequence(), reference, manifest.packBytes());
      SnapshotDirectory store = store(published, List.of(forged));
      int expected = kindOf(() -> ManifestBlobs.verify(forged, published));
      requireKind(expected, store.path(), "damage " + i);
      kinds[expected]++;
    }
    assertThat(kinds[1]).isGreaterThan(damages / 4);
    assertThat(kinds[2]).isPositive();
  }

  /** The section leads to the root, so only the rule rejects it. */
  @Test
  void refusesToAddWhatIsThere() throws Exception {
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.01);
    PublishedSet published = new PublishedSet("javascript", parameters);
    Manifest manifest = published.window(0, new SplittableRandom(98).longs(30).boxed().toList());
    Snapshot before = published.snapshots()[0];
    SectionWriter same = new SectionWriter(before.header().universe(), before.header().count());
    same.add(before.values().nextLong());
    same.remove(0);
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
        manifest(manifest, 1, published.put(next), manifest.packBytes() + next.length);
    SnapshotDirectory store = store(published, List.of(forged));
    JsonNode answer = reader.ask(request("verify").put("file", store.path().toString()));
    assertThat(answer.path("refused").asText()).contains("an added value must not be there before");
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

  private static Manifest manifest(
      Manifest like, long sequence, BlobReference pack, long packBytes) {
    return Manifest.of(
        like.setName(),
        sequence,
        like.windowStartMillis(),
        like.windowEndMillis(),
        like.parameters(),
        like.count(),
        like.root(),
        pack,
        packBytes);
  }

  @Test
  void refusesManifestsThatWeRefuse() throws Exception {
    Path golden = Path.of("src/test/resources/io/firstseen/filters/snapshot/golden-v1");
    byte[] good = Files.readAllBytes(golden.resolve("manifest-signed.bin"));
    int checksumAt = good.length - 72 - 4;
    SplittableRandom random = new SplittableRandom(97);
    int[] kinds = new int[3];
    for (int i = 0; i < 600; i++) {
      byte[] damaged = good.clone();
      damaged[random.nextInt(checksumAt)] ^= (byte) (1 << random.nextInt(8));
      if (i % 10 > 0) {
        ForgedFile.mendChecksumAt(checksumAt, damaged);
      }
      if (i % 7 == 0) {
        damaged = Arrays.copyOf(damaged, random.nextInt(good.length + 2));
      }
      byte[] bytes = damaged;
      int kind = kindOf(() -> Manifest.read(bytes));
      Path file = Files.write(directory.resolve("a.manifest"), damaged);
      JsonNode answer = reader.ask(request("manifest").put("file", file.toString()));
      String expected = kind == 0 ? null : kind == 1 ? "malformed" : "unsupported";
      assertThat(answer.path("kind").textValue())
          .as("damage %d: %s", i, answer)
          .isEqualTo(expected);
      kinds[kind]++;
    }
    for (int count : kinds) {
      assertThat(count).isGreaterThan(10);
    }
  }
}
