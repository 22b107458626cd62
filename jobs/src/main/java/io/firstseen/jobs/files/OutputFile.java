package io.firstseen.jobs.files;

import io.firstseen.filters.snapshot.SyncedFiles;
import io.firstseen.operators.UserErrorException;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.regex.Pattern;

/**
 * A file that appears under its name only when it is complete; until then, an old file of that name
 * stays unchanged. The bytes are written to a new file in the same directory whose name ends in
 * {@code .partial}. A link is followed, not replaced. A target that is not a regular file, such as
 * a pipe or {@code /dev/null}, is written directly; {@code /dev/stdout}, {@code /dev/stderr} and
 * {@code /dev/fd/3} append to that open file of this process.
 *
 * <p>If the file system fails, methods throw a {@link UserErrorException}.
 */
public class OutputFile implements Closeable {
  private static final Path STANDARD_OUTPUT = Path.of("/dev/stdout");

  private static final Pattern DESCRIPTOR =
      Pattern.compile("/dev/stdout|/dev/stderr|(/dev|/proc/self)/fd/[0-9]+");

  private static final int BUFFER_BYTES = 1 << 16;
  private static final int MAX_LINKS = 40;
  private static final byte[] LINE_FEED = {'\n'};

  private final Path file;
  // The partial file, or the file itself if it is written directly.
  private final Path written;
  private final FileChannel channel;
  private final OutputStream out;
  private boolean complete;

  /** Opens the file, so that an unwritable file is detected before any work is done. */
  public OutputFile(Path file) {
    this.file = requireWritable(file);
    boolean direct = isDirect(this.file);
    try {
      this.written = direct ? this.file : newSibling(this.file);
      // A new descriptor would not share its position with other writers of this process.
      this.channel =
          written.equals(STANDARD_OUTPUT)
              ? new FileOutputStream(FileDescriptor.out).getChannel()
              : FileChannel.open(
                  written,
                  isDescriptor(written) ? StandardOpenOption.APPEND : StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw cannotWrite(e);
    }
    this.out = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES);
  }

  /** Creates the partial file; an existing file of its name belongs to another process. */
  private static Path newSibling(Path file) throws IOException {
    for (int number = 1; ; number++) {
      String suffix = number == 1 ? ".partial" : "." + number + ".partial";
      try {
        return Files.createFile(file.resolveSibling(file.getFileName() + suffix));
      } catch (FileAlreadyExistsException e) {
        // Try the next name.
      }
    }
  }

  /**
   * Rejects a file that cannot be written.
   *
   * @return the absolute path of the file, or of the target of a link to a regular file
   * @throws UserErrorException if the file cannot be written
   */
  public static Path requireWritable(Path file) {
    if (isStandardOutput(file)) {
      return STANDARD_OUTPUT;
    }
    if (Files.isDirectory(file) || file.getNameCount() == 0) {
      throw new UserErrorException(file + " is a directory, not a file");
    }
    Path target = isDirect(file) ? file.toAbsolutePath() : target(file);
    Path directory = target.getParent();
    if (!Files.isDirectory(directory)) {
      throw new UserErrorException(
          "cannot write %s: there is no directory %s".formatted(file, directory));
    }
    if ((!isDirect(file) && !Files.isWritable(directory))
        || (Files.exists(target) && !Files.isWritable(target))) {
      throw new UserErrorException("cannot write " + file + ": permission denied");
    }
    return target;
  }

  private static Path target(Path file) {
    try {
      if (Files.exists(file)) {
        return file.toRealPath();
      }
      Path target = file.toAbsolutePath();
      // The target of a link may not exist yet.
      for (int links = 0; Files.isSymbolicLink(target); links++) {
        if (links == MAX_LINKS) {
          throw new UserErrorException("cannot write " + file + ": too many links");
        }
        target = target.resolveSibling(Files.readSymbolicLink(target));
      }
      return target;
    } catch (IOException e) {
      throw UserErrorException.cannot("write", file, e);
    }
  }

  /** Whether this is a pipe or a device, whose content cannot be replaced. */
  static boolean isDirect(Path file) {
    return isDescriptor(file) || (Files.exists(file) && !Files.isRegularFile(file));
  }

  /** Whether this is {@code /dev/stdout} or its descriptor, even if it is redirected. */
  public static boolean isStandardOutput(Path file) {
    return isDescriptor(file) && file.toString().matches(".*(stdout|/1)");
  }

  private static boolean isDescriptor(Path file) {
    return DESCRIPTOR.matcher(file.toString()).matches();
  }

  public void write(byte[] bytes) {
    try {
      out.write(bytes);
    } catch (IOException e) {
      throw cannotWrite(e);
    }
  }

  void line(byte[]... parts) {
    for (byte[] part : parts) {
      write(part);
    }
    write(LINE_FEED);
  }

  /** Moves the file to its final name. */
  public void complete() {
    try {
      out.flush();
      if (!written.equals(file)) {
        // Without the sync, a power failure after the move could leave an empty file under the
        // name.
        channel.force(true);
      }
      closeChannel();
      if (!written.equals(file)) {
        move();
      }
      complete = true;
    } catch (IOException e) {
      throw cannotWrite(e);
    }
  }

  private void move() throws IOException {
    try {
      SyncedFiles.move(written, file);
    } catch (AtomicMoveNotSupportedException e) {
      Files.move(written, file, StandardCopyOption.REPLACE_EXISTING);
      SyncedFiles.syncDirectory(file.getParent());
    }
  }

  /** Deletes the file if it is not complete. */
  @Override
  public void close() throws IOException {
    closeChannel();
    if (!complete && !written.equals(file)) {
      Files.deleteIfExists(written);
    }
  }

  private void closeChannel() throws IOException {
    if (!isStandardOutput(written)) {
      channel.close();
    }
  }

  private UserErrorException cannotWrite(IOException e) {
    return UserErrorException.cannot("write", file, e);
  }
}
