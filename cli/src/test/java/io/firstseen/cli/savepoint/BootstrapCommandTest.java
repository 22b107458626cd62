package io.firstseen.cli.savepoint;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code firstseen bootstrap}, {@code savepoint info}, and {@code run} from the savepoint. */
class BootstrapCommandTest {
  @TempDir private Path directory;
  private String keyFile;

  @BeforeEach
  void writeTheHashKey() throws IOException {
    keyFile = write("hash.key", "000102030405060708090a0b0c0d0e0f");
  }

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private String write(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
    return path(name);
  }

  private String read(String name) throws IOException {
    return Files.readString(directory.resolve(name), ISO_8859_1);
  }

  private Invocation call(String verb, String... words) {
    List<String> all = new ArrayList<>(List.of(verb));
    Collections.addAll(all, words);
    if (all.stream().noneMatch(word -> word.startsWith("--hash-key-file"))) {
      all.add("--hash-key-file=" + keyFile);
    }
    return Invocation.of(all.toArray(String[]::new));
  }

  private Invocation bootstrap(String input, String... words) {
    return call(
        "bootstrap",
        Stream.concat(Stream.of("--input=" + input, "--savepoint=" + path("S")), Stream.of(words))
            .toArray(String[]::new));
  }

  private static String lines(String... lines) {
    return String.join("\n", lines) + "\n";
  }

