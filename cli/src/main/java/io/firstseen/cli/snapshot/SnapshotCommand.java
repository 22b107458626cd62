package io.firstseen.cli.snapshot;

import picocli.CommandLine.Command;

/** The verbs on snapshots; see its subcommands. */
@Command(
    name = "snapshot",
    description =
        "Build, look into, check, query, match, compare, change, sign and fetch snapshots; exchange sets"
            + " with others.",
    subcommands = {
      SnapshotBuildCommand.class,
      SnapshotInfoCommand.class,
      SnapshotVerifyCommand.class,
      SnapshotQueryCommand.class,
      SnapshotMatchCommand.class,
      SnapshotDiffCommand.class,
      SnapshotApplyCommand.class,
      SnapshotEncodeCommand.class,
      SnapshotDecodeCommand.class,
      SnapshotKeygenCommand.class,
      SnapshotSignCommand.class,
      SnapshotPruneCommand.class,
      SnapshotPullCommand.class,
      SnapshotFollowCommand.class
    })
public final class SnapshotCommand {}
