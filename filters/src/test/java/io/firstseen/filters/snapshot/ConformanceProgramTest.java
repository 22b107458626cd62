package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code conformance/check.py} passes this reader, and no bad one. */
// A read from a process is not interrupted.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConformanceProgramTest {
  private static final Path PROGRAM = Path.of("../conformance/check.py");

  /** Answers as its first argument says, from its fourth answer on. */
  private static final String BAD_READER =
      """
      import sys, time
      for number, line in enumerate(sys.stdin):
          wrong = sys.argv[1] if number >= 3 else "unsupported"
          if wrong == "hangs":
              time.sleep(60)
          elif wrong == "ends":
              sys.exit(3)
          elif wrong == "unsupported":
              print('{"unsupported": true}', flush=True)
          elif wrong == "refuses":
              print('{"refused": "no"}', flush=True)
          elif wrong == "accepts":
              print('{"set": "example"}', flush=True)
          elif wrong == "babbles":
              print("[]" if number % 2 else "?", flush=True)
          elif wrong == "lies":
              print('{"shard": 0, "value": "1"}', flush=True)
      """;

  @TempDir Path directory;

  private record Run(int status, String output, String errors) {}

  @BeforeAll
  static void needsPython() {
    PythonPackage.require();
  }

  @Test
  void passesThisReader() throws Exception {
    Run run =
        check(
            "--strict",
            "--only=follow",
            "--only=damaged-blob",
            "--only=text",
            "--",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            ConformanceReader.class.getName());
    assertThat(run.output())
        .containsPattern("(?m)^topic +cases  failed  unsupported$")
        .containsPattern("(?m)^damaged-blob +[0-9]+       0            0$")
        .containsPattern("(?m)^all +[0-9]+       0            0$");
    assertThat(run.status()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "lies, value, 10, wrong",
    "refuses, value, 0, 'wrong shard, value'",
    "accepts, damaged-manifest, 0, 'must be rejected with a message'",
    "babbles, value, 0, an object is wanted",
    "hangs, value, 0, no answer: it did not answer within 1 s",
    "ends, value, 0, no answer: it ended with status 3",
  })
  void failsABadReader(String wrong, String topic, int right, String sentence) throws Exception {
    Run run = check(bad(wrong, "--json", "--timeout=1", "--only=" + topic));
    JsonNode result = new ObjectMapper().readTree(run.output());
    JsonNode row = result.required("topics").get(0);
    assertThat(result.required("topics")).hasSize(1);
    assertThat(result.required("passed").booleanValue()).isFalse();
    assertThat(row.required("topic").textValue()).isEqualTo(topic);
    int asked = row.required("cases").intValue() - 3;
    assertThat(row.required("failed").intValue()).isBetween(asked - right, asked);
    assertThat(row.required("unsupported").intValue()).isEqualTo(3);
    JsonNode difference = row.required("differences").get(0);
    assertThat(difference.required("wrong").textValue()).startsWith(sentence);
    assertThat(difference.required("request").required("op").textValue())
        .isEqualTo(topic.equals("value") ? "value" : "manifest");
    assertThat(difference.required("wanted").isObject()).isTrue();
    assertThat(run.status()).isEqualTo(1);
  }

  @Test
  void printsEachDifference() throws Exception {
    Run run = check(bad("lies", "--only=value"));
    assertThat(run.output())
        .contains("  request  {\"op\": \"value\", \"hash\": \"")
        .contains("  wanted   {\"shard\": ")
        .contains("  got      {\"shard\": 0, \"value\": \"1\"}");
    assertThat(run.status()).isEqualTo(1);
  }

  @Test
  void countsApartWhatIsUnsupported() throws Exception {
    assertThat(check(bad("unsupported", "--only=value")).status()).isZero();
    assertThat(check(bad("unsupported", "--only=value", "--strict")).status()).isEqualTo(1);
  }

  @Test
  void saysIfTheAdapterDoesNotStart() throws Exception {
    Run missing = check("--", "no-such-adapter");
    assertThat(missing)
        .isEqualTo(new Run(2, "", "cannot start no-such-adapter: No such file or directory\n"));
    Run ends = check("--only=value", "--", PythonPackage.python(), "-c", "");
    assertThat(ends.errors()).isEqualTo("the adapter did not start: it ended with status 0\n");
    assertThat(ends.status()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--json | -- and the command of the adapter are missing",
        "-- | the command of the adapter is missing",
        "--timeout=0 -- a | --timeout must be above 0, at most 3600, got 0",
        "--only=all -- a | invalid choice: 'all'",
      })
  void refusesWrongCommandLines(String arguments, String sentence) throws Exception {
    Run run = check(arguments.split(" "));
    assertThat(run.errors()).contains(sentence);
    assertThat(run.output()).isEmpty();
    assertThat(run.status()).isEqualTo(2);
  }

  private static String[] bad(String wrong, String... options) {
    return Stream.concat(
            Stream.of(options),
            Stream.of("--", PythonPackage.python(), "-B", "-c", BAD_READER, wrong))
        .toArray(String[]::new);
  }

  private Run check(String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(List.of(PythonPackage.python(), "-X", "utf8", "-B", PROGRAM.toString()));
    command.addAll(List.of(arguments));
    Path errors = directory.resolve("errors");
    Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Run(process.waitFor(), output, Files.readString(errors));
  }
}
