package io.firstseen.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotDelta;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Says what a snapshot or a delta holds and how. */
@Command(
    name = "info",
    description =
        "Says what a snapshot or a delta holds and how; of a directory, also the base and the"
            + " chain of deltas of each shard.")
final class SnapshotInfoCommand implements Callable<Integer> {

  @Mixin private SnapshotArgument snapshot;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    Optional<SnapshotDelta> delta = snapshot.delta();
    if (delta.isPresent()) {
      DeltaSummary summary = new DeltaSummary(delta.get());
      if (json) {
        out.println(Json.line(summary.json()));
      } else {
        out.print(summary.table());
      }
      return ExitCode.GOOD;
    }
    OpenedSnapshots opened = snapshot.open();
    SnapshotSummary summary = opened.summary();
    Manifest manifest = opened.manifest();
    if (json) {
      ObjectNode object = summary.json();
      if (manifest != null) {
        object.set("chains", new ChainSummary(manifest).json());
      }
      out.println(Json.line(object));
    } else {
      out.print(summary.table());
      if (manifest != null) {
        out.println();
        out.print(new ChainSummary(manifest).table());
      }
    }
    return ExitCode.GOOD;
  }
}