  private static String keys(int first, int count) {
    return IntStream.range(first, first + count)
        .mapToObj(i -> "key-" + i)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  /** On the heap other tests here start. */
  @Tag("slow")
  @Test
  void aRunOnRocksDbKnowsWhatItStartsFrom() throws IOException {
    Invocation made = bootstrap(write("known", keys(0, 3_000)), "--capacity=10000000");
    assertThat(made.status()).as("%s", made).isZero();
    assertThat(made.err()).isEmpty();
    assertThat(made.out())
        .startsWith(
            "savepoint           " + path("S"),
            "events              3,000",
            "dead letters        0",
            "keys                3,000")
        .hasSize(9);
    Invocation run =
        call(
            "run",
            "--input=" + write("in", keys(2_000, 2_000)),
            "--accepted=" + path("accepted"),
            "--from-savepoint=" + path("S"),
            "--state-backend=rocksdb");
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(read("accepted")).isEqualTo(keys(3_000, 1_000));
  }

  @Test
  void snapshotsCanBeMadeOfWhatIsNew() throws IOException {
    assertThat(bootstrap(write("known", keys(0, 10))).status()).isZero();
    Invocation run =
        call(
            "run",
            "--input=" + write("in", keys(0, 12)),
            "--accepted=" + path("accepted"),
            "--snapshots=" + path("snapshots"),
            "--from-savepoint=" + path("S"));
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(read("accepted")).isEqualTo(keys(10, 2));
    assertThat(
            Invocation.of("snapshot", "info", path("snapshots"), "--json")
                .json()
                .get("keys")
                .asInt())
        .isEqualTo(2);
  }

  @Test
  void theLastEventOfAKeyDecides() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(
          lines("1\tadd\ta", "2\tadd\tb", "3\tdel\ta", "4\tdel\tc", "5\tdel\td", "6\tadd\td")
              .getBytes(UTF_8));
    }
    Files.write(directory.resolve("known.gz"), bytes.toByteArray());
    assertThat(bootstrap(path("known.gz"), "--format=tsv", "--json").json().get("keys").asInt())
        .isEqualTo(2);
    String script =
        lines("7\tdel\ta", "7\tadd\tb", "7\tdel\tc", "7\tadd\td", "8\tadd\ta", "8\tadd\tc");
    call(
        "run",
        "--input=" + write("in", script),
        "--format=tsv",
        "--accepted=" + path("accepted"),
        "--from-savepoint=" + path("S"));
    assertThat(read("accepted")).isEqualTo(lines("8\tadd\ta", "8\tadd\tc"));
  }

  @Test
  void keysAreAsOldAsTheyAre() throws IOException {
    String[] ttl = {"--format=tsv", "--ttl=1h", "--ttl-clock=event", "--ttl-since=first-seen"};
    String known = lines("900000\tadd\tgone", "1000000\tadd\ta", "1003000\tadd\tb");
    Invocation made = bootstrap(write("known", known), ttl);
    assertThat(made.status()).as("%s", made).isZero();
    assertThat(Invocation.of("savepoint", "info", path("S")).out())
        .contains(
            "ttl                 1h by event time, since first-seen", "keys                2");
    String script = lines("1004900\tadd\tc", "1005000\tadd\ta", "1005000\tadd\tb");
    Invocation run =
        call(
            "run",
            Stream.concat(
                    Stream.of(ttl),
                    Stream.of(
                        "--input=" + write("in", script),
                        "--accepted=" + path("accepted"),
                        "--from-savepoint=" + path("S")))
                .toArray(String[]::new));
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(read("accepted")).isEqualTo(lines("1004900\tadd\tc", "1005000\tadd\ta"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"first-seen", "last-seen"})
  void withoutEventTimeKeysAreAsOldAsTheSavepoint(String since) throws IOException {
    String[] ttl = {"--ttl=1d", "--ttl-clock=processing", "--ttl-since=" + since};
    assertThat(bootstrap(write("known", keys(0, 10)), ttl).status()).isZero();
    Invocation run =
        call(
            "run",
            Stream.concat(
                    Stream.of(ttl),
                    Stream.of(
                        "--input=" + write("in", keys(5, 10)),
                        "--accepted=" + path("accepted"),
                        "--from-savepoint=" + path("S")))
                .toArray(String[]::new));
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(read("accepted")).isEqualTo(keys(10, 5));
  }

  @Test
  void keysAreMadeCanonicalAndScopesKeptApart() throws IOException {
    String known =
        lines(
            "{\"ts\":1,\"op\":\"add\",\"key\":\"HTTP://Example.org:80/\"}",
            "{\"ts\":1,\"op\":\"add\",\"key\":\"example.com\",\"scope\":\"t\"}");
    assertThat(bootstrap(write("known", known), "--format=jsonl", "--canonicaliser=url").status())
        .isZero();
    String script =
        lines(
            "{\"ts\":2,\"op\":\"add\",\"key\":\"http://example.org/\"}",
            "{\"ts\":2,\"op\":\"add\",\"key\":\"http://example.com/\"}",
            "{\"ts\":2,\"op\":\"add\",\"key\":\"http://example.com/\",\"scope\":\"t\"}");
    call(
        "run",
        "--input=" + write("in", script),
        "--format=jsonl",
        "--canonicaliser=url",
        "--accepted=" + path("accepted"),
        "--from-savepoint=" + path("S"));
    assertThat(read("accepted"))
        .isEqualTo(lines("{\"ts\":2,\"op\":\"add\",\"key\":\"http://example.com/\"}"));
  }

  @Tag("slow")
  @Test
  void strippedParametersMustAgree() throws IOException {
    String known = write("known", "http://example.com/?utm_source=x\n");
    String[] url = {"--canonicaliser=url", "--strip-parameters=utm_*"};
    assertThat(bootstrap(known, url).status()).isZero();
    assertThat(Invocation.of("savepoint", "info", path("S")).out())
        .contains("stripped parameters utm_*");
    assertThat(
            Invocation.of("savepoint", "info", path("S"), "--json")
                .json()
                .get("strippedParameters")
                .asText())
        .isEqualTo("utm_*");
    List<String> words =
        List.of(
            "--input=" + write("in", "http://example.com/\nhttp://example.com/?a\n"),
            "--canonicaliser=url",
            "--accepted=" + path("accepted"),
            "--from-savepoint=" + path("S"));
    Invocation same =
        call("run", Stream.concat(words.stream(), Stream.of(url[1])).toArray(String[]::new));
    assertThat(same.status()).as("%s", same).isZero();
    assertThat(read("accepted")).isEqualTo("http://example.com/?a\n");
    Invocation other = call("run", words.toArray(String[]::new));
    assertThat(other.status()).isEqualTo(ExitCode.USAGE);
    assertThat(other.err())
        .singleElement()
        .asString()
        .endsWith("they differ in: stripped parameters (state: utm_*, job: none)");
  }

  @Test
  void whatCannotBeUsedIsCountedAndTold() throws IOException {
    String input = write("known", "a\n\nb\n" + "k".repeat(65_537) + "\n");
    Invocation told = bootstrap(input);
    assertThat(told.status()).isZero();
    assertThat(told.out()).contains("dead letters        2", "keys                2");
    assertThat(told.err())
        .containsExactly(
            "warning: 2 events are unusable (--dead-letters writes them to a file):",
            "known:2: key is empty",
            "known:4: key must be at most 65536 bytes, got 65537");

    Files.move(directory.resolve("S"), directory.resolve("first"));
    Invocation kept = bootstrap(input, "--dead-letters=" + path("D"));
    assertThat(kept.err()).isEmpty();
    assertThat(read("D"))
        .isEqualTo(
            lines(
                "known:2\tkey is empty\t",
                "known:4\tkey must be at most 65536 bytes, got 65537\t" + "k".repeat(65_537)));
  }

  @Tag("slow")
  @Test
  void infoTellsWhatBootstrapMade() throws IOException {
    JsonNode made =
        bootstrap(
                write("known", keys(0, 5_000)),
                "--json",
                "--capacity=1000",
                "--fpr=0.01",
                "--dedup-shards=4",
                "--mode=exact")
            .json();
    assertThat(made.get("events").asInt()).isEqualTo(5_000);
    Invocation info = Invocation.of("savepoint", "info", path("S"), "--shards", "--json");
    JsonNode told = info.json();
    assertThat(told.get("mode").asText()).isEqualTo("exact");
    assertThat(told.get("hash").asText()).isEqualTo("siphash-2-4");
    assertThat(told.get("publicHashKey").asBoolean()).isFalse();
    assertThat(told.get("canonicaliser").asText()).isEqualTo("none");
    assertThat(told.get("shards").asInt()).isEqualTo(4);
    // 250 keys a shard at 1 %: 2 * 250 / 2^P.
    assertThat(told.get("identityBits").asInt()).isEqualTo(20);
    assertThat(told.get("keys").asInt()).isEqualTo(5_000);
    assertThat(told.get("bytes")).isEqualTo(made.get("bytes"));
    assertThat(told.get("predictedFalsePositiveRate").asDouble())
        .isCloseTo(2 * 1_250 / Math.pow(2, 20), within(5e-5));
    JsonNode shards = told.get("ofShards");
    assertThat(shards).hasSize(4);
    int sum = 0;
    for (JsonNode shard : shards) {
      assertThat(shard.get("keys").asInt())
          .isBetween(told.get("minKeysOfShard").asInt(), told.get("maxKeysOfShard").asInt());
      sum += shard.get("keys").asInt();
    }
    assertThat(sum).isEqualTo(5_000);

    Invocation table = Invocation.of("savepoint", "info", path("S"), "--shards");
    assertThat(table.out())
        .contains(
            "mode                exact",
            "ttl                 off",
            "canonicaliser       none (version 1)",
            "identity bits       20",
            "keys                5,000")
        .anyMatch(line -> line.matches("keys per shard {6}1,[0-9]{3} to 1,[0-9]{3}, mean 1,250"))
        .anyMatch(line -> line.matches(" *shard +keys +slots +pages +page bytes +predicted .*"))
        .anyMatch(line -> line.matches(" +3 +1,[0-9]{3} +[0-9,]+ +1 +[0-9,]+ +0\\.00[0-9]+"));
  }

  @Test
  void moreKeysThanTheCapacityIsAWarning() throws IOException {
    Invocation made =
        bootstrap(write("known", keys(0, 20_000)), "--capacity=1000", "--dedup-shards=2");
    assertThat(made.status()).isZero();
    assertThat(made.err())
        .singleElement()
        .asString()
        .matches(
            "warning: 20,000 keys are more than the --capacity of 1,000: the rate is"
                + " 0\\.01[0-9]+, not 0\\.001, and grows with further keys");
  }

  @Test
  void thePublicHashKeyIsAWarning() throws IOException {
    Invocation made =
        Invocation.of("bootstrap", "--input=" + write("known", "a\n"), "--savepoint=" + path("S"));
    assertThat(made.err())
        .singleElement()
        .asString()
        .startsWith("warning: no hash key is configured");
    assertThat(Invocation.of("savepoint", "info", path("S")).out())
        .anyMatch(line -> line.endsWith("(the public key)"));
  }

  static Stream<Arguments> refusedCalls() {
    return Stream.of(
        Arguments.of(List.of("--input=IN", "--savepoint=IN"), "IN already exists"),
        Arguments.of(
            List.of("--input=IN", "--savepoint=DIR/no/S"),
            "cannot create DIR/no/S: directory DIR/no does not exist"),
        Arguments.of(
            List.of("--input=DIR/none", "--savepoint=DIR/S"),
            "cannot read DIR/none: there is no such file or directory"),
        Arguments.of(
            List.of("--input=IN", "--savepoint=DIR/S", "--dead-letters=IN"),
            "IN cannot be both input and output"),
        Arguments.of(
            List.of("--input=IN", "--savepoint=DIR/S", "--dedup-shards=1"),
            "shards must be at least 2 for a warm start, got 1"),
        Arguments.of(
            List.of("--input=IN", "--savepoint=DIR/S", "--mode=exact-keys"),
            "mode exact-keys needs the keys themselves, but a warm start has only their hashes"),
        Arguments.of(
            List.of("--input=IN", "--savepoint=DIR/S", "--capacity=" + Long.MAX_VALUE),
            "these options contradict each other: capacity / shards / falsePositiveRate must be at"
                + " most 2^56, got 9223372036854775807 / 128 / 0.001"),
        Arguments.of(
            List.of("--savepoint=DIR/S"),
            "Missing required argument (specify one of these): (--input=FILE |"
                + " [--from-topic=TOPIC --bootstrap-servers=HOST:PORT,..."
                + " [[--kafka-properties=FILE] [--kafka-property=NAME=VALUE]...]])"
                + " (see 'firstseen bootstrap --help')"));
  }

  @ParameterizedTest
  @MethodSource("refusedCalls")
  void aMistakeIsOneLineAndLeavesNothing(List<String> words, String sentence) throws IOException {
    write("in", "a\n");
    String[] all =
        words.stream()
            .map(word -> word.replace("IN", path("in")).replace("DIR", directory.toString()))
            .toArray(String[]::new);
    Invocation call = call("bootstrap", all);
    assertThat(call.status()).isEqualTo(ExitCode.USAGE);
    assertThat(call.out()).isEmpty();
    assertThat(call.err())
        .containsExactly(
            "firstseen bootstrap: "
                + sentence.replace("IN", path("in")).replace("DIR", directory.toString()));
    assertThat(Invocation.names(directory)).containsExactly("hash.key", "in");
  }

  @Test
  void infoRefusesWhatIsNoSavepoint() throws IOException {
    bootstrap(write("known", "a\n"));
    Path cut = Files.createDirectory(directory.resolve("cut"));
    byte[] metadata = Files.readAllBytes(directory.resolve("S/_metadata"));
    Files.write(cut.resolve("_metadata"), Arrays.copyOf(metadata, metadata.length / 2));
    Files.write(
        Files.createDirectory(directory.resolve("noise")).resolve("_metadata"),
        "no savepoint at all".getBytes(UTF_8));
    assertRefused(path("none"), " does not exist");
    assertRefused(
        directory.toString(),
        " is neither a savepoint nor a checkpoint: it does not contain _metadata");
    assertRefused(
        path("S"), " holds no state of a dedup with the uid other-dedup", "--uid-prefix=other");
    for (String damaged : List.of("cut", "noise")) {
      for (Invocation call :
          List.of(
              Invocation.of("savepoint", "info", path(damaged)),
              Invocation.of(
                  "run",
                  "--input=" + path("known"),
                  "--accepted=" + path("accepted"),
                  "--from-savepoint=" + path(damaged)))) {
        assertThat(call.status()).isEqualTo(ExitCode.USAGE);
        assertThat(call.err())
            .singleElement()
            .asString()
            .matches("firstseen (savepoint info|run): cannot read " + path(damaged) + ": .+")
            .doesNotContain("null");
      }
    }
  }

  private void assertRefused(String savepoint, String sentence, String... words) {
    Invocation call =
        Invocation.of(
            Stream.concat(Stream.of("savepoint", "info", savepoint), Stream.of(words))
                .toArray(String[]::new));
    assertThat(call.status()).isEqualTo(ExitCode.USAGE);
    assertThat(call.out()).isEmpty();
    assertThat(call.err()).containsExactly("firstseen savepoint info: " + savepoint + sentence);
  }

  @Tag("slow")
  @Test
  void aRunRefusesWhatItCannotStartFrom() throws IOException {
    bootstrap(write("known", "a\n"));
    assertRunRefused("Max parallelism mismatch", "--dedup-shards=64");
    assertRunRefused(
        "The dedup state cannot be restored by this job, they differ in: canonicaliser"
            + " (state: none, job: url), canonicaliser version (state: 1, job: 3), mode (state:"
            + " approximate, job: exact), ttl (state: off, job: on)",
        "--canonicaliser=url",
        "--mode=exact",
        "--ttl=1h");
    assertRunRefused("they differ in: check of the hash key", otherKey());
  }

  /** A single difference is also rejected. */
  @Tag("slow")
  @Test
  void aRunRefusesEachDifference() throws IOException {
    bootstrap(write("known", "a\n"));
    assertRunRefused(
        "The dedup state cannot be restored by this job, they differ in: canonicaliser"
            + " (state: none, job: url)",
        "--canonicaliser=url");
    assertRunRefused("they differ in: mode (state: approximate, job: exact)", "--mode=exact");
    assertRunRefused("they differ in: ttl (state: off, job: on)", "--ttl=1h");
  }

  private String otherKey() throws IOException {
    return "--hash-key-file=" + write("other.key", "ff".repeat(16));
  }

  private void assertRunRefused(String reason, String... words) throws IOException {
    Invocation call =
        call(
            "run",
            Stream.concat(
                    Stream.of(
                        "--input=" + path("known"),
                        "--accepted=" + path("accepted"),
                        "--from-savepoint=" + path("S")),
                    Stream.of(words))
                .toArray(String[]::new));
    assertThat(call.status()).as("%s", call).isEqualTo(ExitCode.USAGE);
    assertThat(call.err())
        .singleElement()
        .asString()
        .startsWith("firstseen run: cannot start from " + path("S") + ": ")
        .contains(reason);
    assertThat(Invocation.names(directory)).doesNotContain("accepted");
  }
}
