package io.firstseen.jobs.files;

import io.firstseen.jobs.UserErrorException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A file of lines that appears under its name only when it is complete. Until then its lines go to
 * a sibling whose name ends in {@code .partial}.
 */
final class OutputFile implements AutoCloseable {
  private static final int BUFFER_BYTES = 1 << 16;

  private final Path file;
  private final Path partial;
  private final OutputStream out;
  private boolean complete;

  OutputFile(Path file) {
    this.file = file;
    this.partial = file.resolveSibling(file.getFileName() + ".partial");
    try {
      this.out = new BufferedOutputStream(Files.newOutputStream(partial), BUFFER_BYTES);
    } catch (IOException e) {
      throw cannotWrite(e);
    }
  }

  /**
   * Refuses a file that cannot be written.
   *
   * @throws UserErrorException with a sentence
   */
  static Path requireWritable(Path file) {
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null || Files.isDirectory(file)) {
      throw new UserErrorException(file + " is a directory, not a file");
    }
    if (!Files.isDirectory(directory)) {
      throw new UserErrorException(
          "cannot write %s: there is no directory %s".formatted(file, directory));
    }
    if (!Files.isWritable(directory) || (Files.exists(file) && !Files.isWritable(file))) {
      throw new UserErrorException("cannot write " + file + ": permission denied");
    }
    return file.toAbsolutePath();
  }

  /** Writes parts, which together are one line. */
  void line(byte[]... parts) {
    try {
      for (byte[] part : parts) {
        out.write(part);
      }
      out.write('\n');
    } catch (IOException e) {
      throw cannotWrite(e);
    }
  }

  /** Gives the file its name. */
  void complete() {
    try {
      out.close();
      try {
        Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(partial, file, StandardCopyOption.REPLACE_EXISTING);
      }
      complete = true;
    } catch (IOException e) {
      throw cannotWrite(e);
    }
  }

  /** Removes what is not complete. */
  @Override
  public void close() throws IOException {
    if (!complete) {
      try (out) {
        Files.deleteIfExists(partial);
      }
    }
  }

  private UserErrorException cannotWrite(IOException e) {
    return UserErrorException.cannot("write", file, e);
  }
}
