package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.files.OutputFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Applies deltas to a snapshot. */
@Command(
    name = "apply",
    description = {
      "Applies deltas to a snapshot, one after the other, and writes the resulting snapshot.",
      "It has the same bytes as a snapshot that is published in full."
    })
final class SnapshotApplyCommand implements Callable<Integer> {

  @Parameters(index = "0", paramLabel = "BASE", description = "The snapshot to begin with.")
  private Path base;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "DELTA",
      description = "The deltas to apply, in order.")
  private List<Path> deltas;

  @Option(names = "--output", required = true, paramLabel = "F", description = "The snapshot.")
  private Path output;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::apply);
  }

  private int apply(Cleanup cleanup) throws IOException {
    OutputFile file = new OutputFile(output);
    cleanup.add(file);
    Snapshot snapshot = Snapshot.read(base);
    for (Path path : deltas) {
      SnapshotDelta delta = SnapshotDelta.read(path);
      try {
        snapshot = delta.applyTo(snapshot);
      } catch (SnapshotException e) {
        throw new SnapshotException(path + ": " + e.getMessage(), e);
      }
    }
    file.write(snapshot.toBytes());
    file.complete();
    SnapshotSummary summary = SnapshotSummary.of(snapshot);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode object = Json.object();
      object.put("output", output.toString());
      object.put("digest", snapshot.digest());
      object.setAll(summary.json());
      out.println(Json.line(object));
    } else {
      out.printf(
          "%s: %s keys in %s bytes%n",
          output, SnapshotSummary.number(summary.keys()), SnapshotSummary.number(summary.bytes()));
    }
    return ExitCode.GOOD;
  }
}
