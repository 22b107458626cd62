package io.firstseen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.fixtures.ShortRun;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The command in a separate JVM with a separate temporary directory. */
public final class CommandProcess implements AutoCloseable {
  private final Path directory;
  private final Process process;

  private CommandProcess(Path directory, Process process) {
    this.directory = directory;
    this.process = process;
  }

  /**
   * Starts it; its standard input is to be written and closed.
   *
   * @param directory an empty directory for its output and its temporary files
   */
  public static CommandProcess start(Path directory, String... words) throws IOException {
    return start("512m", Map.of(), directory, words);
  }

  /** The same with another size of the heap. */
  public static CommandProcess startWithHeap(String heap, Path directory, String... words)
      throws IOException {
    return start(heap, Map.of(), directory, words);
  }

  /** The same with the hash key in the environment. */
  public static CommandProcess startWithHashKey(String key, Path directory, String... words)
      throws IOException {
    return start("512m", Map.of("FIRSTSEEN_HASH_KEY", key), directory, words);
  }

  private static CommandProcess start(
      String heap, Map<String, String> environment, Path directory, String... words)
      throws IOException {
    List<String> command = new ArrayList<>();
    if (System.getProperty("os.name").equals("Linux")) {
      // A build in the background ignores SIGINT, and its child processes inherit that.
      command.addAll(List.of("env", "--default-signal=INT"));
    }
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("-Xmx" + heap);
    command.addAll(ShortRun.JVM_OPTIONS);
    command.add("-XX:MetaspaceSize=128m");
    command.add("-Dfile.encoding=UTF-8");
    command.add("-Djava.io.tmpdir=" + Files.createDirectories(directory.resolve("tmp")));
    // Flink's test jars bring a configuration that would hide what users see.
    command.add("-Dlog4j2.configurationFile=log4j2.properties");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.addAll(List.of(words));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(directory.resolve("out").toFile())
            .redirectError(directory.resolve("err").toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("FIRSTSEEN_"));
    builder.environment().putAll(environment);
    return new CommandProcess(directory, builder.start());
  }

  public OutputStream standardInput() {
    return process.getOutputStream();
  }

  public long pid() {
    return process.pid();
  }

  /** The number of its child processes that still run. */
  public long children() {
    return process.descendants().count();
  }

  /** The processes that it has started and that still run. */
  public List<ProcessHandle> descendants() {
    return process.descendants().toList();
  }

  /**
   * Ends it as Ctrl-C does, and waits for that: its input must not end while the signal is on its
   * way, or it may end by itself.
   */
  public void interrupt() throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
    awaitEnd();
  }

  /** Ends it as supervisors do. */
  public void terminate() {
    process.destroy();
  }

  /** The lines on its standard error so far. */
  public List<String> errors() throws IOException {
    return Files.readAllLines(directory.resolve("err"));
  }

  /** Waits for its end. */
  public Invocation end() throws IOException, InterruptedException {
    process.getOutputStream().close();
    awaitEnd();
    return new Invocation(
        process.exitValue(),
        Files.readAllLines(directory.resolve("out")),
        Files.readAllLines(directory.resolve("err")));
  }

  private void awaitEnd() throws InterruptedException {
    assertThat(process.waitFor(2, TimeUnit.MINUTES)).as("it ends").isTrue();
  }

  /** The files in its temporary directory. */
  public List<String> temporaryFiles() throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve("tmp"))) {
      return files
          .map(file -> file.getFileName().toString())
          // A file of the JVM.
          .filter(name -> !name.startsWith("hsperfdata"))
          .toList();
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
