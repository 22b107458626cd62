package io.firstseen.cli.shared;

import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** The input of a verb: a file, decompressed if its name ends in {@code .gz}, or standard input. */
public final class InputFile {
  /** Stands for standard input. */
  public static final String STANDARD_INPUT = "-";

  private static final int BUFFER_BYTES = 1 << 16;

  private InputFile() {}

  /**
   * Refuses an output that is the input, as writing it would lose that.
   *
   * @throws UserErrorException if both are one file
   */
  public static void requireOther(String pathOrDash, @Nullable Path output) throws IOException {
    if (output != null
        && !pathOrDash.equals(STANDARD_INPUT)
        && Files.isRegularFile(output)
        && Files.isRegularFile(path(pathOrDash))
        && Files.isSameFile(output, path(pathOrDash))) {
      throw new UserErrorException(output + " cannot be both input and output");
    }
  }

  /** The name of an input in messages. */
  public static Path nameOf(String pathOrDash) {
    return pathOrDash.equals(STANDARD_INPUT) ? Path.of("standard input") : path(pathOrDash);
  }

  /**
   * Opens an input.
   *
   * @throws UserErrorException if it cannot be opened
   */
  public static InputStream open(String pathOrDash) {
    if (pathOrDash.equals(STANDARD_INPUT)) {
      return System.in;
    }
    Path path = path(pathOrDash);
    if (Files.isDirectory(path)) {
      throw new UserErrorException("cannot read " + path + ": it is a directory");
    }
    EventFiles.requireKnownCompression(path);
    InputStream file = null;
    try {
      file = Files.newInputStream(path);
      return path.toString().endsWith(".gz") ? new GZIPInputStream(file, BUFFER_BYTES) : file;
    } catch (IOException e) {
      close(file);
      throw UserErrorException.cannot("read", path, e);
    }
  }

  /**
   * The path of that name.
   *
   * @throws UserErrorException if the name is not a valid path
   */
  public static Path path(String name) {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new UserErrorException("cannot read " + name + ": " + e.getReason());
    }
  }

  private static void close(@Nullable InputStream file) {
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        // The reason why it cannot be read is reported already.
      }
    }
  }
}
