package io.firstseen.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The notices of the SQL jar about bundled libraries. */
class SqlJarNoticeTest {
  private static final Path META_INF = Path.of("src/sql-jar/META-INF");

  @Test
  void itNamesEveryLibrary() throws IOException {
    String notice = Files.readString(META_INF.resolve("NOTICE"));
    assertThat(matches("^- ([\\w.-]+:[\\w.-]+)", notice))
        .containsExactlyInAnyOrderElementsOf(
            matches(
                "^\\s+([\\w.-]+:[\\w.-]+):jar:",
                Files.readString(Path.of("target/bundled-libraries.txt"))));
    for (String licence : matches("\\((licenses/[\\w.-]+)\\)", notice)) {
      assertThat(META_INF.resolve(licence)).exists();
    }
  }

  private static List<String> matches(String pattern, String text) {
    Pattern compiled = Pattern.compile(pattern);
    return text.lines()
        .map(compiled::matcher)
        .filter(Matcher::find)
        .map(matcher -> matcher.group(1))
        .toList();
  }
}
