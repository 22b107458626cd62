package io.firstseen.cli.report;

import io.firstseen.cli.shared.Subcommands;
import picocli.CommandLine.Command;

/** Measurements; see the subcommands. */
@Command(
    name = "report",
    footer = {"  firstseen report membership"},
    description = "Run measurements on this machine.")
@Subcommands.Of({ReportMembershipCommand.class, ReportNearCommand.class})
public final class ReportCommand {}
