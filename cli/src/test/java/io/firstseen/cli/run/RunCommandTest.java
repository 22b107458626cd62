package io.firstseen.cli.run;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Progress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code firstseen run}, by what it writes, prints and ends with. */
class RunCommandTest {
  private static final String KEY = "000102030405060708090a0b0c0d0e0f";
  private static final String MAX_KEY = "k".repeat(65_536);

  @TempDir private Path directory;
  private String keyFile;

  @BeforeEach
  void writeTheHashKey() throws IOException {
    keyFile = write("hash.key", KEY);
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

  private Invocation run(String... words) {
    return runWithInput("", words);
  }

  private Invocation runWithInput(String input, String... words) {
    List<String> all = new ArrayList<>(List.of("run", "--accepted=" + path("accepted")));
    Collections.addAll(all, words);
    if (all.stream().noneMatch(word -> word.startsWith("--hash-key-file"))) {
      all.add("--hash-key-file=" + keyFile);
    }
    return Invocation.withInput(input, all.toArray(String[]::new));
  }

  @Test
  void linesAreKeysAndTheSummarySaysWhatBecameOfThem() throws IOException {
    Invocation call =
        run("--input=" + write("keys", "a\nb\na\n\nb"), "--duplicates=" + path("duplicates"));
    assertThat(call.status()).isZero();
    assertThat(read("accepted")).isEqualTo("a\nb\n");
    assertThat(read("duplicates")).isEqualTo("a\nb\n");
    assertThat(call.out())
        .startsWith(
            "events              5",
            "accepted            2",
            "duplicates          2",
            "removed             0",
            "unknown deletes     0",
            "dead letters        1")
        .hasSize(8);
    assertThat(call.out().get(6)).matches("seconds {13}[0-9]+\\.[0-9]{3}");
    assertThat(call.out().get(7)).matches("events per second {3}[0-9,]+");
    assertThat(call.err())
        .containsExactly(
            "warning: 1 events are unusable (--dead-letters writes them to a file):",
            "keys:4: key is empty");
  }

  @Test
  void manyDeadLettersAreToldInPart() throws IOException {
    Invocation call = run("--input=" + write("keys", "\n".repeat(1234)));
    assertThat(call.status()).isEqualTo(ExitCode.USAGE);
    assertThat(call.err())
        .containsExactly(
            "warning: 1,234 events are unusable (--dead-letters writes them to a file), the "
                + "first ones:",
            "keys:1: key is empty",
            "keys:2: key is empty",
            "keys:3: key is empty",
            "keys:4: key is empty",
            "keys:5: key is empty",
            "firstseen run: none of the 1,234 lines of " + path("keys") + " is a usable event");
    assertThat(run("--input=" + write("empty", "")).err())
        .containsExactly(
            "firstseen run: none of the 0 lines of " + path("empty") + " is a usable event");
  }

  @Test
  void deadLettersAreToldWhateverTheirBytesAre() throws IOException {
    Files.write(directory.resolve("in"), "\r\r\tx\n\0\u00ff\u2028\ry\n".getBytes(ISO_8859_1));
    Invocation call = run("--input=" + path("in"), "--format=tsv");
    assertThat(call.status()).isEqualTo(ExitCode.USAGE);
    assertThat(call.err())
        .containsExactly(
            "warning: 2 events are unusable (--dead-letters writes them to a file):",
            "in:1: line is not: epochSeconds TAB add|del TAB key",
            "in:2: not UTF-8: malformed at byte 1",
            "firstseen run: none of the 2 lines of " + path("in") + " is a usable event");
  }

  @Test
  void onATerminalProgressIsShownAndWiped() throws IOException {
    String input = write("keys", "key\n".repeat(1_500_000));
    System.setProperty(Progress.TERMINAL_PROPERTY, "true");
    Invocation call;
    try {
      call = run("--input=" + input);
    } finally {
      System.clearProperty(Progress.TERMINAL_PROPERTY);
    }
    assertThat(call.status()).isZero();
    assertThat(String.join("|", call.err())).contains(" accepted of ").endsWith("\u001b[K");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "tsv, `10\tadd\tgood`, `11\tdel\tgood`, `10\tput\tk`, `op must be add or del, got 'put'`",
        "jsonl, `{\"ts\":10,\"op\":\"add\",\"key\":\"k\"}`, `{\"ts\":11,\"op\":\"delete\",\"key\":\"k\"}`,"
            + " `{\"ts\":10,\"op\":\"put\",\"key\":\"k\"}`, `op must be add or delete, got 'put'`"
      })
  void badLinesAreDeadLettersAndTheRestGoesOn(
      String format, String add, String delete, String bad, String reason) throws IOException {
    String input = write("in", add + "\n" + bad + "\n\n" + delete + "\n");
    Invocation call =
        run("--input=" + input, "--format=" + format, "--dead-letters=" + path("dead"), "--json");
    assertThat(read("accepted")).isEqualTo(add + "\n" + delete + "\n");
    assertThat(read("dead").lines())
        .hasSize(2)
        .startsWith("in:2\t" + reason + "\t" + bad)
        .last()
        .asString()
        .startsWith("in:3\t")
        .endsWith("\t");
    JsonNode summary = call.json();
    assertThat(summary.get("deadLetters").intValue()).isEqualTo(2);
    assertThat(summary.get("accepted").intValue()).isEqualTo(1);
    assertThat(summary.get("removed").intValue()).isEqualTo(1);
    assertThat(summary.get("events").intValue()).isEqualTo(4);
  }

