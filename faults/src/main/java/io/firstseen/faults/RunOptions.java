package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
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
  @FunctionalInterface
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
  <T> int run(String name, Run<T> run, Predicate<T> isGood, Function<T, String> text)
      throws Exception {
    Path jar = jobJar == null ? builtJobJar() : jobJar;
    if (!Files.isRegularFile(jar)) {
      throw new ParameterException(command.commandLine(), "--job-jar: there is no file " + jar);
    }
    Path work =
        directory == null
            ? Files.createTempDirectory("firstseen-" + name)
            : Files.createTempDirectory(Files.createDirectories(directory).toAbsolutePath(), name);
    T report = null;
    try {
      report = run.in(work, jar.toAbsolutePath());
    } finally {
      if (directory == null && report != null && isGood.test(report)) {
        FileUtils.deleteDirectoryQuietly(work.toFile());
      } else {
        System.err.println("logs are in " + work);
      }
    }
    OUT.print(
        json
            ? new ObjectMapper()
                    .enable(SerializationFeature.INDENT_OUTPUT)
                    .writeValueAsString(report)
                + "\n"
            : text.apply(report));
    return isGood.test(report) ? 0 : 1;
  }

  private static Path builtJobJar() throws IOException {
    Path own = Path.of(System.getProperty("java.class.path")).toAbsolutePath();
    Path target = own.resolveSibling("../../jobs/target").normalize();
    if (!Files.isDirectory(target)) {
      return target;
    }
    try (Stream<Path> files = Files.list(target)) {
      return files
          .filter(file -> file.getFileName().toString().endsWith("-job.jar"))
          .findFirst()
          .orElse(target);
    }
  }
}
