package io.firstseen.cli.savepoint;

import io.firstseen.cli.shared.Subcommands;
import picocli.CommandLine.Command;

/** The commands for savepoints; see the subcommands. */
@Command(
    name = "savepoint",
    footer = {"  firstseen savepoint info known"},
    description = "Inspect savepoints and checkpoints of a dedup job.")
@Subcommands.Of(SavepointInfoCommand.class)
public final class SavepointCommand {}
