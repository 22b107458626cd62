package io.firstseen.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Says what a snapshot holds and how. */
@Command(name = "info", description = "Says what a snapshot holds and how.")
final class SnapshotInfoCommand implements Callable<Integer> {

  @Mixin private SnapshotArgument snapshot;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    SnapshotSummary summary = snapshot.open().summary();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.line(summary.json()));
    } else {
      out.print(summary.table());
    }
    return ExitCode.GOOD;
  }
}
