package io.firstseen.benchmarks.shared;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.flink.util.FileUtils;

/**
 * Runs a class in a separate JVM, so that no run finds the heap or the compiled code of another.
 * The class gets its specification as JSON in its only argument, and answers in JSON on standard
 * output. Its standard error is redirected to this JVM's standard error.
 *
 * @param options of the JVM
 * @param environment variables that it gets in addition
 * @param processors that it may use
 * @param limit after this time it is killed
 */
public record ChildJvm(
    List<String> options, Map<String, String> environment, Processors processors, Duration limit) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** That of a JVM with ExitOnOutOfMemoryError. */
  private static final int OUT_OF_MEMORY_STATUS = 3;

  /** A JVM on all processors without a limit of time. */
  public static ChildJvm withOptions(List<String> options) {
    return new ChildJvm(options, Map.of(), Processors.ALL, Duration.ofDays(3650));
  }

  /** The same, with G1 and a heap that is fixed from the start. */
  public static ChildJvm withHeap(long mebibytes) {
    return withOptions(List.of("-Xms" + mebibytes + "m", "-Xmx" + mebibytes + "m", "-XX:+UseG1GC"));
  }

  public ChildJvm environment(Map<String, String> newEnvironment) {
    return new ChildJvm(options, newEnvironment, processors, limit);
  }

  public ChildJvm processors(Processors newProcessors) {
    return new ChildJvm(options, environment, newProcessors, limit);
  }

  public ChildJvm limit(Duration newLimit) {
    return new ChildJvm(options, environment, processors, newLimit);
  }

  /**
   * Runs a class to its end.
   *
   * @throws FailedException if it does not exit with status 0, or was killed after the limit
   */
  public <R> R run(Class<?> main, Object specification, Class<R> answer)
      throws IOException, InterruptedException, FailedException {
    Process process = start(main, specification);
    Thread stop = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(stop);
    AtomicBoolean late = new AtomicBoolean();
    CompletableFuture<Void> clock =
        CompletableFuture.runAsync(
            () -> {
              late.set(true);
              process.destroyForcibly();
            },
            CompletableFuture.delayedExecutor(limit.toMillis(), TimeUnit.MILLISECONDS));
    try (InputStream out = process.getInputStream()) {
      byte[] bytes = out.readAllBytes();
      int status = process.waitFor();
      if (late.get() || status != 0) {
        String end = late.get() ? " was killed after " + limit : " ended with status " + status;
        throw new FailedException(main.getSimpleName() + end, status, late.get());
      }
      return JSON.readValue(bytes, answer);
    } finally {
      clock.cancel(false);
      process.destroyForcibly();
      Runtime.getRuntime().removeShutdownHook(stop);
    }
  }

  /**
   * Runs a class to its end, with a separate directory, which is deleted afterwards.
   *
   * @param work where the directory is made
   */
  public <R> R runIn(
      Path work, Class<?> main, Function<Path, Object> specification, Class<R> answer)
      throws IOException, InterruptedException, FailedException {
    Path directory = Files.createTempDirectory(work, "run");
    try {
      return run(main, specification.apply(directory), answer);
    } finally {
      FileUtils.deleteDirectory(directory.toFile());
    }
  }

  /**
   * Starts a class that serves until its standard input ends, and waits until it prints a line.
   * Without the limit of time.
   */
  public Service serve(Class<?> main, Object specification) throws IOException {
    return new Service(start(main, specification));
  }

  private Process start(Class<?> main, Object specification) throws IOException {
    List<String> command = new ArrayList<>(processors.prefix());
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-XX:+ExitOnOutOfMemoryError");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.add(JSON.writeValueAsString(specification));
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(Redirect.INHERIT);
    builder.environment().putAll(environment);
    return builder.start();
  }

  /** For the child. */
  public static <S> S specification(String[] arguments, Class<S> type) throws IOException {
    return JSON.readValue(arguments[0], type);
  }

  /** For the child. */
  public static void answer(Object answer) throws IOException {
    JSON.writeValue(System.out, answer);
  }

  public static final class Service implements AutoCloseable {
    private static final int STOP_SECONDS = 20;

    private final Process process;
    private final Thread kill;
    private final String line;

    private Service(Process process) throws IOException {
      this.process = process;
      this.kill = new Thread(process::destroyForcibly);
      Runtime.getRuntime().addShutdownHook(kill);
      this.line = process.inputReader().readLine();
      if (line == null) {
        throw new IOException("the process has not started");
      }
    }

    /** The line that it has printed: where it can be reached. */
    public String line() {
      return line;
    }

    /** The processor time so far, in nanoseconds; 0 if the system does not tell. */
    public long cpuNanos() {
      return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }

    @Override
    public void close() throws IOException {
      process.getOutputStream().close();
      process
          .onExit()
          .completeOnTimeout(process, STOP_SECONDS, TimeUnit.SECONDS)
          .join()
          .destroyForcibly();
      Runtime.getRuntime().removeShutdownHook(kill);
    }
  }

  /** The child exited with a status other than 0, or was killed after the limit. */
  public static final class FailedException extends Exception {
    private static final long serialVersionUID = 1;

    private final int status;
    private final boolean late;

    FailedException(String message, int status, boolean late) {
      super(message);
      this.status = status;
      this.late = late;
    }

    public boolean isLate() {
      return late;
    }

    public boolean isOutOfMemory() {
      return status == OUT_OF_MEMORY_STATUS;
    }
  }
}
