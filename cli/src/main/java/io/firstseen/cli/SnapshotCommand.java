package io.firstseen.cli;

import picocli.CommandLine.Command;

/** The verbs on snapshots; see its subcommands. */
@Command(
    name = "snapshot",
    description = "Build, look into, check and query snapshots.",
    subcommands = {
      SnapshotBuildCommand.class,
      SnapshotInfoCommand.class,
      SnapshotVerifyCommand.class,
      SnapshotQueryCommand.class
    })
final class SnapshotCommand {}
