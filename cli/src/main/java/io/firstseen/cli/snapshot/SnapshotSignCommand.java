package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.operators.UserErrorException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Signs existing manifests. */
@Command(
    name = "sign",
    footer = {
      "  firstseen snapshot sign snapshots --signing-key signing.pem",
      "  firstseen snapshot sign 8.manifest --signing-key signing.pem"
    },
    description = {
      "Signs a manifest, or all manifests of a directory, in place. Existing signatures are "
          + "replaced."
    })
final class SnapshotSignCommand extends JsonVerb {

  @Parameters(
      index = "0",
      paramLabel = "F",
      description = "Manifest, or directory of snapshots with a manifest per window.")
  private Path path;

  @Option(
      names = "--signing-key",
      required = true,
      paramLabel = "FILE",
      description = "File with the private key ('firstseen snapshot keygen').")
  private Path keyFile;

  @Override
  public Integer call() throws Exception {
    SigningKey key = read(keyFile);
    int signed = Files.isDirectory(path) ? signAll(key) : signOne(key);
    String id = key.publicKey().id();
    print(
        Json.object().put("key", id).put("signed", signed),
        "signed %d manifests with key %s".formatted(signed, id));
    return ExitCode.GOOD;
  }

  static SigningKey read(Path keyFile) throws IOException {
    try {
      return SigningKey.read(keyFile);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("--signing-key: " + keyFile + ": " + e.getMessage());
    }
  }

  private int signAll(SigningKey key) throws IOException {
    SnapshotDirectory directory = new SnapshotDirectory(path);
    List<Long> sequences = directory.sequences();
    Closeable lock = directory.lock();
    try (lock) {
      for (long sequence : sequences) {
        directory.writeManifest(key.sign(directory.manifest(sequence)));
      }
    }
    return sequences.size();
  }

  private int signOne(SigningKey key) throws Exception {
    byte[] bytes = key.sign(manifest()).toBytes();
    return Cleanup.after(
        cleanup -> {
          OutputFile file = cleanup.open(() -> new OutputFile(path));
          file.write(bytes);
          file.complete();
          return 1;
        });
  }

  private Manifest manifest() throws IOException {
    try {
      return Manifest.read(Files.readAllBytes(path));
    } catch (SnapshotException e) {
      throw e.at(path);
    }
  }
}
