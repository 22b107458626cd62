package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Fields;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The content of a published file other than a snapshot: a manifest or a blob. */
interface FileSummary {
  /** The first bytes of a manifest. */
  String MANIFEST = "\u0089FSM";

  /** The first bytes of a blob. */
  String BLOB = "\u0089FSB";

  /** The content as a table and as JSON. */
  Fields fields();

  /** What it is, in a few words. */
  String sentence();

  /**
   * Decodes what can be decoded without other files.
   *
   * @throws SnapshotException if it is damaged
   */
  void verify() throws SnapshotException;

  /**
   * Reads a manifest or a blob; empty if the file is neither.
   *
   * @throws SnapshotException if it is damaged, or a newer reader is needed
   * @throws UserErrorException if it cannot be read
   */
  static Optional<FileSummary> of(Path path) throws SnapshotException {
    String magic = magic(path);
    if (!magic.equals(MANIFEST) && !magic.equals(BLOB)) {
      return Optional.empty();
    }
    try {
      byte[] bytes = Files.readAllBytes(path);
      return Optional.of(
          magic.equals(MANIFEST) ? new ManifestSummary(Manifest.read(bytes)) : ofBlob(bytes));
    } catch (SnapshotException e) {
      throw e.at(path);
    } catch (IOException e) {
      throw UserErrorException.cannot("read", path, e);
    }
  }

  private static FileSummary ofBlob(byte[] bytes) throws SnapshotException {
    BlobFrame frame = BlobFrame.read(ByteBuffer.wrap(bytes));
    return switch (frame.kind()) {
      case PACK -> PackSummary.of(bytes, frame.setName());
      case BASE -> BaseSummary.of(bytes, frame.setName());
      case BASE_LIST -> BaseListSummary.of(bytes, frame.setName());
    };
  }

  /** The first bytes of a file; empty if it is unreadable, which a later read reports. */
  private static String magic(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return new String(in.readNBytes(MANIFEST.length()), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }
}
