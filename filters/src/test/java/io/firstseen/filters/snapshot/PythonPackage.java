package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/** The client in Python, in separate processes. */
public final class PythonPackage {
  private static final Path HOME = Path.of("../clients/python").toAbsolutePath().normalize();

  private static final String COMMAND = "python3";
  private static final Optional<String> INTERPRETER = interpreter();

  private PythonPackage() {}

  /** Empty if there is no Python, or it is older than 3.9. */
  private static Optional<String> interpreter() {
    String check = "import sys; print(sys.executable); sys.exit(sys.version_info < (3, 9))";
    try {
      Process process =
          new ProcessBuilder(COMMAND, "-c", check)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      process.getOutputStream().close();
      String path = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
      return process.waitFor() == 0 ? Optional.of(path) : Optional.empty();
    } catch (IOException e) {
      // There is no such program.
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  /** Skips the test with a message if no Python can run the package. */
  public static void require() {
    Assumptions.assumeTrue(isThere(), "this test needs python3, 3.9 or later, on the path");
  }

  /** Whether there is a Python that can run the package. */
  public static boolean isThere() {
    return INTERPRETER.isPresent();
  }

  /**
   * The program: the interpreter itself, since what a version manager puts on the path in its place
   * can take twenty times as long to start.
   */
  public static String python() {
    return INTERPRETER.orElse(COMMAND);
  }

  /** Python with these arguments, which finds the package and leaves no files behind. */
  public static ProcessBuilder process(String... arguments) {
    List<String> command = new ArrayList<>(List.of(python(), "-X", "utf8", "-B"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("PYTHONPATH", HOME.toString());
    return builder;
  }
}
