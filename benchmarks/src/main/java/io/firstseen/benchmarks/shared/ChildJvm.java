package io.firstseen.benchmarks.shared;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a class in a JVM of its own, so that no run finds the heap or the compiled code of another.
 * The class gets its specification as JSON in its only argument, and answers in JSON on standard
 * output.
 */
public final class ChildJvm {
  private static final ObjectMapper JSON = new ObjectMapper();

  private ChildJvm() {}

  /**
   * Runs a class.
   *
   * @param heapMebibytes its heap, fixed from the start
   * @throws FailedException if it does not exit with status 0
   */
  public static <R> R run(Class<?> main, long heapMebibytes, Object specification, Class<R> answer)
      throws IOException, InterruptedException, FailedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xms" + heapMebibytes + "m");
    command.add("-Xmx" + heapMebibytes + "m");
    command.add("-XX:+UseG1GC");
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.add(JSON.writeValueAsString(specification));
    Process process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    Thread stop = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(stop);
    try (InputStream out = process.getInputStream()) {
      byte[] bytes = out.readAllBytes();
      int status = process.waitFor();
      if (status != 0) {
        throw new FailedException(main.getSimpleName() + " ended with status " + status);
      }
      return JSON.readValue(bytes, answer);
    } finally {
      process.destroyForcibly();
      Runtime.getRuntime().removeShutdownHook(stop);
    }
  }

  /** For the child. */
  public static <S> S specification(String[] arguments, Class<S> type) throws IOException {
    return JSON.readValue(arguments[0], type);
  }

  /** For the child. */
  public static void answer(Object answer) throws IOException {
    JSON.writeValue(System.out, answer);
  }

  /** The child exited with a status other than 0. */
  public static final class FailedException extends Exception {
    private static final long serialVersionUID = 1;

    FailedException(String message) {
      super(message);
    }
  }
}
