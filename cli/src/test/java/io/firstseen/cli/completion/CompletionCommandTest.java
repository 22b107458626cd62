package io.firstseen.cli.completion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.firstseen.cli.Invocation;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script of {@code completion} in a bash. */
class CompletionCommandTest {
  // As Readline does: the function that the script names for the command, with the words typed.
  private static final String ASK =
      """
      eval "$(cat "$1")"; shift
      # It only works while Readline asks.
      compopt() { :; }
      asked=$(complete -p firstseen) || exit 1
      [[ $asked =~ -F\\ ([^ ]+) ]] || exit 1
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
      "${BASH_REMATCH[1]}" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
      printf '%s\\n' "${COMPREPLY[@]}"
      """;

  @TempDir private static Path directory;
  private static Path script;

  @BeforeAll
  static void print() throws Exception {
    boolean hasBash =
        Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
            .anyMatch(each -> Files.isExecutable(Path.of(each, "bash")));
    assumeTrue(hasBash, "there is no bash");
    Invocation printed = Invocation.of("completion");
    assertThat(printed.status()).isZero();
    assertThat(printed.err()).isEmpty();
    script = Files.write(directory.resolve("completion"), printed.out());
  }

  @Test
  void completesVerbs() throws Exception {
    assertThat(offers("")).contains("demo", "run", "snapshot", "completion");
    assertThat(offers("snap")).containsExactly("snapshot");
    assertThat(offers("nothing-like-it")).isEmpty();
  }

  @Test
  void completesVerbsOfAVerb() throws Exception {
    assertThat(offers("snapshot", "q")).containsExactly("query");
    assertThat(offers("savepoint", "")).contains("info").doesNotContain("query");
  }

  @Test
  void completesOptions() throws Exception {
    assertThat(offers("run", "--acc")).containsExactly("--accepted");
    assertThat(offers("snapshot", "pull", "--boot")).containsExactly("--bootstrap-servers");
  }

  @Test
  void completesValuesAsTheOptionsTakeThem() throws Exception {
    assertThat(offers("run", "--format", "")).containsExactly("lines", "tsv", "jsonl");
    assertThat(Files.readAllLines(script))
        .filteredOn(line -> line.contains("_option_args=("))
        .hasSizeGreaterThan(5)
        .noneMatch(line -> line.matches(".*=\\(.*[A-Z].*"));
    assertThat(offers("run", "--mode", "exact")).containsExactly("exact", "exact-keys");
    assertThat(Invocation.of("run", "--mode", "exact-keys", "--input", "no-such-file").err())
        .singleElement()
        .asString()
        .doesNotContain("--mode");
  }

  private static List<String> offers(String... typed) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of("bash", "--norc", "--noprofile", "-c", ASK, "ask", script.toString()));
    command.add("./firstseen");
    command.addAll(List.of(typed));
    Path out = directory.resolve("out");
    Path err = directory.resolve("err");
    Process bash =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      bash.getOutputStream().close();
      assertThat(bash.waitFor(1, TimeUnit.MINUTES)).isTrue();
      assertThat(Files.readAllLines(err)).isEmpty();
      assertThat(bash.exitValue()).isZero();
      return Files.readAllLines(out).stream().map(String::strip).filter(w -> !w.isEmpty()).toList();
    } finally {
      bash.destroyForcibly();
    }
  }
}
