package io.firstseen.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Decodes everything and checks every digest. */
@Command(
    name = "verify",
    description = "Decodes everything and checks every digest.",
    exitCodeList = {"0:valid", "1:invalid", "2:usage error, or it cannot be read"})
final class SnapshotVerifyCommand implements Callable<Integer> {

  @Mixin private SnapshotArgument snapshot;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    SnapshotSummary summary;
    try {
      OpenedSnapshots opened = snapshot.open();
      opened.verify();
      summary = opened.summary();
    } catch (MalformedSnapshotException e) {
      if (json) {
        ObjectNode answer = Json.object();
        answer.put("valid", false);
        answer.put("reason", e.getMessage());
        out.println(Json.line(answer));
      } else {
        out.println("invalid: " + e.getMessage());
      }
      return ExitCode.NEGATIVE;
    }
    if (json) {
      ObjectNode answer = Json.object();
      answer.put("valid", true);
      answer.setAll(summary.json());
      out.println(Json.line(answer));
    } else {
      out.printf(
          "valid: %s keys in %s bytes%n",
          SnapshotSummary.number(summary.keys()), SnapshotSummary.number(summary.bytes()));
    }
    return ExitCode.GOOD;
  }
}
