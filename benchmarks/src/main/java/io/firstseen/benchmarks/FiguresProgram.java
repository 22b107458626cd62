package io.firstseen.benchmarks;

import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.OptionChecks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A program that measures figures. Prints the machine and the figures, writes progress to standard
 * error, and exits with status 1 if a figure misses its bound.
 */
@Command(mixinStandardHelpOptions = true, sortOptions = false)
public abstract class FiguresProgram implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Option(names = "--json", paramLabel = "FILE", description = "Write all figures to this file.")
  private @Nullable Path json;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "For temporary files, in a new directory in this one (default: the system's).")
  private @Nullable Path directory;

  @Option(names = "--report-only", description = "Exit with status 0 even if a bound is missed.")
  private boolean reportOnly;

  protected final Figures figures = new Figures();

  protected static void exit(FiguresProgram program, String... arguments) {
    System.exit(program.commandLine().execute(arguments));
  }

  /** The command line; wrong options and failed child processes give one line. */
  public final CommandLine commandLine() {
    return new CommandLine(this)
        .setCommandName(getClass().getSimpleName())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setParameterExceptionHandler(
            (e, given) -> {
              e.getCommandLine().getErr().println(e.getMessage());
              return ExitCode.USAGE;
            })
        .setExecutionExceptionHandler(
            (e, failed, given) -> {
              if (!(e instanceof ChildJvm.FailedException)) {
                throw e;
              }
              failed.getErr().println(e.getMessage());
              return ExitCode.SOFTWARE;
            });
  }

  @Override
  public final Integer call() throws Exception {
    Locale.setDefault(Locale.ROOT);
    OptionChecks checks = new OptionChecks(command);
    checks.canBeWritten("--json", json);
    check(checks);
    Path parent = directory == null ? Path.of(System.getProperty("java.io.tmpdir")) : directory;
    Path work = Files.createTempDirectory(Files.createDirectories(parent), "firstseen-figures-");
    // Also runs when the user interrupts the program and its child processes.
    Thread deletion = new Thread(() -> FileUtils.deleteDirectoryQuietly(work.toFile()));
    Runtime.getRuntime().addShutdownHook(deletion);
    try {
      figures.machine();
      measure(work.toAbsolutePath());
    } finally {
      FileUtils.deleteDirectoryQuietly(work.toFile());
      Runtime.getRuntime().removeShutdownHook(deletion);
    }
    if (json != null) {
      figures.write(json);
    }
    return figures.missed() && !reportOnly ? 1 : 0;
  }

  /** Checks the options of the program before hours of work. */
  protected void check(OptionChecks checks) {}

  /**
   * Measures the figures.
   *
   * @param work an empty directory, which is deleted afterwards
   */
  protected abstract void measure(Path work) throws Exception;
}
