package io.firstseen.cli.report;

import picocli.CommandLine.Command;

/** Measurements; see the subcommands. */
@Command(
    name = "report",
    footer = {"  firstseen report membership"},
    description = "Run measurements on this machine.",
    subcommands = {ReportMembershipCommand.class, ReportNearCommand.class})
public final class ReportCommand {}
