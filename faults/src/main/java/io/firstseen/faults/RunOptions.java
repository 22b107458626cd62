package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What both commands take, and how both end. */
final class RunOptions {
  static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Of the events, and of faults that are drawn (${DEFAULT-VALUE}).")
  private long seed;

  @Option(names = "--job-jar", paramLabel = "FILE", description = "The shaded jar of the jobs.")
  private @Nullable Path jobJar;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "For data and logs, which then stay; a temporary one unless given.")
  private @Nullable Path directory;

  @Option(names = "--json", description = "Print the report as JSON.")
  private boolean json;

  /** A run with its files in a separate directory. */
  interface Run<T> {
    T in(Path work, Path jobJar) throws Exception;
  }

  static void progress(String format, Object... values) {
    System.err.printf(format + "%n", values);
  }

  long seed() {
    return seed;
  }

  /**
   * Runs, prints the report, and removes a temporary directory if the report is good.
   *
   * @param name of the directory
   * @return the exit status
   */
  <T> int run(
      String name, Run<T> run, Function<T, List<String>> differences, Function<T, String> text)
      throws Exception {
    Path jar = jobJar == null ? builtJobJar() : jobJar;
    if (!Files.isRegularFile(jar)) {
      throw new ParameterException(command.commandLine(), "--job-jar: there is no file " + jar);
    }
    Path work =
        directory == null
            ? Files.createTempDirectory("firstseen-" + name)
            : Files.createTempDirectory(Files.createDirectories(directory).toAbsolutePath(), name);
    boolean isGood = false;
    try {
      T report = run.in(work, jar.toAbsolutePath());
      isGood = differences.apply(report).isEmpty();
      if (json) {
        OUT.println(new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(report));
      } else {
        OUT.print(text.apply(report));
        differences.apply(report).forEach(sentence -> OUT.println("DIFFERENCE: " + sentence));
        OUT.println(isGood ? "verdict: good" : "verdict: NOT GOOD");
      }
      return isGood ? 0 : 1;
    } finally {
      if (directory == null && isGood) {
        FileUtils.deleteDirectoryQuietly(work.toFile());
      } else {
        System.err.println("logs are in " + work);
      }
    }
  }

  private static Path builtJobJar() {
    Path own = Path.of(System.getProperty("java.class.path")).toAbsolutePath();
    Path target = own.resolveSibling("../../jobs/target").normalize();
    File[] jars = target.toFile().listFiles((parent, name) -> name.endsWith("-job.jar"));
    return jars == null || jars.length == 0 ? target : jars[0].toPath();
  }
}
