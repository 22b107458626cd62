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
    description = {
      "Shows what has changed from one snapshot to another: how many values were added and removed,"
          + " and the bytes of the change. Both are snapshots of one shard, or directories."
    },
    exitCodeList = {"0:the same set", "1:different sets", "2:usage error, or not comparable"})
final class SnapshotDiffCommand extends Verb {

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
