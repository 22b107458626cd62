package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Subcommands;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.fixtures.ShortRun;
import io.firstseen.operators.UserErrorException;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

class MainTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void versionNamesTheProgram() {
    assertThat(run("--version")).isEqualTo(ExitCode.GOOD);
    assertThat(out.toString()).matches("firstseen \\S+, Java \\S+\\R");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void outputThatCannotBeWrittenIsNoSuccess() throws Exception {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(ShortRun.JVM_OPTIONS);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.add("--version");
    ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(new File("/dev/full"));
    // The message is the system's, in the language of its user.
    builder.environment().put("LC_ALL", "C");
    Process process = builder.start();
    String said = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(said)
        .isEqualTo("firstseen: cannot write to standard output: No space left on device\n");
    assertThat(process.waitFor()).isEqualTo(ExitCode.PROGRAM);
  }

  @Test
  void everyVerbHasHelpAndADescription() {
    List<List<String>> verbs = new ArrayList<>();
    collect(all(), List.of(), verbs);
    assertThat(verbs).contains(List.of());
    for (List<String> verb : verbs) {
      out.getBuffer().setLength(0);
      List<String> words = new ArrayList<>(verb);
      words.add("--help");
      assertThat(run(words.toArray(String[]::new))).as("%s", words).isEqualTo(ExitCode.GOOD);
      assertThat(out.toString())
          .as("%s", words)
          .startsWith(String.join(" ", "Usage: firstseen", String.join(" ", verb)).strip())
          .contains("Exit status:");
    }
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void onlyTheNamedCommandIsBuilt() {
    Map<String, CommandLine> commands = Main.commandLineFor("size", "--help").getSubcommands();
    assertThat(commands).containsOnlyKeys("size");
    assertThat(commands.get("size").getCommandSpec().optionsMap()).containsKey("--keys");
    commands = Main.commandLineFor("--help", "size").getSubcommands();
    assertThat(commands.get("run").getCommandSpec().optionsMap()).doesNotContainKey("--input");
  }

  @Test
  void helpDoesNotDependOnWhichCommandsWereBuiltWithTheirOptions() {
    assertThat(Main.commandLineFor("--help", "size").getUsageMessage())
        .isEqualTo(all().getUsageMessage());
    assertThat(usageOf("snapshot", Main.commandLineFor("snapshot", "--help", "query")))
        .isEqualTo(usageOf("snapshot", all()));
    for (String name : List.of("snapshot", "size")) {
      assertThat(usageOf(name, Main.commandLineFor(name))).isEqualTo(usageOf(name, all()));
    }
  }

  private static CommandLine all() {
    return Subcommands.addAll(new CommandLine(Main.class), name -> true);
  }

  private static String usageOf(String name, CommandLine root) {
    return root.getSubcommands().get(name).getUsageMessage();
  }

  @Test
  void everyExampleInHelpParses() {
    List<List<String>> commands = new ArrayList<>();
    CommandLine main = all().setExpandAtFiles(false).setCaseInsensitiveEnumValuesAllowed(true);
    collect(main, List.of(), commands);
    for (List<String> words : commands) {
      CommandLine command = main;
      for (String word : words) {
        command = command.getSubcommands().get(word);
      }
      String footer = String.join("\n", command.getCommandSpec().usageMessage().footer());
      List<String> examples =
          Pattern.compile("firstseen( [^|<>()\"\n]*)")
              .matcher(footer.replace("\\\n", ""))
              .results()
              .map(example -> example.group(1).strip())
              .toList();
      assertThat(examples).as("%s", words).isNotEmpty();
      for (String example : examples) {
        assertThat(example).startsWith(String.join(" ", words));
        main.parseArgs(example.split(" +"));
      }
    }
  }

  private static void collect(CommandLine command, List<String> verb, List<List<String>> verbs) {
    verbs.add(verb);
    assertThat(command.getCommandSpec().usageMessage().description()).as("%s", verb).isNotEmpty();
    command
        .getSubcommands()
        .forEach(
            (name, subcommand) -> {
              List<String> longer = new ArrayList<>(verb);
              longer.add(name);
              collect(subcommand, longer, verbs);
            });
  }

  @Test
  void withoutAVerbItSaysWhichThereAre() {
    assertThat(run()).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).startsWith("Usage: firstseen").contains("greet");
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of(
            new String[] {"geet"},
            "firstseen: unknown command 'geet'; did you mean greet? (see 'firstseen --help')"),
        Arguments.of(
            new String[] {"snapshot", "qeury"},
            "firstseen snapshot: unknown command 'qeury'; did you mean query?"
                + " (see 'firstseen snapshot --help')"),
        Arguments.of(
            new String[] {"query", "snapshots", "a"},
            "firstseen: unknown command 'query'; did you mean firstseen snapshot query?"
                + " (see 'firstseen --help')"),
        Arguments.of(
            new String[] {"snapshot", "serve"},
            "firstseen snapshot: unknown command 'serve'; did you mean firstseen serve?"
                + " (see 'firstseen snapshot --help')"),
        Arguments.of(
            new String[] {"up", "--task-manager-memory=1023m"},
            "firstseen up: --task-manager-memory must be at least 1g, got 1072693248 bytes"),
        Arguments.of(
            new String[] {"xyzzy"}, "firstseen: unknown command 'xyzzy' (see 'firstseen --help')"),
        Arguments.of(
            new String[] {"run", "--input", "-", "--fprr", "0.1"},
            "firstseen run: Unknown option: '--fprr'; did you mean --fpr?"
                + " (see 'firstseen run --help')"),
        Arguments.of(
            new String[] {"run", "--inptu=-"},
            "firstseen run: Unknown option: '--inptu=-'; did you mean --input?"
                + " (see 'firstseen run --help')"),
        Arguments.of(
            new String[] {"xyzzy", "size", "--keys=1", "--rate=1"},
            "firstseen: unknown command 'xyzzy' (see 'firstseen --help')"),
        Arguments.of(
            new String[] {"--xyzzy"},
            "firstseen: Unknown option: '--xyzzy' (see 'firstseen --help')"),
        Arguments.of(
            new String[] {"greet", "--times", "often", "x"},
            "firstseen greet: Invalid value for option '--times': 'often' is not an int"
                + " (see 'firstseen greet --help')"),
        Arguments.of(
            new String[] {"greet"},
            "firstseen greet: Missing required parameter: 'NAME' (see 'firstseen greet --help')"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void aMistakeIsOneLineAndExitCode2(String[] words, String line) {
    assertThat(run(words)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).isEqualTo(line + System.lineSeparator());
    assertThat(out.toString()).isEmpty();
  }

  static Stream<Arguments> inputErrors() {
    return Stream.of(
        Arguments.of(
            new UserErrorException("topic t is not compacted"), "topic t is not compacted"),
        Arguments.of(new CompletionException(new UserErrorException("two\nlines")), "two lines"),
        Arguments.of(new MalformedSnapshotException("bad checksum"), "bad checksum"),
        Arguments.of(new NoSuchFileException("F"), "no such file: F"),
        Arguments.of(new AccessDeniedException("F"), "permission denied: F"),
        Arguments.of(
            new UncheckedIOException(new AccessDeniedException("F")), "permission denied: F"));
  }

  @ParameterizedTest
  @MethodSource("inputErrors")
  void anInputErrorIsOneLineAndExitCode2(Exception failure, String sentence) {
    assertThat(failing(false, failure)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).isEqualTo("firstseen act: " + sentence + System.lineSeparator());
  }

  @Test
  void anErrorOfTheProgramIsOneLineAndExitCode3() {
    assertThat(failing(false, new IllegalStateException("must not happen")))
        .isEqualTo(ExitCode.PROGRAM);
    assertThat(err.toString())
        .isEqualTo(
            "firstseen act: unexpected java.lang.IllegalStateException: must not happen"
                + " (FIRSTSEEN_DEBUG=1 prints details)"
                + System.lineSeparator());
  }

  @Test
  void debuggingShowsTheStackTrace() {
    assertThat(failing(true, new IllegalStateException("must not happen")))
        .isEqualTo(ExitCode.PROGRAM);
    assertThat(err.toString()).contains("\tat " + MainTest.class.getName());
  }

  @Test
  void anErrorOfTheMachineIsNotTakenForANegativeAnswer() {
    Callable<Integer> action =
        () -> {
          throw new OutOfMemoryError("Java heap space");
        };
    assertThat(run(false, action, "act")).isEqualTo(ExitCode.PROGRAM);
    assertThat(err.toString().lines())
        .singleElement()
        .asString()
        .contains("unexpected java.lang.OutOfMemoryError: Java heap space");
  }

  @Test
  void aWordThatBeginsWithAnAtSignIsNotAFileOfWords() {
    assertThat(run("greet", "@no-such-file")).isEqualTo(ExitCode.GOOD);
    assertThat(out.toString()).isEqualTo("hello @no-such-file\n");
  }

  private int run(String... words) {
    return run(false, () -> ExitCode.GOOD, words);
  }

  private int failing(boolean debug, Exception failure) {
    Callable<Integer> action =
        () -> {
          throw failure;
        };
    return run(debug, action, "act");
  }

  /** The command, with two additional verbs. */
  private int run(boolean debug, Callable<Integer> action, String... words) {
    CommandLine commandLine =
        Main.commandLineFor(words).addSubcommand(new Greeting()).addSubcommand(new Acting(action));
    return Main.run(commandLine, new PrintWriter(out), new PrintWriter(err), debug, words);
  }

  @Command(name = "greet", description = "Greets.")
  private static final class Greeting implements Callable<Integer> {

    @Option(names = "--times", description = "How often.", defaultValue = "1")
    private int times;

    @Parameters(paramLabel = "NAME", description = "Whom.")
    private String name;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
      spec.commandLine().getOut().print(("hello " + name + "\n").repeat(times));
      return ExitCode.GOOD;
    }
  }

  @Command(name = "act", description = "Does what the test says.")
  private static final class Acting implements Callable<Integer> {

    private final Callable<Integer> action;

    private Acting(Callable<Integer> action) {
      this.action = action;
    }

    @Override
    public Integer call() throws Exception {
      return action.call();
    }
  }
}
