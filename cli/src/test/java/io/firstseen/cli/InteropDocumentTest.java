package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The commands of docs/interop.md print what it says, and reproduce the vectors of others. */
class InteropDocumentTest {
  private static final Path ROOT = Path.of("..");

  /** Name, field of the keys and field of the set of each format in {@code vectors/}. */
  private static final String[][] FORMATS = {
    {"bip158", "elements", "filter"},
    {"golombset", "keys", "encoded"},
    {"casper", "paths", "cookieValue"}
  };

  @TempDir private Path directory;

  static Stream<Arguments> examples() throws IOException {
    return Pattern.compile("```sh\n(./firstseen [^\n]*)\n```\n\n```\n(.*?)```", Pattern.DOTALL)
        .matcher(Files.readString(ROOT.resolve("docs/interop.md")))
        .results()
        .map(example -> Arguments.of(example.group(1), example.group(2)));
  }

  static Stream<Arguments> vectors() throws IOException {
    List<Arguments> commands = new ArrayList<>();
    for (String[] format : FORMATS) {
      String file = "filters/src/test/resources/vectors/" + format[0] + ".json";
      JsonNode vectors = new ObjectMapper().readTree(ROOT.resolve(file).toFile()).get("vectors");
      for (int i = 0; i < vectors.size(); i++) {
        JsonNode vector = vectors.get(i);
        String key = vector.path("sipHashKey").asText();
        commands.add(
            Arguments.of(
                "./firstseen snapshot encode --codec %s%s --format json --input %s --at /vectors/%d/%s"
                    .formatted(
                        format[0],
                        key.isEmpty() ? "" : " --siphash-key " + key,
                        file,
                        i,
                        format[1]),
                vector.get(format[2]).textValue()));
      }
    }
    return commands.stream();
  }

  @ParameterizedTest
  @MethodSource("examples")
  void anExamplePrintsWhatItSays(String command, String output) {
    assertThat(run(command)).isEqualTo(output.lines().toList());
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void aVectorIsReproduced(String command, String encoded) {
    assertThat(run(command)).containsExactly(encoded);
  }

  @Test
  void examplesAreFound() throws IOException {
    assertThat(examples()).hasSizeGreaterThan(5);
  }

  /**
   * Run in this JVM, whose directory is not the root, so paths are replaced in commands and output.
   */
  private List<String> run(String command) {
    String output = directory.resolve("italian.gcs").toString();
    String[] words =
        Stream.of(command.split(" ", -1))
            .skip(1)
            .map(word -> word.startsWith("filters/") ? ROOT.resolve(word).toString() : word)
            .map(word -> word.equals("italian.gcs") ? output : word)
            .toArray(String[]::new);
    Invocation call = Invocation.of(words);
    assertThat(call.status()).as("%s", call).isZero();
    assertThat(call.err()).isEmpty();
    return call.out().stream().map(line -> line.replace(output, "italian.gcs")).toList();
  }
}
