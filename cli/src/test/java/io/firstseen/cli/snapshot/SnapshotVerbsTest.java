package io.firstseen.cli.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.fixtures.SetPublisher;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The verbs of {@code firstseen snapshot}, by what they print and end with. */
class SnapshotVerbsTest {
  /** Every byte in the slow tier, some in the quick one. */
  private static final boolean ALL = Integer.getInteger("firstseen.scale", 1) > 1;

  private static final String KEY = "000102030405060708090a0b0c0d0e0f";
  private static final String OTHER_KEY = "ff0102030405060708090a0b0c0d0e0f";
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @TempDir private Path directory;
  private String keyFile;
  private SetPublisher publisher;

  @BeforeEach
  void writeTheHashKey() throws IOException {
    keyFile = write("hash.key", KEY + "\n");
  }

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private String write(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
    return path(name);
  }

  /** A snapshot of these keys under the hash key. */
  private String snapshotOf(String... keys) throws IOException {
    String input = write("keys", String.join("\n", keys));
    Invocation built = build("--input", input, "--output", path("set.snapshot"));
    assertThat(built.status()).as("%s", built).isZero();
    return path("set.snapshot");
  }

  private Invocation build(String... words) {
    return Invocation.of(
        concat(new String[] {"snapshot", "build", "--hash-key-file", keyFile}, words));
  }

  private Invocation query(String... words) {
    return queryWithInput("", words);
  }

  private Invocation queryWithInput(String input, String... words) {
    return Invocation.withInput(
        input, concat(new String[] {"snapshot", "query", "--hash-key-file", keyFile}, words));
  }

  private static String[] concat(String[] first, String... second) {
    return Stream.of(first, second).flatMap(Arrays::stream).toArray(String[]::new);
  }

  // build

  @Test
  void buildMakesOneSnapshotInWhichRepeatsCollapse() throws IOException {
    String input = write("keys", "a\nb\r\na\nc");
    Invocation call = build("--input", input, "--output", path("f"), "--fpr", "0.01");
    assertThat(call.status()).isZero();
    assertThat(call.err()).isEmpty();
    assertThat(call.out())
        .containsExactly(
            path("f") + ": 3 keys in " + Files.size(directory.resolve("f")) + " bytes");
    Snapshot snapshot = Snapshot.read(directory.resolve("f"));
    KeyHash hash = KeyHash.parse(KEY);
    assertThat(snapshot.header().hashCount()).isEqualTo(3);
    assertThat(snapshot.header().parameters().set())
        .isEqualTo(SetParameters.of(hash, Canonicaliser.NONE, new Shards(1), 0.01));
    for (String key : List.of("a", "b", "c")) {
      assertThat(snapshot.mightContain(hash.hash(key.getBytes(UTF_8)))).as(key).isTrue();
    }
  }

