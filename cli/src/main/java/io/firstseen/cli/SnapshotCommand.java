package io.firstseen.cli;

import picocli.CommandLine.Command;

/** The verbs on snapshots; see its subcommands. */
@Command(
    name = "snapshot",
    description =
        "Build, look into, check, sign and query snapshots; exchange sets with other programs.",
    subcommands = {
      SnapshotBuildCommand.class,
      SnapshotInfoCommand.class,
      SnapshotVerifyCommand.class,
      SnapshotQueryCommand.class,
      SnapshotEncodeCommand.class,
      SnapshotDecodeCommand.class,
      SnapshotKeygenCommand.class,
      SnapshotSignCommand.class,
      SnapshotPruneCommand.class
    })
final class SnapshotCommand {}
