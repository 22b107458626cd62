package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Subcommands;
import picocli.CommandLine.Command;

/** The commands for snapshots; see the subcommands. */
@Command(
    name = "snapshot",
    footer = {
      "  firstseen snapshot build --input keys.txt --output keys.snapshot",
      "  firstseen snapshot query keys.snapshot example.org",
      "  firstseen snapshot publish --input list.txt --directory lists --set spam",
      "  firstseen snapshot info --bootstrap-servers kafka:9092"
    },
    description =
        "Build, publish, inspect, verify, query, match, compare, change, sign and fetch snapshots; "
            + "exchange sets with other programs.")
@Subcommands.Of({
  SnapshotBuildCommand.class,
  SnapshotPublishCommand.class,
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
