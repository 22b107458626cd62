package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The README shows the code that the build compiles. */
class ReadmeTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern EXAMPLE =
      Pattern.compile("// README: begin\n(.*?)\n *// README: end", Pattern.DOTALL);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "operators/src/test/java/io/firstseen/operators/dedup/NewUrlsJob.java",
        "snapshot-consumer/src/test/java/io/firstseen/consumer/ReadmeExample.java"
      })
  void showsTheCompiledExample(String source) throws IOException {
    Matcher example = EXAMPLE.matcher(Files.readString(ROOT.resolve(source)));
    assertThat(example.find()).isTrue();
    assertThat(Files.readString(ROOT.resolve("README.md")))
        .contains(example.group(1).stripIndent());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "README.md",
        "docs/design.md",
        "docs/operations.md",
        "docs/http-api.md",
        "docs/interop.md",
        "examples/README.md"
      })
  void linksToFilesThatAreThere(String page) throws IOException {
    Matcher links =
        Pattern.compile("\\]\\(([^)#:]+)\\)").matcher(Files.readString(ROOT.resolve(page)));
    while (links.find()) {
      assertThat(ROOT.resolve(page).resolveSibling(links.group(1))).exists();
    }
  }
}
