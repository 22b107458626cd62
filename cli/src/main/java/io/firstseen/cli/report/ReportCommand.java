package io.firstseen.cli.report;

import picocli.CommandLine.Command;

/** The verbs that measure; see its subcommands. */
@Command(
    name = "report",
    description = "Measure on this machine.",
    subcommands = {ReportMembershipCommand.class})
public final class ReportCommand {}
