package io.firstseen.cli.savepoint;

import picocli.CommandLine.Command;

/** The verbs on savepoints; see its subcommands. */
@Command(
    name = "savepoint",
    description = "Look into savepoints and checkpoints of a dedup.",
    subcommands = SavepointInfoCommand.class)
public final class SavepointCommand {}
