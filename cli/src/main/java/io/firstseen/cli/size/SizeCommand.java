package io.firstseen.cli.size;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Verb;
import io.firstseen.jobs.options.DeclaredOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Calculates the resources of a dedup job. */
@Command(
    name = "size",
    footer = {
      "  firstseen size --keys 1e9 --rate 100k",
      "  firstseen size --keys 10G --rate 1M --backend rocksdb --ttl 30d",
      "  firstseen size --keys 10M --rate 20k --near short --ttl 7d",
      "  firstseen size --keys 100M --rate 50k --fpr 0.01 --snapshots --window 1h"
    },
    modelTransformer = DeclaredOptions.class,
    description = {
      "Calculates the resources of a dedup job for a number of keys and a rate of events: "
          + "shards, tasks, memory, checkpoints, and the command lines to submit it.",
      "Sizes are measured with real filters; times are from benchmarks on cores of 2026 "
          + "(docs/operations/sizing.md)."
    },
    exitCodeList = {
      "0:success, possibly with warnings",
      "2:usage error, or no dedup job can " + "handle the load"
    })
public final class SizeCommand extends Verb {
  @Mixin private SizingRequest request;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  SizingRequest request() {
    return request;
  }

  @Override
  public Integer call() {
    Sizing.of(request).fields().print(out(), json);
    return ExitCode.GOOD;
  }
}
