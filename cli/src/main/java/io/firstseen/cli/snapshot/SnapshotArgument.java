package io.firstseen.cli.snapshot;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The snapshot argument of a command. */
final class SnapshotArgument {

  @Parameters(
      index = "0",
      paramLabel = "F",
      description = "Snapshot, or directory of snapshots with a manifest per window.")
  Path path;

  @Option(
      names = "--sequence",
      paramLabel = "N",
      description = "Sequence of the manifest in the directory F (default: the newest).")
  Long sequence;

  OpenedSnapshots open(List<TrustedKey> keys) throws IOException {
    requireSigned(keys);
    return OpenedSnapshots.open(path, sequence);
  }

  /** Rejects a manifest without a signature by one of the keys, if there are any. */
  void requireSigned(List<TrustedKey> keys) throws IOException {
    if (keys.isEmpty()) {
      return;
    }
    if (!Files.isDirectory(path)) {
      if (OpenedSnapshots.file(path, sequence)
          .filter(each -> each.content() instanceof Manifest)
          .isEmpty()) {
        throw new UserErrorException(
            "--public-key checks a manifest or the manifest of a directory, but %s is not"
                .formatted(path));
      }
      ManifestCheck.requireSigned(Files.readAllBytes(path), keys);
      return;
    }
    SnapshotDirectory directory = new SnapshotDirectory(path);
    long asked = sequence == null ? directory.latest().sequence() : sequence;
    ManifestCheck.requireSigned(directory.manifestBytes(asked), keys);
    // Keep this sequence, because a newer manifest that a job writes meanwhile is not checked.
    sequence = asked;
  }
}
