package io.firstseen.cli;

import io.firstseen.cli.completion.CompletionCommand;
import io.firstseen.cli.demo.DemoCommand;
import io.firstseen.cli.doctor.DoctorCommand;
import io.firstseen.cli.report.ReportCommand;
import io.firstseen.cli.run.RunCommand;
import io.firstseen.cli.savepoint.BootstrapCommand;
import io.firstseen.cli.savepoint.SavepointCommand;
import io.firstseen.cli.serve.ServeCommand;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Subcommands;
import io.firstseen.cli.size.SizeCommand;
import io.firstseen.cli.snapshot.SnapshotCommand;
import io.firstseen.cli.up.UpCommand;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.options.Suggestions;
import io.firstseen.operators.UserErrorException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.flink.util.ExceptionUtils;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The {@code firstseen} command. A subcommand is a class with {@code @Command}, registered below.
 * Errors of the user, unreadable files and damaged snapshots are printed on one line.
 */
@Command(
    name = "firstseen",
    footer = {
      "  firstseen demo",
      "  firstseen run --input events.tsv --format tsv --accepted accepted.tsv",
      "  firstseen doctor"
    },
    description = "Detects the first occurrence of each key in a stream.",
    synopsisSubcommandLabel = "COMMAND",
    abbreviateSynopsis = true,
    commandListHeading = "%nCommands:%n",
    footerHeading = "%nExamples:%n",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    sortOptions = false,
    usageHelpAutoWidth = true,
    scope = ScopeType.INHERIT,
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {
      "0:success",
      "1:negative result: invalid, different, or a check failed",
      "2:usage or input error, reported on one line on standard error",
      "3:internal error; set the environment variable FIRSTSEEN_DEBUG=1 for logs and the stack "
          + "trace"
    })
@Subcommands.Of({
  DemoCommand.class,
  UpCommand.class,
  RunCommand.class,
  BootstrapCommand.class,
  SavepointCommand.class,
  SnapshotCommand.class,
  ServeCommand.class,
  ReportCommand.class,
  SizeCommand.class,
  DoctorCommand.class,
  CompletionCommand.class
})
public final class Main implements Callable<Integer> {

  static final String DEBUG_VARIABLE = "FIRSTSEEN_DEBUG";

  @Spec private CommandSpec spec;

  private Main() {}

  public static void main(String[] args) {
    boolean debug = "1".equals(System.getenv(DEBUG_VARIABLE));
    if (debug && System.getProperty("log4j2.configurationFile") == null) {
      System.setProperty("log4j2.configurationFile", "log4j2-debug.properties");
    }
    // No autoflush: commands flush when output must appear immediately.
    StandardOutput standardOutput = new StandardOutput();
    PrintWriter out =
        new PrintWriter(new OutputStreamWriter(standardOutput, StandardCharsets.UTF_8));
    PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    int exit = run(commandLineFor(args), out, err, debug, args);
    String trouble = standardOutput.trouble();
    if (trouble != null) {
      err.println("firstseen: cannot write to standard output: " + trouble);
      exit = ExitCode.PROGRAM;
    }
    System.exit(exit);
  }

  /** Returns the command with the subcommands that {@code words} need. */
  static CommandLine commandLineFor(String... words) {
    List<String> names = List.of(words);
    CommandLine command = new CommandLine(new Main());
    return Subcommands.addNamed(command, names)
        ? command
        : Subcommands.addAll(new CommandLine(new Main()), names::contains);
  }

  /** Runs the command in this JVM; {@code debug} prints the stack trace of an internal error. */
  static int run(
      CommandLine commandLine, PrintWriter out, PrintWriter err, boolean debug, String... args) {
    commandLine
        .setOut(out)
        .setErr(err)
        // An argument that starts with an at sign may be a key, not a file of arguments.
        .setExpandAtFiles(false)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler((mistake, words) -> usageError(mistake))
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> executionError(failure, command, debug));
    try {
      return commandLine.execute(args);
    } catch (Throwable failure) {
      return programError(failure, commandLine, debug);
    } finally {
      out.flush();
      err.flush();
    }
  }

  @Override
  public Integer call() {
    spec.commandLine().usage(spec.commandLine().getErr());
    return ExitCode.USAGE;
  }

  private static int usageError(ParameterException mistake) {
    CommandLine command = mistake.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    print(command, "%s (see '%s --help')".formatted(Suggestions.sentence(mistake), name));
    return ExitCode.USAGE;
  }

  private static int executionError(Exception failure, CommandLine command, boolean debug) {
    Optional<String> sentence = inputError(failure);
    if (sentence.isEmpty()) {
      return programError(failure, command, debug);
    }
    print(command, sentence.get());
    return ExitCode.USAGE;
  }

  private static Optional<String> inputError(Exception failure) {
    Optional<String> sentence = UserErrorException.sentence(failure);
    if (sentence.isPresent()) {
      return sentence;
    }
    Throwable cause = failure instanceof UncheckedIOException ? failure.getCause() : failure;
    if (cause instanceof NoSuchFileException missing) {
      return Optional.of("no such file: " + missing.getFile());
    }
    if (cause instanceof AccessDeniedException denied) {
      return Optional.of("permission denied: " + denied.getFile());
    }
    boolean isInput =
        cause instanceof SnapshotException
            || cause instanceof FileSystemException
            || cause instanceof BindException;
    return isInput ? Optional.of(cause.getMessage()) : Optional.empty();
  }

  private static int programError(Throwable failure, CommandLine command, boolean debug) {
    boolean isFull =
        ExceptionUtils.findThrowableWithMessage(failure, "No space left on device").isPresent();
    print(
        command,
        isFull
            ? "no space left on the device of an output or of the directory for temporary files, "
                + System.getProperty("java.io.tmpdir")
                + " (set another directory with JAVA_TOOL_OPTIONS=-Djava.io.tmpdir=DIR)"
            : "unexpected %s%s"
                .formatted(failure, debug ? "" : " (" + DEBUG_VARIABLE + "=1 prints details)"));
    if (debug) {
      failure.printStackTrace(command.getErr());
    }
    return ExitCode.PROGRAM;
  }

  private static void print(CommandLine command, String sentence) {
    String line = sentence.replaceAll("\\s*\\R\\s*", " ").strip();
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + line);
  }

  /** The version from the manifest of the jar. */
  static final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {
        "firstseen %s, Java %s"
            .formatted(version == null ? "unpackaged" : version, Runtime.version())
      };
    }
  }
}
