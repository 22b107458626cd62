package io.firstseen.filters.snapshot;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The package in Python as one process that answers many commands, each as its program would. */
final class PythonReader implements AutoCloseable {
  /** Takes a line a command: a directory and the arguments, between tabs. Says the status. */
  private static final String LOOP =
      """
      import contextlib, io, os, sys
      from firstseen.cli import main
      for line in io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8"):
          directory, *arguments = line.rstrip("\\n").split("\\t")
          keys = os.path.join(directory, "keys")
          sys.stdin = open(keys if os.path.exists(keys) else os.devnull)
          with sys.stdin, \\
                  open(os.path.join(directory, "out"), "w") as out, \\
                  open(os.path.join(directory, "err"), "w") as err, \\
                  contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
              status = main(arguments)
          print(status, flush=True)
      """;

  private final Process process;
  private final BufferedWriter commands;
  private final BufferedReader statuses;

  record Answer(int status, String output, String errors) {}

  PythonReader() throws IOException {
    process =
        PythonPackage.process("-c", LOOP).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    commands = process.outputWriter(StandardCharsets.UTF_8);
    statuses = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Runs a command; its standard input is the file {@code keys} of the directory, if any. */
  Answer run(List<String> arguments, Path directory) throws IOException {
    commands.write(directory + "\t" + String.join("\t", arguments) + "\n");
    commands.flush();
    String status = statuses.readLine();
    if (status == null) {
      throw new AssertionError("the reader in Python failed at " + arguments);
    }
    return new Answer(
        Integer.parseInt(status),
        Files.readString(directory.resolve("out")),
        Files.readString(directory.resolve("err")));
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
