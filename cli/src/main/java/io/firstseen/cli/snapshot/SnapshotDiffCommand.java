package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the changes from one snapshot to another. */
@Command(
    name = "diff",
    description = {
      "Shows what has changed from one snapshot to another: how many values were added and removed,"
          + " and the size of the delta. Both are blobs of one shard, or directories."
    },
    exitCodeList = {"0:the same set", "1:different sets", "2:usage error, or not comparable"})
final class SnapshotDiffCommand implements Callable<Integer> {

  @Parameters(
      index = "0",
      paramLabel = "A",
      description = "A snapshot, or a directory of snapshots with a manifest for each window.")
  private Path before;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "B",
      description = "The snapshot to compare with (default: another window of A, see --sequence).")
  private Path after;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description = "Which manifest of the directory B (default: the newest).")
  private Long sequence;

  @Option(
      names = "--from-sequence",
      paramLabel = "N",
      description = "Which manifest of the directory A (default: the newest).")
  private Long fromSequence;

  @Option(
      names = "--output",
      paramLabel = "F",
      description = "Where to write the delta that changes the blob A into the blob B.")
  private Path output;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::diff);
  }

  private int diff(Cleanup cleanup) throws IOException {
    OpenedSnapshots from = OpenedSnapshots.open(before, fromSequence);
    OpenedSnapshots to = OpenedSnapshots.open(after == null ? before : after, sequence);
    SnapshotDifference difference = from.difference(to);
    if (output != null) {
      write(from, to, cleanup);
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      ObjectNode object = difference.json();
      if (output != null) {
        object.put("output", output.toString());
      }
      out.println(Json.line(object));
    } else {
      out.print(difference.table());
    }
    return difference.isSame() ? ExitCode.GOOD : ExitCode.NEGATIVE;
  }

  private void write(OpenedSnapshots from, OpenedSnapshots to, Cleanup cleanup) throws IOException {
    Snapshot parent = from.blob();
    Snapshot child = to.blob();
    if (parent == null || child == null) {
      throw new UserErrorException(
          "--output takes the delta between two blobs; a directory has one for each shard");
    }
    SnapshotDelta delta =
        SnapshotDifference.delta(parent, child)
            .orElseThrow(
                () ->
                    new UserErrorException(
                        String.format(
                            "there is no delta from %s to %s: the ranges of values must be the same",
                            parent.header().universe(), child.header().universe())));
    OutputFile file = new OutputFile(output);
    cleanup.add(file);
    file.write(delta.toBytes());
    file.complete();
  }
}
