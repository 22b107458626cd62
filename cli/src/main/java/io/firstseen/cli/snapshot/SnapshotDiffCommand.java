package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Verb;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints the changes from one snapshot to another. */
@Command(
    name = "diff",
    footer = {
      "  firstseen snapshot diff old.snapshot new.snapshot",
      "  firstseen snapshot diff snapshots --from-sequence 7 --sequence 8"
    },
    description = {
      "Shows the changes from one snapshot to another: the number of added and removed "
          + "values, and the size of the change in bytes. Both are snapshots of one shard, or "
          + "directories."
    },
    exitCodeList = {
      "0:same set",
      "1:different sets",
      "2:usage error, or the sets cannot be " + "compared"
    })
final class SnapshotDiffCommand extends Verb {

  @Parameters(
      index = "0",
      paramLabel = "A",
      description = "Snapshot, or directory of snapshots with a manifest per window.")
  private Path before;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "B",
      description = "Snapshot to compare with (default: another window of A, see --sequence).")
  private Path after;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description = "Sequence of the manifest in directory B (default: the newest).")
  private Long sequence;

  @Option(
      names = "--from-sequence",
      paramLabel = "N",
      description = "Sequence of the manifest in directory A (default: the newest).")
  private Long fromSequence;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    OpenedSnapshots from = OpenedSnapshots.open(before, fromSequence);
    OpenedSnapshots to = OpenedSnapshots.open(after == null ? before : after, sequence);
    SnapshotDifference difference = from.difference(to);
    difference.fields().print(out(), json);
    return difference.isSame() ? ExitCode.GOOD : ExitCode.NEGATIVE;
  }
}
