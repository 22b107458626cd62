package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Deletes old manifests of a directory, and the blobs that no other manifest needs. */
@Command(
    name = "prune",
    footer = {
      "  firstseen snapshot prune snapshots --keep 24",
      "  firstseen snapshot prune snapshots --keep 1 --json"
    },
    description = {
      "Deletes old manifests of a directory and the blobs that no other manifest refers to. "
          + "Fails while a job writes to the directory."
    })
final class SnapshotPruneCommand extends JsonVerb {

  @Parameters(index = "0", paramLabel = "DIR", description = "Directory of snapshots.")
  private Path path;

  @Option(
      names = "--keep",
      required = true,
      paramLabel = "N",
      converter = OptionValues.Count.class,
      description = "Number of manifests to keep, from the newest, at least 1.")
  private int keep;

  @Override
  public Integer call() throws IOException {
    SnapshotDirectory directory = new SnapshotDirectory(path);
    // Fails if the directory does not exist, instead of creating it.
    if (directory.sequences().isEmpty()) {
      throw new UserErrorException("there is no manifest in " + path);
    }
    Closeable lock = directory.lock();
    try (lock) {
      SnapshotDirectory.Pruned pruned = directory.keepNewest(keep);
      print(
          Json.object().put("manifests", pruned.manifests()).put("blobs", pruned.blobs()),
          "removed %d manifests and %d blobs".formatted(pruned.manifests(), pruned.blobs()));
    }
    return ExitCode.GOOD;
  }
}
