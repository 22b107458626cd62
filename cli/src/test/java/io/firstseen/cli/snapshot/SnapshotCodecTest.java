package io.firstseen.cli.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code snapshot encode} and {@code decode}; without the examples of docs/interop.md. */
class SnapshotCodecTest {
  private static final String KEY = "43497fd7f826957108f4a30fd9cec3ae";

  @TempDir private Path directory;

  private static Invocation encode(String input, String... words) {
    return Invocation.withInput(input, words("encode", words));
  }

  private static Invocation decode(String... words) {
    return Invocation.of(words("decode", words));
  }

  private static String[] words(String verb, String... more) {
    List<String> words = new ArrayList<>(List.of("snapshot", verb));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  private static void assertPrints(Invocation call, String... lines) {
    assertThat(call).isEqualTo(new Invocation(ExitCode.GOOD, List.of(lines), List.of()));
  }

  @Test
  void linesAreKeysAsTheyAre() {
    assertPrints(
        encode("50\r\n6\n19\n83\n9", "--codec", "golombset", "--input", "-"), "21849bb07f");
    assertPrints(
        encode("/index.php\n/index.html\n", "--codec", "casper", "--input", "-"),
        "AAAAAAAAAAAAAAAAAAAqA_g");
    // MD5 of nothing ends in ecf8427e, which is 638 modulo 1 · 1024.
    assertPrints(encode("\n", "--codec", "original", "--input", "-"), "00000001000004004fc0");
  }

  @Test
  void noKeysAreAnEmptySet() {
    assertPrints(encode("", "--codec", "original", "--input", "-"), "0000000000000400");
    assertPrints(encode("", "--codec", "golombset", "--input", "-"), "07");
    assertPrints(encode("", "--codec", "casper", "--input", "-"), "");
    assertPrints(encode("", "--codec", "bip158", "--siphash-key", KEY, "--input", "-"), "00");
    assertPrints(decode("--codec", "casper", ""));
    assertPrints(decode("--codec", "golombset", "07"));
    assertPrints(
        decode("--codec", "golombset", "07", "--json"),
        "{\"codec\":\"golombset\",\"k\":0,\"count\":0,\"values\":[]}");
  }

  @Test
  void jsonHoldsNumbersOrTheirDigits() throws IOException {
    String json = "{\"sets\":[[],[5,\"6\",18446744073709551615]]}";
    Invocation call =
        encode(json, "--codec", "golombset", "--input", "-", "--format", "json", "--at", "/sets/1");
    assertThat(call.status()).isEqualTo(ExitCode.USAGE);
    assertThat(call.err())
        .singleElement()
        .asString()
        .endsWith(
            "standard input: the set must encode to at most 268435456 bytes, it needs more"
                + " with 31 remainder bits");
    Path file = Files.writeString(directory.resolve("keys.json"), "[5, \"7\"]");
    assertPrints(
        encode("", "--codec=golombset", "--format=json", "--input", "" + file, "--json"),
        "{\"codec\":\"golombset\",\"keys\":2,\"bytes\":2,\"set\":\"0ebf\"}");
    assertPrints(decode("--codec", "golombset", "0ebf"), "5", "7");
  }

  @Test
  void writesAndReadsFiles() throws IOException {
    Path keys = directory.resolve("paths.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(keys))) {
      out.write("/index.html\n/index.php\n".getBytes(UTF_8));
    }
    Path set = directory.resolve("set");
    assertPrints(
        encode("", "--codec", "casper", "--input", "" + keys, "--output", "" + set),
        set + ": 2 keys in 17 bytes");
    assertThat(set).hasBinaryContent(HexFormat.of().parseHex("00000000000000000000000000002a03f8"));
    assertPrints(decode("--codec", "casper", "--input", "" + set), "7316", "7700");
    JsonNode object =
        encode("", "--codec", "casper", "--input", "" + keys, "--output", "" + set, "--json")
            .json();
    assertThat(object.get("output").textValue()).isEqualTo(set.toString());
    assertThat(object.get("bytes").intValue()).isEqualTo(17);
    assertThat(object.has("set")).isFalse();
  }

  @Test
  void readsTextFromStandardInput() {
    assertPrints(
        Invocation.withInput("21849bb07f\n", words("decode", "--codec", "golombset", "-")),
        "6",
        "9",
        "19",
        "50",
        "83");
  }

  @Test
  void aCookieMayBeginWithAMinusSign() {
    assertPrints(decode("--codec", "casper", "--remainder-bits", "4", "--", "-HA"), "15", "92");
  }

  @Test
  void answersInJson() {
    assertPrints(
        decode("--codec", "golombset", "21849bb07f", "--query", "9", "--query", "10", "--json"),
        "{\"key\":\"9\",\"answer\":\"present\"}",
        "{\"key\":\"10\",\"answer\":\"absent\"}");
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of("", "--input -", "Missing required option: '--codec=NAME'"),
        Arguments.of(
            "",
            "--codec gcs --input -",
            "expected one of [ORIGINAL, BIP158, GOLOMBSET, CASPER] (case-insensitive) but was 'gcs'"),
        Arguments.of("", "--codec casper", "Missing required option: '--input=KEYS'"),
        Arguments.of(
            "",
            "--codec original --p 1000 --input -",
            "P must be a power of two in [1, 2^31], got 1000"),
        Arguments.of(
            "", "--codec casper --p 64 --input -", "--p is for --codec original, not casper"),
        Arguments.of(
            "",
            "--codec original --siphash-key 00 --input -",
            "--siphash-key is for --codec bip158, not original"),
        Arguments.of(
            "",
            "--codec bip158 --input -",
            "--codec bip158 needs either --siphash-key or --block-hash"),
        Arguments.of(
            "",
            "--codec bip158 --siphash-key 00 --input -",
            "--siphash-key must be 32 hexadecimal digits, got '00'"),
        Arguments.of(
            "",
            "--codec bip158 --block-hash 00 --input -",
            "a block hash must be 64 hexadecimal digits, got '00'"),
        Arguments.of(
            "",
            "--codec casper --capacity-bits 32 --input -",
            "--codec casper: capacity bits must be in [1, 31], got 32"),
        Arguments.of(
            "",
            "--codec golombset --remainder-bits 3 --input -",
            "--remainder-bits is for --codec casper, not golombset"),
        Arguments.of("", "--codec casper --input - --at /x", "--at is for --format json"),
        Arguments.of(
            "",
            "--codec casper --input - --format json --at x",
            "JSON Pointer expression must start with '/': \"x\""),
        Arguments.of(
            "",
            "--codec casper --input no-such-file",
            "cannot read no-such-file: there is no such file"),
        Arguments.of("", "--codec casper --input - --output no-such/set", "there is no directory"),
        Arguments.of(
            "6\nsix\n",
            "--codec golombset --input -",
            "standard input: a key must be a whole number in [0, 2^64 - 1], got 'six'"),
        Arguments.of(
            "00\n0g\n",
            "--codec bip158 --siphash-key " + KEY + " --input -",
            "standard input:2: a key must be pairs of hexadecimal digits"),
        Arguments.of(
            "[\"00\", 5]",
            "--codec bip158 --siphash-key " + KEY + " --input - --format json",
            "standard input at /1: a key must be a string, this is not"),
        Arguments.of(
            "[[1.5]]",
            "--codec golombset --input - --format json --at /0",
            "standard input at /0/0: a key must be a whole number, this is not"),
        Arguments.of(
            "{}",
            "--codec casper --input - --format json",
            "standard input: this is not an array of keys"),
        Arguments.of(
            "{}",
            "--codec casper --input - --format json --at /x",
            "standard input at /x: this is not an array of keys"),
        Arguments.of(
            "[1",
            "--codec golombset --input - --format json",
            "standard input:1: this is not JSON: Unexpected end-of-input"),
        Arguments.of(
            "[\"\\ud800\"]",
            "--codec casper --input - --format json",
            "standard input at /0: a key must not have half a surrogate pair"),
        Arguments.of(
            "[" + "9".repeat(2000) + "]",
            "--codec golombset --input - --format json",
            "this is not JSON: Number value length"),
        Arguments.of(
            "[".repeat(2000),
            "--codec golombset --input - --format json",
            "this is not JSON: Document nesting depth"),
        Arguments.of(
            "[1] 2",
            "--codec golombset --input - --format json",
            "standard input:1: this is not JSON: Trailing token"),
        Arguments.of(
            "x".repeat(2_000_000),
            "--codec casper --input -",
            "standard input:1: a line must be at most 1048576 bytes"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void aMistakeIsOneLine(String input, String words, String sentence) {
    encode(input, words.split(" ", -1)).assertRefused(sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--codec golombset | a set is needed, as TEXT or as a file with --input",
        "--codec golombset 07 --input f | a set is needed, as TEXT or as a file with --input",
        "--codec golombset 0g | the set is not written in hex",
        "--codec golombset 071 | the set is not written in hex",
        "--codec casper AAA= | the set is not written in base64url",
        "--codec casper AAAAAAAAAAAAAAAAAAAAqB | the set is not written in base64url: it has"
            + " padding, or bits beyond its last byte",
        "--codec golombset 21849bb0 | firstseen snapshot decode: this is not a set of golombset:"
            + " the code that begins at bit 26 extends past the end, at bit 32",
        "--codec original 00 | this is not a set of original: the header takes 8 bytes, got 1",
        "--codec bip158 019dfca8 | --codec bip158 needs either --siphash-key or --block-hash",
        "--codec golombset 07 --query six | a key must be a whole number in [0, 2^64 - 1], got"
            + " 'six'",
        "--codec golombset 07 --p 64 | Unknown option: '--p'",
        "--codec golombset --input no-such-file | cannot read no-such-file: there is no such file"
      })
  void aDamagedSetIsOneLine(String words, String sentence) {
    decode(words.split(" ", -1)).assertRefused(sentence);
  }

  @Test
  void aRefusedSetLeavesTheFileAsItWas() throws IOException {
    Path set = Files.writeString(directory.resolve("set"), "as it was");
    encode("six\n", "--codec", "golombset", "--input", "-", "--output", "" + set)
        .assertRefused("got 'six'");
    assertThat(set).hasContent("as it was");
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).containsExactly(set);
    }
  }

  @Test
  void helpNamesEveryOption() {
    assertThat(String.join("\n", encode("", "--help").out()))
        .contains("--codec", "--p", "--siphash-key", "--block-hash", "--capacity-bits")
        .contains("--remainder-bits", "--input", "--format", "--at", "--as", "--output", "--json");
    assertThat(String.join("\n", decode("--help").out())).contains("TEXT", "--input", "--query");
  }

  @Test
  void aShellSeesTheSame() throws Exception {
    Path encoding = Files.createDirectory(directory.resolve("encode"));
    try (CommandProcess encode =
        CommandProcess.start(encoding, words("encode", "--codec", "casper", "--input", "-"))) {
      encode.standardInput().write("/index.html\n/index.php\n".getBytes(UTF_8));
      assertPrints(encode.end(), "AAAAAAAAAAAAAAAAAAAqA_g");
    }
  }
}
