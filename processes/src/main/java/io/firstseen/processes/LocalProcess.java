package io.firstseen.processes;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.apache.flink.util.function.FunctionWithException;

/**
 * A program in a separate process, which can be started, stopped and killed repeatedly. Its output
 * is appended to its log file. The process ignores Ctrl-C in the terminal, so that its parent can
 * stop several processes in the right order.
 *
 * <p>Not thread-safe.
 */
public final class LocalProcess implements Closeable {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(20);
  private static final long POLL_MILLIS = 50;

  /** A signal that the shell ignores stays ignored after exec. */
  private static final List<String> WITHOUT_INTERRUPTS =
      List.of("/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh");

  private final String name;
  private final Path log;
  private final IntFunction<Command> command;
  private final FunctionWithException<Integer, Boolean, IOException> readiness;
  private int starts;
  private Process process;

  private LocalProcess(
      String name,
      Path log,
      IntFunction<Command> command,
      FunctionWithException<Integer, Boolean, IOException> readiness) {
    this.name = name;
    this.log = log;
    this.command = command;
    this.readiness = readiness;
  }

  /**
   * A command line.
   *
   * @param words the program and its arguments
   * @param environment environment variables in addition to the environment of this JVM
   */
  public record Command(List<String> words, Map<String, String> environment) {

    /**
     * A main class in a separate JVM, which exits when its standard input ends.
     *
     * @param main the name of the class
     * @param options the options of the JVM
     * @param arguments the arguments of the class
     */
    public static Command java(
        String main,
        List<Path> classPath,
        List<String> options,
        List<String> arguments,
        Map<String, String> environment) {
      List<String> words = new ArrayList<>();
      words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      words.add("-XX:+ExitOnOutOfMemoryError");
      words.addAll(options);
      words.add("-cp");
      words.add(String.join(File.pathSeparator, classPath.stream().map(Path::toString).toList()));
      words.add(ChildMain.class.getName());
      words.add(main);
      words.addAll(arguments);
      return new Command(words, environment);
    }

    /** The command line with further words at its end. */
    Command with(String... more) {
      return new Command(Stream.concat(words.stream(), Stream.of(more)).toList(), environment);
    }
  }

  /**
   * Starts a program and waits until it is ready.
   *
   * @param name the name in messages
   * @param log the log file, in an existing directory
   * @param command the command line of each start, by the start's number, from 1
   * @param readiness whether the process of a start is ready; called every 50 ms until it returns
   *     true. An IOException means that the process is not ready.
   * @throws IOException with the last line of the log, if the process ends before it is ready, or
   *     is not ready within two minutes
   */
  public static LocalProcess start(
      String name,
      Path log,
      IntFunction<Command> command,
      FunctionWithException<Integer, Boolean, IOException> readiness)
      throws IOException {
    LocalProcess started = new LocalProcess(name, log, command, readiness);
    started.startWithoutWaiting();
    try {
      started.awaitReady();
    } catch (IOException | RuntimeException e) {
      started.kill();
      throw e;
    }
    return started;
  }

  /**
   * Restarts the process.
   *
   * @throws IllegalStateException if the process is running
   */
  public void startWithoutWaiting() throws IOException {
    if (isAlive()) {
      throw new IllegalStateException(name + " is already running");
    }
    starts++;
    Command next = command.apply(starts);
    List<String> words = new ArrayList<>(WITHOUT_INTERRUPTS);
    words.addAll(next.words());
    ProcessBuilder builder =
        new ProcessBuilder(words)
            .redirectErrorStream(true)
            .redirectOutput(Redirect.appendTo(log.toFile()));
    builder.environment().putAll(next.environment());
    process = builder.start();
  }

  /**
   * Waits until the process is ready, for example after {@link #startWithoutWaiting} or {@link
   * #resume}.
   */
  public void awaitReady() throws IOException {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (!isReady()) {
      if (!isAlive()) {
        throw new IOException(
            "%s has ended with status %d; the last line of %s: %s"
                .formatted(name, process.exitValue(), log, lastLine()));
      }
      if (System.nanoTime() > deadline) {
        throw new IOException(
            "%s is not ready after %d s; the last line of %s: %s"
                .formatted(name, START_LIMIT.toSeconds(), log, lastLine()));
      }
      pause();
    }
  }

  private boolean isReady() {
    try {
      return readiness.apply(starts);
    } catch (IOException e) {
      return false;
    }
  }

  static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** The last line of the log. */
  public String lastLine() {
    try (Stream<String> lines = Files.lines(log, StandardCharsets.ISO_8859_1)) {
      return lines.reduce("", (earlier, later) -> later);
    } catch (IOException | UncheckedIOException e) {
      return e.toString();
    }
  }

  /** The name in messages. */
  public String name() {
    return name;
  }

  /** The log file. */
  public Path log() {
    return log;
  }

  /** The process id of the last start. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process is running or suspended. */
  public boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** The exit status of the process, which has ended. */
  public int exitStatus() {
    return process.exitValue();
  }

  /** Stops the process (SIGTERM) and waits; kills it after 20 s. */
  @Override
  public void close() {
    if (isAlive()) {
      process.destroy();
      process
          .onExit()
          .completeOnTimeout(process, STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
          .join();
    }
    kill();
  }

  /** Kills the process (SIGKILL) and waits until it has ended. */
  public void kill() {
    if (isAlive()) {
      process.destroyForcibly();
      process.onExit().join();
    }
  }

  /** Suspends the process (SIGSTOP). */
  public void suspend() throws IOException {
    signal("STOP");
  }

  /** Resumes the process after {@link #suspend} (SIGCONT). */
  public void resume() throws IOException {
    signal("CONT");
  }

  private void signal(String signal) throws IOException {
    Process kill =
        new ProcessBuilder("kill", "-" + signal, Long.toString(pid()))
            .redirectErrorStream(true)
            .start();
    String output = new String(kill.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (kill.onExit().join().exitValue() != 0) {
      throw new IOException(
          "cannot send %s the signal SIG%s: %s".formatted(name, signal, output.strip()));
    }
  }
}
