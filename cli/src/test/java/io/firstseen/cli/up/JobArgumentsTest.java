package io.firstseen.cli.up;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.jobs.options.ChangelogOptions;
import io.firstseen.jobs.options.JobOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class JobArgumentsTest {

  @ParameterizedTest
  @CsvSource({
    "1h, PT48H",
    "11d, PT312H",
    "999999999ms, PT312H",
    "999999999s, PT277824H",
    "999999999d, PT23999999976H"
  })
  void theSnapshotJobAllowsTimesThatAreFurtherAheadThanThoseOfTheDedup(
      String ofDedup, Duration ofSnapshots) {
    String word = "--max-ahead=" + ofDedup;
    JobArguments arguments =
        new JobArguments(new CommandLine(new UpCommand()).parseArgs(word), JobOptions.parse(word));
    assertThat(arguments.ofDedup()).containsExactlyInAnyOrder(word, "--hash-key-on-workers");
    String[] words =
        arguments.ofSnapshots().stream()
            .filter(each -> each.startsWith("--max-ahead"))
            .toArray(String[]::new);
    Duration read =
        new CommandLine(ChangelogOptions.class)
            .parseArgs(words)
            .matchedOptionValue("--max-ahead", Duration.ZERO);
    assertThat(read).isEqualTo(ofSnapshots);
  }

  @Test
  void onlyTheDedupGetsTheOptionsOfEvents() {
    String[] words = {
      "--events-topic=links,more",
      "--scope-from-topic",
      "--event-format=json",
      "--key-field=/link",
      "--key-field=/site",
      "--time-field=/at",
      "--time-unit=seconds",
      "--operation-field=/action",
      "--delete-values=drop,remove",
      "--start=latest"
    };
    JobArguments arguments =
        new JobArguments(new CommandLine(new UpCommand()).parseArgs(words), JobOptions.parse());
    assertThat(arguments.ofEvents()).containsExactly(words);
    assertThat(arguments.ofDedup()).contains(words).hasSize(words.length + 1);
    assertThat(arguments.ofSnapshots()).doesNotContain(words);
    assertThat(arguments.ofService()).doesNotContain(words);
  }

  @Test
  void thePageAndTheUnitHaveOptionsThatThereAre() throws Exception {
    Matcher written =
        Pattern.compile("firstseen up( --[^\n#]*)")
            .matcher(
                Files.readString(Path.of("../docs/operations/one-machine.md"))
                    + Files.readString(Path.of("../deploy/systemd/firstseen.service")));
    int lines = 0;
    while (written.find()) {
      new CommandLine(new UpCommand()).parseArgs(written.group(1).strip().split(" +"));
      lines++;
    }
    assertThat(lines).isEqualTo(2);
  }
}
