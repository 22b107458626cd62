package io.firstseen.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.description.HtmlFormatter;
import org.apache.flink.util.TimeUtils;
import org.junit.jupiter.api.Test;

/** docs/operations/sql.md lists exactly the existing options, and the SQL on all pages runs. */
class SqlDocumentTest {
  private static final Path ROOT = Path.of("..");
  private static final Path PAGE = ROOT.resolve("docs/operations/sql.md");
  private static final Pattern OPTION = Pattern.compile("(?m)^\\| `([a-z.-]+)` \\|.*$");
  private static final Pattern SQL_BLOCK = Pattern.compile("(?ms)^```sql\n(.*?)```");

  @Test
  void allOptionsHaveARow() throws IOException {
    assertThat(OPTION.matcher(Files.readString(PAGE)).results().map(row -> row.group(1)))
        .containsExactlyInAnyOrderElementsOf(options().map(ConfigOption::key).toList());
  }

  /** {@code -Dfirstseen.update=true} writes the rows. */
  @Test
  void theRowsOfOptionsHaveTheDeclaredDefaultsAndDescriptions() throws IOException {
    String page = Files.readString(PAGE);
    String declared =
        OPTION
            .matcher(page)
            .replaceAll(
                row ->
                    Matcher.quoteReplacement(
                        options()
                            .filter(option -> option.key().equals(row.group(1)))
                            .map(SqlDocumentTest::row)
                            .findAny()
                            .orElseThrow()));
    if (Boolean.getBoolean("firstseen.update")) {
      Files.writeString(PAGE, declared);
    }
    assertThat(Files.readString(PAGE)).isEqualTo(declared);
  }

  private static Stream<ConfigOption<?>> options() {
    FirstseenTableFactory factory = new FirstseenTableFactory();
    return Stream.of(
            factory.requiredOptions(),
            factory.optionalOptions(),
            Set.<ConfigOption<?>>of(
                SnapshotContains.BOOTSTRAP_SERVERS,
                SnapshotContains.TOPIC,
                SnapshotContains.HASH_KEY_FILE,
                SnapshotContains.PUBLIC_KEY,
                SnapshotContains.BLOBS,
                SnapshotContains.WAIT))
        .flatMap(Set::stream);
  }

  private static String row(ConfigOption<?> option) {
    Object value = option.defaultValue();
    return "| `%s` |%s | %s |"
        .formatted(
            option.key(),
            value == null
                ? ""
                : " `%s`"
                    .formatted(
                        value instanceof Duration wait
                            ? TimeUtils.formatWithHighestUnit(wait)
                            : value),
            new HtmlFormatter().format(option.description()));
  }

  @Test
  void whatPagesShowIsInTheExamplesThatTestsRun() throws IOException {
    StringBuilder examples = new StringBuilder();
    for (String name :
        List.of(
            "new-urls.sql",
            "before-a-topic.sql",
            "outcomes.sql",
            "snapshot-contains.sql",
            "snapshot-match.sql")) {
      examples.append(Files.readString(ROOT.resolve("examples/sql").resolve(name)));
    }
    for (Path page : List.of(ROOT.resolve("README.md"), PAGE)) {
      List<String> parts =
          SQL_BLOCK
              .matcher(Files.readString(page))
              .results()
              .flatMap(block -> Stream.of(block.group(1).split("\n\n", -1)))
              .map(String::strip)
              .filter(part -> !part.contains("…"))
              .toList();
      assertThat(parts).isNotEmpty();
      assertThat(examples.toString()).contains(parts);
    }
  }
}