  @Test
  void theLongestKeyIsAccepted() throws IOException {
    assertThat(run("--input=" + write("keys", MAX_KEY + "\n")).status()).isZero();
    assertThat(read("accepted")).isEqualTo(MAX_KEY + "\n");
  }

  @Test
  void linesWithColumnsAreDeadLetters() throws IOException {
    String input =
        write(
            "in", "a.example\tscore=10\n1\tadd\tb.example\nc.example\nhttp://d.example/ # note\n");
    Invocation call = run("--input=" + input, "--canonicaliser=url");
    assertThat(read("accepted")).isEqualTo("c.example\n");
    assertThat(String.join("\n", call.err()))
        .contains(
            "in:1: the line has white space, as between columns or before a comment",
            "in:2: the line is a TSV event, which run and bootstrap read with --format tsv",
            "in:4: the line has white space");
  }

  @Test
  void textsThatResembleALiveTextAreDuplicates() throws IOException {
    String input =
        write(
            "in",
            """
            Dear Anna, claim your FREE prize worth $500 today!
            dear Robert, claim your free prize worth £20 today
            your parcel waits at the depot, pay the fee
            """);
    run("--input=" + input, "--canonicaliser=text", "--near=short", "--matches=" + path("matches"));
    assertThat(read("matches"))
        .matches(
            "[0-9a-f]{13}([0-9a-f]{3})\t0\tDear Anna, .*\n"
                + "\\1\t[2-9]\tdear Robert, .*\n"
                + "[0-9a-f]{16}\t0\tyour parcel .*\n");
    assertThat(run("--input=" + input, "--matches=" + path("matches")).err())
        .containsExactly("firstseen run: --matches needs --near");
    assertThat(read("accepted").lines())
        .containsExactly(
            "Dear Anna, claim your FREE prize worth $500 today!",
            "your parcel waits at the depot, pay the fee");
    assertThat(run("--input=" + input, "--near=short").err())
        .containsExactly(
            "firstseen run: these options contradict each other: near needs the canonicaliser text, got none");
  }

  @ParameterizedTest
  @CsvSource({"short, 2", "short+fold, 1", "long, 2", "long+fold, 1"})
  void aFoldingRuleFindsSpacedOutAndLookAlikeLetters(String rule, int accepted) throws IOException {
    String input =
        write(
            "in",
            """
            Dear Anna, claim your free prize worth $500 today!
            D e a r Anna, сlаim уоur f.r.e.e рrizе worth $500 tоdау!
            """);
    run("--input=" + input, "--canonicaliser=text", "--near=" + rule);
    assertThat(read("accepted").lines()).hasSize(accepted);
  }

