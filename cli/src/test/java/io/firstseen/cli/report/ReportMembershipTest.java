package io.firstseen.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code firstseen report membership}, by what it prints and ends with. */
class ReportMembershipTest {

  @TempDir private Path directory;

  private static Invocation report(String... words) {
    return reportWithInput("", words);
  }

  private static Invocation reportWithInput(String input, String... words) {
    List<String> all = new ArrayList<>(List.of("report", "membership"));
    all.addAll(List.of(words));
    return Invocation.withInput(input, all.toArray(String[]::new));
  }

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  @Test
  void thePictureMustNotReplaceTheKeys() throws IOException {
    Path keys = Files.writeString(directory.resolve("keys"), "a\nb\n");
    Files.createLink(directory.resolve("same"), keys);
    for (String svg : List.of("keys", "same")) {
      Invocation refused = report("--input", path("keys"), "--svg", path(svg));
      refused.assertRefused(path(svg) + " cannot be both input and output");
      assertThat(keys).hasContent("a\nb\n");
    }
  }

  @Test
  void comparesTheKeysOfACompressedFileInATableAndAPicture() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      for (int i = 0; i < 10; i++) {
        gzip.write(
            ("https://EXAMPLE.org/" + i + "\nhttps://example.org/" + i + "\n").getBytes(UTF_8));
      }
    }
    Files.write(directory.resolve("keys.gz"), bytes.toByteArray());
    Invocation call =
        report(
            "--input",
            path("keys.gz"),
            "--canonicaliser",
            "url",
            "--fpr",
            "0.01,0.1",
            "--probes",
            "1000",
            "--svg",
            path("f.svg"));
    assertThat(call.status()).as("%s", call).isZero();
    assertThat(call.err()).isEmpty();
    assertThat(call.out())
        .contains(
            "keys       10, of 21.0 bytes on average", "probes     1,000 keys that are in no set")
        .containsSubsequence("configured for 10 %", "configured for 1 %")
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    for (String set :
        List.of("hash set, shortened keys", "Bloom filter", "cuckoo filter", "Golomb-coded set")) {
      assertThat(call.out()).filteredOn(line -> line.startsWith("  " + set)).hasSize(2);
    }
    assertThat(
            DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(directory.resolve("f.svg").toFile())
                .getDocumentElement()
                .getTagName())
        .isEqualTo("svg");
  }

  @Test
  void tellsMachinesWhatItFoundInOneObject() throws IOException {
    String keys = IntStream.range(100, 1_000).mapToObj(i -> i + "\n").collect(joining());
    Invocation call =
        reportWithInput(
            keys + "\n1\tadd\tx\n", "--input", "-", "--fpr", "0.01", "--probes", "500", "--json");
    assertThat(call.status()).as("%s", call).isZero();
    assertThat(call.err())
        .containsExactly(
            "warning: 1 of 902 lines have no usable key and were skipped:",
            "standard input:902: the line is a TSV event, which run and bootstrap read with "
                + "--format tsv");
    assertThat(call.out()).hasSize(1);
    JsonNode json = new ObjectMapper().readTree(call.out().get(0));
    assertThat(json.get("keys").intValue()).isEqualTo(900);
    assertThat(json.get("keyBytes").intValue()).isEqualTo(2_700);
    assertThat(json.get("lines").intValue()).isEqualTo(902);
    assertThat(json.get("unusable").intValue()).isEqualTo(1);
    assertThat(json.get("probes").intValue()).isEqualTo(500);
    assertThat(json.get("hash").textValue()).isEqualTo("siphash-2-4");
    assertThat(json.get("confidence").doubleValue()).isEqualTo(0.99);
    assertThat(json.get("sets"))
        .extracting(set -> set.get("set").textValue())
        .containsExactly("exact", "shortened-keys", "bloom", "cuckoo", "golomb");
    JsonNode bloom = json.get("sets").get(2);
    assertThat(bloom.get("falsePositiveRate").doubleValue()).isEqualTo(0.01);
    assertThat(bloom.get("bitsPerKey").doubleValue())
        .isEqualTo(8 * bloom.get("bytes").doubleValue() / 900);
    assertThat(bloom.get("measuredFalsePositiveRate").doubleValue())
        .isEqualTo(bloom.get("falsePositives").doubleValue() / 500)
        .isBetween(bloom.get("intervalLow").doubleValue(), bloom.get("intervalHigh").doubleValue());
  }

  @Tag("slow")
  @Test
  void makesKeysIfItGetsNone() throws IOException {
    Invocation call =
        report(
            "--keys",
            "3000",
            "--fpr",
            "0.05",
            "--probes",
            "2000",
            "--canonicaliser",
            "text",
            "--json");
    assertThat(call.status()).as("%s", call).isZero();
    JsonNode json = new ObjectMapper().readTree(call.out().get(0));
    assertThat(json.get("keys").intValue()).isEqualTo(3000);
    assertThat(json.has("lines")).isFalse();
    assertThat(json.get("canonicaliser").textValue()).isEqualTo("text");
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of("--input missing.txt", "cannot read missing.txt: there is no such file"),
        Arguments.of("--input -", "none of the 0 lines of standard input holds a usable key"),
        Arguments.of("--input - --keys 10", "--input and --keys exclude each other"),
        Arguments.of("--keys 0", "must be a whole number in [1, 9223372036854775807], got '0'"),
        Arguments.of("--keys 5000000000", "comparing 5,000,000,000 keys needs about"),
        Arguments.of("--keys 9223372036854775807", "use fewer keys or probes"),
        Arguments.of("--keys 10 --fpr 0.01,0.5", "must be in (0, 0.1], got '0.5'"),
        Arguments.of("--keys 10 --fpr 1e-17", "expectedKeys / falsePositiveRate must be at most"),
        Arguments.of("--probes 0", "must be a whole number in [1, 100000000], got '0'"),
        Arguments.of("--probes many", "must be a whole number in [1, 100000000], got 'many'"),
        Arguments.of("--keys 10 --svg no/such/f.svg", "cannot write no/such/f.svg"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void aMistakeIsOneLine(String words, String sentence) {
    Invocation call = report(words.split(" ", -1));
    assertThat(call.status()).as("%s", call).isEqualTo(ExitCode.USAGE);
    assertThat(call.out()).isEmpty();
    assertThat(call.err()).singleElement().asString().contains(sentence);
  }

  @Test
  void aMistakeLeavesNoPictureBehind() throws IOException {
    assertThat(report("--keys", "10", "--fpr", "1e-17", "--svg", path("f.svg")).status())
        .isEqualTo(ExitCode.USAGE);
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).isEmpty();
    }
  }
}
