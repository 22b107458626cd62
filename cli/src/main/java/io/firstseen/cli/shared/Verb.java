package io.firstseen.cli.shared;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A verb of the command, which returns one of the {@link ExitCode}s. */
public abstract class Verb implements Callable<Integer> {
  @Spec private CommandSpec spec;

  /** The verb on its command line. */
  protected final CommandLine commandLine() {
    return spec.commandLine();
  }

  /** Standard output, which is flushed when the verb ends. */
  protected final PrintWriter out() {
    return commandLine().getOut();
  }

  /** Standard error. */
  protected final PrintWriter err() {
    return commandLine().getErr();
  }

  /** Prints the object on one line, or the sentence. */
  protected final void print(boolean asJson, ObjectNode object, String sentence) {
    out().println(asJson ? Json.line(object) : sentence);
  }
}
