package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** The client in Python, in processes of their own. */
public final class PythonPackage {
  private static final Path HOME = Path.of("../clients/python").toAbsolutePath().normalize();

  private PythonPackage() {}

  /** Skips the test, and says so, if there is no Python that can run the package. */
  public static void require() throws InterruptedException {
    Assumptions.assumeTrue(
        isThere(), "the tests of clients/python need python3, 3.9 or later, on the path");
  }

  /** Whether there is a Python that can run the package. */
  public static boolean isThere() throws InterruptedException {
    try {
      String check = "import sys; sys.exit(sys.version_info < (3, 9))";
      return process("-c", check).inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      // There is no such program.
      return false;
    }
  }

  /** Python with these arguments, which finds the package and leaves no files behind. */
  public static ProcessBuilder process(String... arguments) {
    List<String> command = new ArrayList<>(List.of("python3", "-X", "utf8", "-B"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("PYTHONPATH", HOME.toString());
    return builder;
  }
}
