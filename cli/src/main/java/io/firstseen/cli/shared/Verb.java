package io.firstseen.cli.shared;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.operators.UserErrorException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A subcommand, which returns one of the {@link ExitCode}s. */
public abstract class Verb implements Callable<Integer> {
  @Spec private CommandSpec spec;

  /** Whether an output file of the command is standard output. */
  private boolean isOutputTaken;

  protected final CommandLine commandLine() {
    return spec.commandLine();
  }

  /** Standard output, which is flushed when the command ends. */
  protected final PrintWriter out() {
    return commandLine().getOut();
  }

  protected final PrintWriter err() {
    return commandLine().getErr();
  }

  /** An output file; {@code -} is standard output, and then the report goes to standard error. */
  protected final @Nullable Path output(@Nullable Path named) {
    Path path = Path.of("-").equals(named) ? Path.of("/dev/stdout") : named;
    isOutputTaken |= path != null && OutputFile.isStandardOutput(path);
    return path;
  }

  /** Standard output, or standard error if an output file is standard output. */
  protected final PrintWriter reportOut() {
    return isOutputTaken ? err() : out();
  }

  /** Prints the JSON object on one line, or the text. */
  protected final void print(boolean asJson, ObjectNode object, String sentence) {
    reportOut().println(asJson ? Json.line(object) : sentence);
  }

  /** Returns the supplier's result; converts its exception into a {@link UserErrorException}. */
  public static <T> T accepted(Supplier<T> maker) {
    return accepted("", maker);
  }

  /** The same, with a prefix of the message. */
  public static <T> T accepted(String prefix, Supplier<T> maker) {
    try {
      return maker.get();
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(prefix + e.getMessage());
    }
  }
}
