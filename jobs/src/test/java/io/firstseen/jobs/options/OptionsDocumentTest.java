package io.firstseen.jobs.options;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Writes {@code docs/options.md} from the annotations, and fails when the page is stale. */
class OptionsDocumentTest {

  private static final Path PAGE = Path.of("..", "docs", "options.md");

  @Test
  void thePageSaysWhatTheAnnotationsSay() throws IOException {
    String page = page();
    if (Boolean.getBoolean("firstseen.update")) {
      Files.writeString(PAGE, page, UTF_8);
    }
    assertThat(PAGE)
        .as("run: mvn -pl jobs -am test -Dtest=OptionsDocumentTest -Dfirstseen.update=true")
        .hasContent(page);
  }

  private static String page() {
    StringBuilder page = new StringBuilder();
    page.append("# Options of the jobs\n\n");
    page.append("`OptionsDocumentTest` generates this page from the declarations.\n\n");
    page.append("Most jobs set five options:\n\n```sh\n");
    page.append("flink run … --bootstrap-servers broker:9092 --events-topic links");
    page.append(" --key-field /link --capacity 100000000 --ttl 30d\n```\n\n");
    page.append("Durations are whole numbers with a unit: `500ms`, `30s`, `5m`, `1h`, `1d`.\n");
    page.append("Sizes are whole numbers of bytes, or with a unit: `512k`, `64m`, `1g`.\n");
    section(page, "Keys", new KeyOptions());
    section(page, "Stream", new StreamOptions());
    section(page, "Dedup", new DedupOptions());
    section(page, "Snapshots", new SnapshotOptions());
    section(page, "Changelog, of `SnapshotJob`", new ChangelogOptions());
    section(page, "Kafka", new KafkaOptions());
    return page.toString();
  }

  private static void section(StringBuilder page, String title, Object mixin) {
    page.append("\n## ").append(title).append("\n\n");
    page.append("| option | default | meaning |\n| --- | --- | --- |\n");
    List<OptionSpec> options =
        new CommandLine(mixin)
            .getCommandSpec().options().stream()
                .sorted(Comparator.comparing(OptionSpec::longestName))
                .toList();
    for (OptionSpec option : options) {
      String defaultValue = option.required() ? "required" : option.defaultValue();
      String label = option.arity().max() == 0 ? "" : " " + option.paramLabel().replace("|", "\\|");
      page.append("| `%s%s` ".formatted(option.longestName(), label));
      page.append(
          defaultValue == null
              ? "| "
              : option.required() ? "| required " : "| `%s` ".formatted(defaultValue));
      page.append("| ").append(meaning(option)).append(" |\n");
    }
  }

  private static String meaning(OptionSpec option) {
    return String.join(" ", option.description())
        .replace(" (default: " + option.defaultValue() + ")", "")
        .replace("|", "\\|");
  }
}
