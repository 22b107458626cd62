package io.firstseen.cli.snapshot;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Generates a key pair for signatures of manifests. */
@Command(
    name = "keygen",
    footer = {
      "  firstseen snapshot keygen --output signing.pem",
      "  firstseen snapshot keygen --output /etc/firstseen/signing.pem --json"
    },
    description = {
      "Generates an Ed25519 key pair that signs manifests, in PEM format. Existing files are "
          + "not replaced."
    })
final class SnapshotKeygenCommand extends JsonVerb {

  @Option(
      names = "--output",
      required = true,
      paramLabel = "FILE",
      description =
          "Output file of the private key, readable only by its owner; FILE.pub is the "
              + "public key.")
  private Path output;

  @Override
  public Integer call() throws IOException {
    SigningKey key = SigningKey.generate();
    Path publicFile = Path.of(output + ".pub");
    if (Files.exists(publicFile)) {
      throw exists(publicFile);
    }
    write(output, key.toPem(), "rw-------");
    write(publicFile, key.publicKey().toPem(), "rw-r--r--");
    String id = key.publicKey().id();
    print(
        Json.object()
            .put("key", id)
            .put("private", output.toString())
            .put("public", publicFile.toString()),
        "key %s: %s signs, %s checks".formatted(id, output, publicFile));
    return ExitCode.GOOD;
  }

  /** Creates the file with its final permissions, so that it never has more. */
  private static void write(Path file, String text, String permissions) throws IOException {
    boolean isPosix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
    FileAttribute<?>[] attributes =
        isPosix
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
            }
            : new FileAttribute<?>[0];
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), attributes)) {
      Channels.newOutputStream(channel).write(text.getBytes(US_ASCII));
    } catch (FileAlreadyExistsException e) {
      throw exists(file);
    } catch (IOException e) {
      throw UserErrorException.cannot("write", file, e);
    }
  }

  private static UserErrorException exists(Path file) {
    return new UserErrorException(file + " exists, and keys are not replaced");
  }
}