  private static byte[] gzip(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(text.getBytes(UTF_8));
    }
    return bytes.toByteArray();
  }

  @Test
  void buildReadsCompressedFilesAndStandardInput() throws IOException {
    String text = "casa\nstrada\n";
    Files.write(directory.resolve("keys.gz"), gzip(text));
    assertThat(build("--input", path("keys.gz"), "--output", path("a")).status()).isZero();
    Invocation piped =
        Invocation.withInput(
            text,
            "snapshot",
            "build",
            "--hash-key-file",
            keyFile,
            "--input",
            "-",
            "--output",
            path("b"));
    assertThat(piped.status()).isZero();
    assertThat(directory.resolve("b")).hasSameBinaryContentAs(directory.resolve("a"));
  }

  @Test
  void buildCanonicalises() throws IOException {
    String input = write("keys", "HTTP://Example.com:80/a/../b\n");
    build("--input", input, "--output", path("f"), "--canonicaliser", "url");
    assertThat(query(path("f"), "http://example.com/b").out())
        .containsExactly("http://example.com/b\tpresent");
  }

  @Test
  void buildStripsParametersAndTheSnapshotSaysSo() throws IOException {
    String input = write("keys", "http://example.com/?utm_source=x\n");
    String url = "http://example.com/?utm_medium=y";
    build("--input", input, "--output", path("f"), "--canonicaliser", "url");
    assertThat(query(path("f"), url).out()).containsExactly(url + "\tabsent");
    String[] stripping = {
      "--input", input, "--output", path("g"), "--canonicaliser", "url", "--strip-parameters"
    };
    assertThat(build(concat(stripping, "utm_*")).status()).isZero();
    assertThat(query(path("g"), url).out()).containsExactly(url + "\tpresent");
    assertThat(
            Invocation.of("snapshot", "info", "--json", path("g"))
                .json()
                .get("strippedParameters")
                .asText())
        .isEqualTo("utm_*");
    assertThat(Invocation.of("snapshot", "diff", path("f"), path("g")).err())
        .singleElement()
        .asString()
        .contains("must have the same parameters", "canonicaliser=url without utm_*");
    assertThat(build("--input", input, "--output", path("h"), "--strip-parameters", "a").err())
        .containsExactly(
            "firstseen snapshot build: --strip-parameters needs --canonicaliser url, got none");
    assertThat(directory.resolve("h")).doesNotExist();
  }

  @Test
  void buildLeavesOutWhatIsNoKeyAndSaysSo() throws IOException {
    String input =
        write("keys", "http://a.example/\n//\nnot a url\n" + "x".repeat(65_537) + "\n//\n//\n//\n");
    Invocation call = build("--input", input, "--output", path("f"), "--canonicaliser", "url");
    assertThat(call.status()).isZero();
    assertThat(call.out()).singleElement().asString().contains(": 1 keys");
    assertThat(call.err())
        .hasSize(6)
        .startsWith(
            "warning: 6 of 7 lines have no usable key and were skipped, the first ones:",
            input + ":2: URL has no host")
        .contains(input + ":4: key must be at most 65536 bytes, got 65537");
  }

  @Test
  void buildTellsMachinesWhatItDid() throws IOException {
    String input = write("keys", "a\nb\n\n1\tadd\ta\na\n");
    JsonNode result =
        build("--input", input, "--output", path("f"), "--set", "mails", "--json").json();
    assertThat(result.get("output").textValue()).isEqualTo(path("f"));
    assertThat(result.get("lines").intValue()).isEqualTo(5);
    assertThat(result.get("unusable").intValue()).isEqualTo(1);
    assertThat(result.get("keys").intValue()).isEqualTo(2);
    assertThat(result.get("set").textValue()).isEqualTo("mails");
    assertThat(result.get("digest").textValue())
        .isEqualTo(Snapshot.read(directory.resolve("f")).digest());
  }

  @Test
  void buildOfNothingIsRefused() throws IOException {
    build("--input", write("keys", ""), "--output", path("f"))
        .assertRefused("none of the 0 lines of " + path("keys") + " holds a usable key");
    assertThat(directory.resolve("f")).doesNotExist();
  }

  @Test
  void buildReadsAColumnAndWritesDeadLetters() throws IOException {
    String input = write("keys", "1\ta.example\n2\n3\tb.example\n");
    Invocation call =
        build("--input", input, "--output", path("f"), "--column=2", "--dead-letters", path("d"));
    assertThat(call.status()).isZero();
    assertThat(query(path("f"), "a.example", "b.example", "1\ta.example").out())
        .containsExactly("a.example\tpresent", "b.example\tpresent", "1\ta.example\tabsent");
    assertThat(directory.resolve("d"))
        .content()
        .isEqualTo("keys:2\tthe line has 1 tab-separated columns, --column is 2\t2\n");
  }

  @Test
  void anInputThatCannotBeReadIsRefusedAndLeavesTheOutputAsItWas() throws IOException {
    String output = write("f", "as it was");
    build("--input", path("missing"), "--output", output)
        .assertRefused("cannot read " + path("missing") + ": there is no such file or directory");
    build("--input", directory.toString(), "--output", output)
        .assertRefused("cannot read " + directory + ": it is a directory");
    build("--input", write("plain.gz", "plain text"), "--output", output)
        .assertRefused(path("plain.gz") + " is not in gzip format");
    Files.write(directory.resolve("cut.gz"), Arrays.copyOf(gzip("a\nb\nc\n".repeat(1000)), 20));
    build("--input", path("cut.gz"), "--output", output)
        .assertRefused("cannot read " + path("cut.gz") + ": it is truncated");
    assertThat(directory.resolve("f")).hasContent("as it was");
    assertThat(Invocation.names(directory))
        .containsExactlyInAnyOrder("f", "hash.key", "plain.gz", "cut.gz");
  }

  @Test
  void anOutputThatCannotBeWrittenIsRefused() throws IOException {
    String input = write("keys", "a\n");
    build("--input", input, "--output", path("no/such/f"))
        .assertRefused(
            "cannot write " + path("no/such/f") + ": there is no directory " + path("no/such"));
    build("--input", input, "--output", directory.toString())
        .assertRefused(directory + " is a directory, not a file");
    build("--input", input, "--output", path("keys/f"))
        .assertRefused("cannot write " + path("keys/f"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "0.2", "-1", "NaN", "often"})
  void aRateOutsideItsBoundsIsRefused(String rate) throws IOException {
    build("--input", write("keys", "a"), "--output", path("f"), "--fpr", rate)
        .assertRefused("must be in (0, 0.1], got '" + rate + "'");
  }

  @Test
  void aRateThatNeedsMoreBitsThanAHashHasIsRefused() throws IOException {
    build("--input", write("keys", "a\nb"), "--output", path("f"), "--fpr", "1e-30")
        .assertRefused("2 keys at a rate of 1.0E-30 need too many values for hashes of 64 bits");
  }

  @Test
  void buildTakesTheRateOfAUrl() throws IOException {
    String[] list = {
      "--input", write("keys", "a.example"), "--output", path("f"), "--url-fpr=0.01"
    };
    Invocation built = build(concat(list, "--canonicaliser=url-expression", "--json"));
    assertThat(built.json().get("falsePositiveRate").doubleValue())
        .isEqualTo(UrlList.keyRateFor(0.01));
    assertThat(built.json().get("urlFalsePositiveRate").doubleValue())
        .isEqualTo(0.01, within(1e-9));
    assertThat(Invocation.of("snapshot", "info", path("f")).out())
        .contains("rate asked for      0.0003350", "rate of a URL       up to 0.01000");
    build(concat(list, "--canonicaliser=url-expression", "--fpr=0.01"))
        .assertRefused("--fpr and --url-fpr exclude each other");
    build(concat(list, "--canonicaliser=text"))
        .assertRefused("--url-fpr needs --canonicaliser url-expression, got text");
  }

  @Test
  void aSnapshotUnderThePublicKeyIsWarnedOfOnlyIfNobodyChoseIt() throws IOException {
    String[] build = {"snapshot", "build", "--input", write("keys", "a"), "--output", path("f")};
    assertThat(Invocation.of(build).err())
        .singleElement()
        .asString()
        .startsWith("warning: no hash key is configured, so the public key is used");
    Invocation chosen = Invocation.of(concat(build, "--hash-key-file", "public"));
    assertThat(chosen.status()).isZero();
    assertThat(chosen.err()).isEmpty();
    query(path("f"), "a").assertRefused("(the public key), the configured hash is siphash-2-4");
    assertThat(
            Invocation.of("snapshot", "query", "--hash-key-file", "public", path("f"), "a").out())
        .containsExactly("a\tpresent");
  }

  @Test
  void theInputIsNotOverwritten() throws IOException {
    String keys = write("keys", "a");
    build("--input", keys, "--output", directory.resolve("./keys").toString())
        .assertRefused("keys cannot be both input and output");
    Invocation.of("snapshot", "encode", "--codec=casper", "--input", keys, "--output", keys)
        .assertRefused("keys cannot be both input and output");
    assertThat(directory.resolve("keys")).hasContent("a");
  }

  // info

  @Test
  void infoIsATable() throws IOException {
    String snapshot = snapshotOf("a", "b", "c");
    long bytes = Files.size(Path.of(snapshot));
    long payloadBits = Snapshot.read(Path.of(snapshot)).header().payloadBits();
    Invocation call = Invocation.of("snapshot", "info", snapshot);
    assertThat(call.status()).isZero();
    assertThat(call.out())
        .containsExactly(
            "set                 firstseen",
            "sequence            0",
            "window              none",
            "keys                3",
            "shard               0 of 1",
            "bytes               " + bytes,
            "bits per key        " + String.format(Locale.ROOT, "%.3f", 8.0 * bytes / 3),
            "payload bits/key    " + String.format(Locale.ROOT, "%.3f", payloadBits / 3.0),
            "rate asked for      0.001000",
            "rate predicted      0.001000",
            "hash                siphash-2-4",
            "key check           " + HexFormat.of().toHexDigits(KeyHash.parse(KEY).keyCheck()),
            "canonicaliser       none (version 1)");
  }

  @Test
  void infoOfADirectoryAddsUpTheShardsOfTheNewestOrTheNamedManifest() throws IOException {
    Path set = twoWindows();
    JsonNode newest = Invocation.of("snapshot", "info", set.toString(), "--json").json();
    assertThat(newest.get("sequence").intValue()).isEqualTo(2);
    assertThat(newest.get("keys").intValue()).isEqualTo(2_000);
    assertThat(newest.get("shards").intValue()).isEqualTo(4);
    assertThat(newest.get("windowEndMillis").longValue()).isEqualTo(7_200_000);
    assertThat(newest.get("predictedFalsePositiveRate").doubleValue()).isBetween(0.0005, 0.001);
    assertThat(newest.has("shard")).isFalse();
    Invocation older = Invocation.of("snapshot", "info", set.toString(), "--sequence", "1");
    assertThat(older.out())
        .contains(
            "keys                1,990",
            "shards              4",
            "window              1970-01-01T00:00:00Z to 1970-01-01T01:00:00Z",
            "key check           "
                + HexFormat.of().toHexDigits(KeyHash.fixed().keyCheck())
                + " (the public key)");
    Invocation.of("snapshot", "info", set.toString(), "--sequence", "7")
        .assertRefused("there is no manifest of sequence 7");
    Invocation.of("snapshot", "info", snapshotOf("a"), "--sequence", "0")
        .assertRefused("--sequence chooses among the manifests of a directory");
  }

  // verify

  @Test
  void verifySaysValid() throws IOException {
    String snapshot = snapshotOf("a", "b");
    assertThat(Invocation.of("snapshot", "verify", snapshot))
        .isEqualTo(
            new Invocation(
                0,
                List.of("valid: 2 keys in " + Files.size(Path.of(snapshot)) + " bytes"),
                List.of()));
    Path set = twoWindows();
    JsonNode answer = Invocation.of("snapshot", "verify", set.toString(), "--json").json();
    assertThat(answer.get("valid").booleanValue()).isTrue();
    assertThat(answer.get("keys").intValue()).isEqualTo(2_000);
  }

  @Test
  void everyFlippedByteMakesItInvalidOrUnreadableInOneSentence() throws IOException {
    String snapshot = snapshotOf("a", "b", "c");
    byte[] sound = Files.readAllBytes(Path.of(snapshot));
    int everyNth = ALL ? 1 : 4;
    int visited = 0;
    int unsupported = 0;
    for (int at = 0; at < sound.length; at += ALL || at < 20 ? 1 : 15) {
      byte[] damaged = sound.clone();
      damaged[at] ^= 0x10;
      Files.write(directory.resolve("damaged"), damaged);
      Invocation verified = Invocation.of("snapshot", "verify", path("damaged"));
      if (verified.status() == ExitCode.NEGATIVE) {
        assertThat(verified.out()).singleElement().asString().startsWith("invalid: ");
        assertThat(verified.err()).isEmpty();
      } else {
        unsupported++;
        verified.assertRefused("");
      }
      if (visited++ % everyNth == 0) {
        query(path("damaged"), "a").assertRefused(path("damaged") + ": ");
        Invocation.of("snapshot", "info", path("damaged")).assertRefused(path("damaged") + ": ");
      }
    }
    // The two bytes of the version: a newer version may be valid, but cannot be read.
    assertThat(unsupported).isEqualTo(2);
  }

  @Test
  void everyTruncationIsInvalid() throws IOException {
    byte[] sound = Files.readAllBytes(Path.of(snapshotOf("a", "b", "c")));
    for (int length = 0; length < sound.length; length += ALL ? 1 : 21) {
      Files.write(directory.resolve("damaged"), Arrays.copyOf(sound, length));
      Invocation call = Invocation.of("snapshot", "verify", path("damaged"), "--json");
      assertThat(call.status()).as("%d bytes", length).isEqualTo(ExitCode.NEGATIVE);
      assertThat(MAPPER.readTree(call.out().get(0)).get("valid").booleanValue()).isFalse();
    }
  }

  @Test
  void verifyOfADirectoryFindsDamagedAndMissingBlobs() throws IOException {
    Path set = twoWindows();
    Path blob = set.resolve("blobs").resolve(publisher.base(2).digest());
    byte[] sound = Files.readAllBytes(blob);
    byte[] damaged = sound.clone();
    damaged[damaged.length - 1] ^= 1;
    Files.write(blob, damaged);
    Invocation call = Invocation.of("snapshot", "verify", set.toString());
    assertThat(call.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(call.out())
        .singleElement()
        .asString()
        .contains(publisher.base(2).digest() + " is damaged");
    Files.delete(blob);
    call = Invocation.of("snapshot", "verify", set.toString());
    assertThat(call.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(call.out()).singleElement().asString().contains(blob.getFileName() + " is missing");
    Files.write(set.resolve("manifest-0000000002.bin"), "{}".getBytes(UTF_8));
    call = Invocation.of("snapshot", "verify", set.toString());
    assertThat(call.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(call.out())
        .singleElement()
        .asString()
        .startsWith("invalid: " + set.resolve("manifest-0000000002.bin") + ": ");
    assertThat(Invocation.of("snapshot", "verify", set.toString(), "--sequence", "1").status())
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"info", "verify", "query", "match"})
  void whatIsNotThereIsRefused(String verb) {
    Invocation.of("snapshot", verb, path("missing"))
        .assertRefused("cannot read " + path("missing") + ": there is no such file");
    Invocation.of("snapshot", verb, directory.toString())
        .assertRefused("there is no manifest in " + directory);
  }

  // query

  @Test
  void queryAnswersEveryKeyInALine() throws IOException {
    String snapshot = snapshotOf("a", "böse", "with\ttab");
    assertThat(query(snapshot, "a", "x", "böse"))
        .isEqualTo(
            new Invocation(0, List.of("a\tpresent", "x\tabsent", "böse\tpresent"), List.of()));
    List<String> answers = List.of("with\ttab\tpresent", "\tinvalid\tkey is empty", "a\tpresent");
    assertThat(queryWithInput("with\ttab\n\na\r\n", snapshot, "-"))
        .isEqualTo(
            new Invocation(
                4,
                answers,
                List.of(
                    "invalid: 1 could not be evaluated, so whether they are present is unknown")));
    assertThat(queryWithInput("with\ttab\n\na", snapshot).out()).isEqualTo(answers);
  }

  @Test
  void queryAnswersMachinesInObjects() throws IOException {
    String snapshot = snapshotOf("a");
    assertThat(queryWithInput("a\n\nx\n", snapshot, "--json").out())
        .containsExactly(
            "{\"key\":\"a\",\"answer\":\"present\"}",
            "{\"key\":\"\",\"answer\":\"invalid\",\"reason\":\"key is empty\"}",
            "{\"key\":\"x\",\"answer\":\"absent\"}");
  }

  @Test
  void queryWithAnotherHashKeyIsRefused() throws IOException {
    String snapshot = snapshotOf("a");
    String other = write("other.key", OTHER_KEY);
    Invocation.of("snapshot", "query", snapshot, "a", "--hash-key-file", other)
        .assertRefused("configure the hash key that the publisher uses");
    Invocation.withInput("", "snapshot", "query", snapshot, "--hash-key-file", other)
        .assertRefused("configure the hash key that the publisher uses");
    Invocation.of("snapshot", "query", snapshot, "a", "--hash-key-file", path("nokey"))
        .assertRefused("--hash-key-file: " + path("nokey") + " does not exist");
  }

  @Test
  void queryAsksUnderAScope() throws Exception {
    KeyHash hash = KeyHash.fixed();
    SetParameters parameters = SetParameters.of(hash, Canonicaliser.NONE, new Shards(1), 1e-6);
    long scoped = parameters.hash("tenant".getBytes(UTF_8), "key".getBytes(UTF_8), hash);
    Snapshot snapshot =
        Snapshot.build(
            new long[] {scoped}, new SnapshotParameters(parameters, "scoped", 0, 0, 0, 0));
    Files.write(directory.resolve("f"), snapshot.toBytes());
    assertThat(Invocation.of("snapshot", "query", path("f"), "key", "--scope", "tenant").out())
        .containsExactly("key\tpresent");
    assertThat(Invocation.of("snapshot", "query", path("f"), "key").out())
        .containsExactly("key\tabsent");
  }

  @Test
  void oneShardOfManyCannotAnswerForTheOthers() throws IOException {
    Path set = twoWindows();
    Path file = Files.write(directory.resolve("shard"), publisher.snapshots()[1].toBytes());
    List<String> keys = IntStream.range(0, 2_000).mapToObj(i -> "key-" + i).toList();
    Shards shards = new Shards(4);
    String inside = firstOfShard(keys, shards, 1);
    String outside = firstOfShard(keys, shards, 3);
    assertThat(Invocation.of("snapshot", "query", file.toString(), inside).out())
        .containsExactly(inside + "\tpresent");
    Invocation.of("snapshot", "query", file.toString(), outside)
        .assertRefused("contains shard 1 of 4, not the key's shard, 3");
    assertThat(
            Invocation.withInput(String.join("\n", keys), "snapshot", "query", set.toString())
                .out())
        .hasSize(2_000)
        .allMatch(line -> line.endsWith("\tpresent"));
  }

  private static String firstOfShard(List<String> keys, Shards shards, int shard) {
    return keys.stream()
        .filter(key -> shards.shardOf(KeyHash.fixed().hash(key.getBytes(UTF_8))) == shard)
        .findFirst()
        .orElseThrow();
  }

  // helpers

  /** Sequence 1 holds key-0 … key-1989, sequence 2 ten more; 4 shards, the public key. */
  private Path twoWindows() throws IOException {
    Path path = directory.resolve("set");
    KeyHash hash = KeyHash.fixed();
    publisher =
        new SetPublisher("keys", SetParameters.of(hash, Canonicaliser.NONE, new Shards(4), 0.001));
    for (int sequence = 1; sequence <= 2; sequence++) {
      long[] hashes =
          IntStream.range(0, 1_980 + 10 * sequence)
              .mapToLong(i -> hash.hash(("key-" + i).getBytes(UTF_8)))
              .toArray();
      long start = (sequence - 1) * 3_600_000L;
      publisher
          .publish(sequence, start, start + 3_600_000L, hashes)
          .write(new SnapshotDirectory(path));
    }
    return path;
  }
}