  @Test
  void textsThatResembleALiveTextAreFoundInTheSnapshots() throws IOException {
    String prize = "Dear Anna, claim your FREE prize worth $500 today!";
    String parcel = "your parcel waits at the depot, pay the fee of 2.99 at parcel.example";
    String input =
        write(
            "in",
            """
            0\tadd\t%1$s
            1\tadd\tdear Robert, claim your free prize worth £20 today
            2\tadd\tmeet me at noon
            4000000\tdel\t%1$s
            4000001\tadd\t%2$s
            """
                .formatted(prize, parcel));
    Invocation call =
        run(
            "--input=" + input,
            "--canonicaliser=text",
            "--near=short",
            "--format=tsv",
            "--snapshots=" + path("set"),
            "--max-fall=1");
    assertThat(call.status()).as("%s", call).isZero();
    String ann = "Dear Ann, claim your FREE prize worth $900 today";
    String fee = "your parcel waits at the depot, pay a fee of 1.99 at parcel.example";
    for (int sequence = 1; sequence <= 2; sequence++) {
      Invocation match =
          Invocation.of(
              "snapshot",
              "match",
              path("set"),
              "--sequence=" + sequence,
              "--hash-key-file=" + keyFile,
              ann,
              fee,
              "meet me at noon",
              "see you at the depot");
      assertThat(match.out().stream().map(line -> line.split("\t")[1]))
          .containsExactly(
              sequence == 1 ? "present" : "absent",
              sequence == 1 ? "absent" : "present",
              "present",
              "absent");
    }
    Invocation info = Invocation.of("snapshot", "info", path("set"));
    assertThat(info.out())
        .contains(
            "keys                66",
            "near                characters:4,32x5,2",
            "texts               2");
  }

  @Test
  void keysWithoutACanonicalFormAreDeadLettersAndSpellingsMeet() throws IOException {
    String input =
        write(
            "in",
            """
            10\tadd\tHTTP://Example.com:80/a/../b
            11\tadd\thttp://example.com/b
            12\tadd\tno url at all
            13\tdel\thttp://EXAMPLE.com/b
            """);
    assertThat(
            run(
                    "--input=" + input,
                    "--format=tsv",
                    "--canonicaliser=url",
                    "--dead-letters=" + path("dead"))
                .status())
        .isZero();
    assertThat(read("accepted"))
        .isEqualTo("10\tadd\tHTTP://Example.com:80/a/../b\n13\tdel\thttp://EXAMPLE.com/b\n");
    assertThat(read("dead")).startsWith("in:3\t").endsWith("\t12\tadd\tno url at all\n");
  }

  /** The set records its stripped parameters, so a query does not need an option. */
  @Test
  void strippedParametersMakeNoOtherKeyInTheDedupAndInTheSet() throws IOException {
    String page = "http://example.com/a?id=1";
    String input =
        write(
            "in", page + "&utm_source=x\n" + page + "\n" + page + "&gclid=7\n" + page + "&ref=b\n");
    String[] words = {
      "--input=" + input, "--canonicaliser=url", "--snapshots=" + path("set"), "--fpr=0.000001"
    };
    assertThat(run(words).status()).isZero();
    assertThat(read("accepted")).as("the control").isEqualTo(read("in"));
    String[] stripping = Arrays.copyOf(words, words.length + 1);
    stripping[words.length] = "--strip-parameters=utm_*,gclid";
    assertThat(run(stripping).err())
        .singleElement()
        .asString()
        .contains(path("set") + " already has snapshots");
    FileUtils.deleteDirectory(directory.resolve("set").toFile());
    assertThat(run(stripping).status()).isZero();
    assertThat(read("accepted")).isEqualTo(page + "&utm_source=x\n" + page + "&ref=b\n");
    String asked = "HTTP://Example.com/a?utm_medium=y&gclid=z&id=1";
    assertThat(query(asked, page + "&ref=c", "http://example.com/a"))
        .containsExactly(
            asked + "\tpresent", page + "&ref=c\tabsent", "http://example.com/a\tabsent");
    assertThat(Invocation.of("snapshot", "info", path("set")).out())
        .contains("canonicaliser       url (version 3)", "stripped parameters gclid,utm_*");
    assertThat(Invocation.of("snapshot", "verify", path("set")).status()).isZero();
  }

  @Test
  void standardInputIsReadLikeAFile() throws IOException {
    JsonNode summary =
        runWithInput("a\n\na\nb\n", "--input=-", "--json", "--dead-letters=" + path("dead")).json();
    assertThat(read("accepted")).isEqualTo("a\nb\n");
    assertThat(read("dead")).isEqualTo("standard-input:2\tkey is empty\t\n");
    assertThat(summary.get("events").intValue()).isEqualTo(4);
    assertThat(summary.has("snapshots")).isFalse();
  }

