package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The commands of docs/interop.md print what it says. */
class InteropDocumentTest {
  private static final Path ROOT = Path.of("..");
  private static final String COMMAND = "(./firstseen [^\n]*)\n";

  @TempDir private Path directory;

  private static String document() throws IOException {
    return Files.readString(ROOT.resolve("docs/interop.md"));
  }

  static Stream<Arguments> examples() throws IOException {
    return Pattern.compile("```sh\n" + COMMAND + "```\n\n```\n(.*?)```", Pattern.DOTALL)
        .matcher(document())
        .results()
        .map(example -> Arguments.of(example.group(1), example.group(2)));
  }

  static Stream<String> vectorCommands() throws IOException {
    String section = document().substring(document().indexOf("## Every vector"));
    return Pattern.compile("^" + COMMAND, Pattern.MULTILINE)
        .matcher(section)
        .results()
        .map(command -> command.group(1));
  }

  @ParameterizedTest
  @MethodSource("examples")
  void anExamplePrintsWhatItSays(String command, String output) {
    assertThat(run(command)).isEqualTo(output.lines().toList());
  }

  @ParameterizedTest
  @MethodSource("vectorCommands")
  void aVectorIsReproduced(String command) throws IOException {
    Matcher words = Pattern.compile(".* --input (\\S+) --at (/vectors/\\d+)/\\w+").matcher(command);
    assertThat(words.matches()).isTrue();
    JsonNode vector =
        new ObjectMapper().readTree(ROOT.resolve(words.group(1)).toFile()).at(words.group(2));
    String expected =
        Stream.of("cookieValue", "filter", "encoded")
            .filter(vector::has)
            .map(name -> vector.get(name).textValue())
            .findFirst()
            .orElseThrow();
    assertThat(run(command)).containsExactly(expected);
  }

  @Test
  void noVectorIsMissing() throws IOException {
    List<String> commands = vectorCommands().toList();
    for (String codec : List.of("bip158", "golombset", "casper")) {
      JsonNode vectors =
          new ObjectMapper()
              .readTree(
                  ROOT.resolve("filters/src/test/resources/vectors/" + codec + ".json").toFile())
              .get("vectors");
      assertThat(commands)
          .filteredOn(command -> command.contains("--codec " + codec + " "))
          .doesNotHaveDuplicates()
          .hasSize(vectors.size());
    }
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
