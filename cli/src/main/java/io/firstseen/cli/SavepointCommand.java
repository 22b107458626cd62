package io.firstseen.cli;

import picocli.CommandLine.Command;

/** The verbs on savepoints; see its subcommands. */
@Command(
    name = "savepoint",
    description = "Look into savepoints and checkpoints of a dedup.",
    subcommands = SavepointInfoCommand.class)
final class SavepointCommand {}