  @Test
  void snapshotsCanBeAskedUnderTheHashKeyAndTheScopeOfTheRun() throws IOException {
    String input =
        write(
            "in",
            """
            {"ts":1000,"op":"add","key":"a","scope":"s"}
            {"ts":2000,"op":"add","key":"b"}
            {"ts":3700000,"op":"delete","key":"b"}
            """);
    JsonNode summary =
        run(
                "--input=" + input,
                "--format=jsonl",
                "--snapshots=" + path("set"),
                "--set=mails",
                "--fpr=0.000001",
                "--json")
            .json();
    assertThat(summary.get("snapshots").intValue()).isEqualTo(2);
    assertThat(query("--sequence=1", "a", "b")).containsExactly("a\tabsent", "b\tpresent");
    assertThat(query("--scope=s", "a", "b")).containsExactly("a\tpresent", "b\tabsent");
    assertThat(query("b")).containsExactly("b\tabsent");
    assertThat(Invocation.of("snapshot", "query", path("set"), "b").status())
        .as("under the public key")
        .isEqualTo(ExitCode.USAGE);
    assertThat(Invocation.of("snapshot", "verify", path("set")).status()).isZero();
    assertThat(Invocation.of("snapshot", "info", path("set")).out())
        .contains("set                 mails", "keys                1");
  }

  private List<String> query(String... words) {
    List<String> all =
        new ArrayList<>(List.of("snapshot", "query", "--hash-key-file=" + keyFile, path("set")));
    Collections.addAll(all, words);
    return Invocation.of(all.toArray(String[]::new)).out();
  }

  @Test
  void thePublicHashKeyIsWarnedOf() throws IOException {
    Invocation call =
        Invocation.of("run", "--input=" + write("keys", "a"), "--accepted=" + path("accepted"));
    assertThat(call.status()).isZero();
    assertThat(call.err())
        .singleElement()
        .asString()
        .startsWith("warning: no hash key is configured, so the public key is used");
  }

