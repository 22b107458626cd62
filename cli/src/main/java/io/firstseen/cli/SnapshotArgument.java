package io.firstseen.cli;

import io.firstseen.filters.snapshot.MalformedSnapshotException;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The snapshot that a verb is about. */
final class SnapshotArgument {

  @Parameters(
      index = "0",
      paramLabel = "F",
      description = "A snapshot, or a directory of snapshots with a manifest for each window.")
  private Path path;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description = "Which manifest of a directory (default: the newest).")
  private Long sequence;

  /** As it was given. */
  Path path() {
    return path;
  }

  /**
   * Opens it.
   *
   * @throws MalformedSnapshotException if it is damaged
   * @throws IOException if it cannot be read
   */
  OpenedSnapshots open() throws IOException {
    return OpenedSnapshots.open(path, sequence);
  }
}
