package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
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
final class SnapshotDiffCommand extends JsonVerb {

  @Parameters(index = "0", paramLabel = "A", description = "Snapshot, or directory of snapshots.")
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

  // Without the shards of different ranges, which need their whole set.
  private long added;
  private long removed;
  private int wholeShards;

  // Of the sections that change the first set into the second, or contain all of it.
  private long changeBytes;
  private long fullBytes;

  /** Whether both have the same keys; another key may have a value that is there already. */
  private boolean isSame = true;

  @Override
  public Integer call() throws IOException {
    OpenedSnapshots from = OpenedSnapshots.open(before, fromSequence);
    OpenedSnapshots to = OpenedSnapshots.open(after == null ? before : after, sequence);
    if ((from.snapshot() == null) != (to.snapshot() == null)) {
      throw new UserErrorException(
          "two snapshots or two directories can be compared, got one of each: %s and %s"
              .formatted(from.path(), to.path()));
    }
    requireSame("set", from, to, OpenedSnapshots::setName);
    requireSame("parameters", from, to, OpenedSnapshots::parameters);
    if (from.snapshot() != null) {
      requireSame("shard", from, to, each -> each.snapshot().header().parameters().shard());
      add(from.snapshot(), to.snapshot());
    } else {
      for (int shard = 0; shard < from.parameters().shards().count(); shard++) {
        add(from.set().snapshot(shard), to.set().snapshot(shard));
      }
    }
    print(fields());
    return isSame ? ExitCode.GOOD : ExitCode.NEGATIVE;
  }

  private static void requireSame(
      String what, OpenedSnapshots from, OpenedSnapshots to, Function<OpenedSnapshots, Object> of) {
    OpenedSnapshots.requireSame(what, from.path(), of.apply(from), to.path(), of.apply(to));
  }

  /** Adds the changes of a shard; null for a shard that never held a key. */
  private void add(@Nullable Snapshot before, @Nullable Snapshot after) {
    long countBefore = before == null ? 0 : before.header().count();
    if (after == null) {
      removed += countBefore;
      isSame &= countBefore == 0;
      return;
    }
    long count = after.header().count();
    long length = Section.whole(after).length();
    if (before == null) {
      added += count;
      changeBytes += length;
      fullBytes += length;
      isSame &= count == 0;
    } else if (countBefore + count > 0) {
      fullBytes += length;
      Section change = Section.between(before, after);
      boolean same =
          !change.isWhole()
              && change.addedCount() + change.removedCount() == 0
              && before.header().hashCount() == after.header().hashCount();
      isSame &= same;
      if (change.isWhole()) {
        wholeShards++;
      } else {
        added += change.addedCount();
        removed += change.removedCount();
      }
      changeBytes += same ? 0 : change.isWhole() ? length : change.length();
    }
  }

  private Fields fields() {
    String whole = wholeShards + " (values of different ranges cannot be compared)";
    return new Fields()
        .json("same", isSame)
        .put("added values", "added", added)
        .put("removed values", "removed", removed)
        .put("bytes to go there", "changeBytes", changeBytes)
        .put("bytes in full", "fullBytes", fullBytes)
        .json("shardsInFull", wholeShards)
        .row("shards in full", wholeShards == 0 ? null : whole);
  }
}
