package io.firstseen.cli.processes;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/**
 * A program in a process of its own, which can be started, stopped and killed again and again. What
 * it prints goes to the end of its log file. It ignores the Ctrl-C of the terminal, so that whoever
 * started several stops them in the right order.
 *
 * <p>Not for several threads at once.
 */
public final class LocalProcess implements Closeable {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(20);
  private static final long POLL_MILLIS = 50;

  /** An ignored signal stays ignored when the shell becomes the program. */
  private static final List<String> WITHOUT_INTERRUPTS =
      List.of("/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh");

  private final String name;
  private final Path log;
  private final IntFunction<Command> command;
  private final Readiness readiness;
  private int starts;
  private Process process;

  private LocalProcess(String name, Path log, IntFunction<Command> command, Readiness readiness) {
    this.name = name;
    this.log = log;
    this.command = command;
    this.readiness = readiness;
  }

  /**
   * What is run.
   *
   * @param words the program and its arguments
   * @param environment variables that it gets beside those of this JVM
   */
  public record Command(List<String> words, Map<String, String> environment) {}

  /** Whether a process does its work. */
  @FunctionalInterface
  public interface Readiness {
    /**
     * Asked every 50 ms until it is true.
     *
     * @param start the number of the start, from 1
     * @throws IOException if it cannot be reached, which means no
     */
    boolean isReady(int start) throws IOException;
  }

  /**
   * Starts a program and waits until it is ready.
   *
   * @param name for messages
   * @param log its file, in a directory that exists
   * @param command of each start, by the start's number, from 1
   * @throws IOException with the last line of the log, if it ends before it is ready or is not
   *     within two minutes
   */
  public static LocalProcess start(
      String name, Path log, IntFunction<Command> command, Readiness readiness) throws IOException {
    LocalProcess started = new LocalProcess(name, log, command, readiness);
    started.start();
    return started;
  }

  /** The same for a class in a JVM of its own. */
  public static LocalProcess startJava(
      String name, Path log, IntFunction<JavaProgram> program, Readiness readiness)
      throws IOException {
    return start(
        name,
        log,
        number -> {
          JavaProgram java = program.apply(number);
          return new Command(java.words(), java.environment());
        },
        readiness);
  }

  /**
   * Starts it again, with the same command, and waits until it is ready.
   *
   * @throws IllegalStateException if it runs
   */
  public void start() throws IOException {
    startWithoutWaiting();
    try {
      awaitReady();
    } catch (IOException | RuntimeException e) {
      kill();
      throw e;
    }
  }

  /**
   * Starts it again.
   *
   * @throws IllegalStateException if it runs
   */
  public void startWithoutWaiting() throws IOException {
    if (isAlive()) {
      throw new IllegalStateException(name + " runs already");
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

  /** Waits until it is ready, as after {@link #startWithoutWaiting} or {@link #resume}. */
  public void awaitReady() throws IOException {
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (!isReady()) {
      if (!isAlive()) {
        throw new IOException(
            "%s has ended with status %d; the last line of %s: %s"
                .formatted(name, process.exitValue(), log, tail(1)));
      }
      if (System.nanoTime() > deadline) {
        throw new IOException(
            "%s is not ready after %s; the last line of %s: %s"
                .formatted(name, START_LIMIT, log, tail(1)));
      }
      pause();
    }
  }

  private boolean isReady() {
    try {
      return readiness.isReady(starts);
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

  /** The last lines of the log, at most so many. */
  public String tail(int count) {
    try (Stream<String> lines = Files.lines(log, StandardCharsets.ISO_8859_1)) {
      Deque<String> last = new ArrayDeque<>();
      lines.forEach(
          line -> {
            last.addLast(line);
            if (last.size() > count) {
              last.removeFirst();
            }
          });
      return String.join("\n", last);
    } catch (IOException | UncheckedIOException e) {
      return e.toString();
    }
  }

  /** The name given at the start. */
  public String name() {
    return name;
  }

  /** The file with what it printed. */
  public Path log() {
    return log;
  }

  /** The number of the process that was started last. */
  public long pid() {
    return process.pid();
  }

  /** Whether it runs, suspended or not. */
  public boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Completed with the exit status when the process that was started last has ended. */
  public CompletableFuture<Integer> exited() {
    return process.onExit().thenApply(Process::exitValue);
  }

  /** Asks it to end (SIGTERM) and waits; after 20 s it is killed. */
  public void stop() {
    if (isAlive()) {
      process.destroy();
      process
          .onExit()
          .completeOnTimeout(process, STOP_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
          .join();
    }
    kill();
  }

  /** Ends it at once (SIGKILL) and waits until it is gone. */
  public void kill() {
    if (isAlive()) {
      process.destroyForcibly();
      process.onExit().join();
    }
  }

  /** Halts it where it is (SIGSTOP). */
  public void suspend() throws IOException {
    signal("STOP");
  }

  /** Lets it go on after {@link #suspend} (SIGCONT). */
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
      throw new IOException("%s cannot be sent SIG%s: %s".formatted(name, signal, output.strip()));
    }
  }

  /** {@link #stop}. */
  @Override
  public void close() {
    stop();
  }
}