  @Test
  void snapshotsUnderThePublicKeyAreNotWarnedOf() throws IOException {
    String input = write("keys", "a.example\nb.example");
    Invocation call =
        run(
            "--input=" + input,
            "--snapshots=" + path("set"),
            "--snapshot-hash-key-file=public",
            "--canonicaliser=url-expression",
            "--snapshot-url-fpr=0.001");
    assertThat(call.status()).as("%s", call).isZero();
    assertThat(call.err()).isEmpty();
    assertThat(query("a.example")).as("under the key of the dedup").isEmpty();
    assertThat(
            Invocation.of("snapshot", "query", "--hash-key-file=public", path("set"), "a.example")
                .out())
        .containsExactly("a.example\tpresent");
    assertThat(Invocation.of("snapshot", "info", path("set")).out())
        .contains("rate of a URL       up to 0.001000")
        .anyMatch(line -> line.startsWith("key check") && line.endsWith(" (the public key)"));
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of(List.of("--input=DIR/missing"), "DIR/missing does not exist"),
        Arguments.of(
            List.of("--input=DIR/missing", "--snapshots=DIR/set"), "DIR/missing does not exist"),
        Arguments.of(List.of("--input=DIR"), "DIR is a directory, not a file"),
        Arguments.of(List.of("--input=DIR/plain.gz"), "DIR/plain.gz is not in gzip format"),
        Arguments.of(
            List.of("--input=DIR/keys", "--duplicates=DIR/no/such"),
            "cannot write DIR/no/such: there is no directory DIR/no"),
        Arguments.of(
            List.of("--input=DIR/keys", "--dead-letters=DIR"), "DIR is a directory, not a file"),
        Arguments.of(List.of("--input=DIR/keys", "--snapshots=DIR/keys"), "DIR/keys is a file"),
        Arguments.of(
            List.of("--input=DIR/keys", "--duplicates=DIR/accepted"),
            "DIR/accepted cannot be two outputs at once"),
        Arguments.of(
            List.of("--input=DIR/keys", "--duplicates=DIR/./keys"),
            "DIR/./keys cannot be both input and output"),
        Arguments.of(
            List.of("--input=DIR/keys", "--hash-key-file=DIR/keys"),
            "a hash key must be 32 hexadecimal digits, got 1 characters"),
        Arguments.of(List.of("--input=DIR/keys", "--fpr=0"), "must be in (0, 0.1], got '0'"),
        Arguments.of(List.of("--input=DIR/keys", "--capacity=0"), "must be a whole number in [1, "),
        Arguments.of(
            List.of("--input=DIR/keys", "--capacity=" + Long.MAX_VALUE),
            "these options contradict each other: capacity / shards / falsePositiveRate must be at"
                + " most 2^56"),
        Arguments.of(
            List.of("--input=DIR/keys", "--strip-parameters=gclid"),
            "--strip-parameters needs --canonicaliser url, got none"),
        Arguments.of(
            List.of("--input=DIR/keys", "--window=1"), "must be a whole number with a unit"),
        Arguments.of(
            List.of("--input=DIR/keys", "--page-cache=much"),
            "must be a whole number with a unit (0, 512k, 64m, 1g), got 'much'"),
        Arguments.of(
            List.of("--input=DIR/keys", "--dedup-shards=2", "--parallelism=3"),
            "--parallelism must be at most --dedup-shards, got 3 and 2"),
        Arguments.of(
            List.of("--input=DIR/keys", "--dedup-shards=1024", "--parallelism=1000"),
            "--parallelism must be at most 128 when everything runs in one process, got 1000"),
        Arguments.of(
            List.of("--input=DIR/keys", "--snapshots=DIR", "--snapshot-fpr=1e-18"),
            "the falsePositiveRate of snapshots must be at least"),
        Arguments.of(
            List.of("--input=DIR/keys", "--snapshots=DIR", "--snapshot-url-fpr=0.01"),
            "--snapshot-url-fpr needs --canonicaliser url-expression, got none"),
        Arguments.of(
            List.of("--input=DIR/keys", "--snapshots=DIR", "--snapshot-hash-key-file=DIR/no"),
            "--snapshot-hash-key-file: DIR/no does not exist"),
        Arguments.of(
            List.of("--input=DIR/keys", "--format=xml"),
            "expected one of [LINES, TSV, JSONL] (case-insensitive) but was 'xml'"),
        Arguments.of(
            List.of("--input=DIR/keys", "--state-backend=disk"),
            "must be one of heap, rocksdb, got 'disk'"),
        Arguments.of(List.of("--input=DIR/keys", "--nonsense"), "Unknown option: '--nonsense'"),
        Arguments.of(List.of(), "Missing required option: '--input=FILE'"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void aMistakeIsOneSentenceAndLeavesTheOutputAsItWas(List<String> words, String sentence)
      throws IOException {
    write("keys", "a");
    write("plain.gz", "plain text");
    write("accepted", "as it was");
    List<String> before = Invocation.names(directory);
    String[] call = words.stream().map(this::inDirectory).toArray(String[]::new);
    Invocation ended = run(call);
    assertThat(ended.status()).as("%s", ended).isEqualTo(ExitCode.USAGE);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err()).singleElement().asString().contains(inDirectory(sentence));
    assertThat(read("accepted")).isEqualTo("as it was");
    assertThat(Invocation.names(directory)).containsExactlyInAnyOrderElementsOf(before);
  }

  private String inDirectory(String word) {
    return word.replace("DIR", directory.toString());
  }

  @Test
  void anInputThatIsCutShortIsOneSentenceAndLeavesTheOutputAsItWas() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write("a\nb\nc\n".repeat(1000).getBytes(UTF_8));
    }
    Files.write(directory.resolve("cut.gz"), Arrays.copyOf(bytes.toByteArray(), 40));
    write("accepted", "as it was");
    Invocation ended = run("--input=" + path("cut.gz"), "--duplicates=" + path("duplicates"));
    assertThat(ended.status()).as("%s", ended).isEqualTo(ExitCode.USAGE);
    assertThat(ended.err())
        .singleElement()
        .asString()
        .isEqualTo("firstseen run: cannot read " + path("cut.gz") + ": it is truncated");
    assertThat(read("accepted")).isEqualTo("as it was");
    assertThat(Invocation.names(directory))
        .containsExactlyInAnyOrder("hash.key", "cut.gz", "accepted");
  }
}
