package io.firstseen.cli.shared;

import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
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
  private static final int HEAD_BYTES = 512;

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
   * Opens an input of text. Data in gzip format is decompressed whatever the name of the file.
   *
   * @throws UserErrorException if it cannot be opened, or is an archive, compressed otherwise,
   *     UTF-16, or binary
   */
  public static InputStream openText(String pathOrDash) {
    return text(open(pathOrDash), nameOf(pathOrDash));
  }

  static InputStream text(InputStream raw, Path name) {
    try {
      PushbackInputStream stream = withHead(raw);
      byte[] head = head(stream);
      if (startsWith(head, 0, 0x1F, 0x8B)) {
        stream = withHead(new GZIPInputStream(neverEmpty(stream), BUFFER_BYTES));
        head = head(stream);
      }
      String kind = kindOfBinary(head);
      if (kind != null) {
        throw new UserErrorException(
            "cannot read %s: it is %s; pass text in UTF-8, or such text in gzip format"
                .formatted(name, kind));
      }
      return stream;
    } catch (IOException e) {
      close(raw);
      throw UserErrorException.cannot("read", name, e);
    } catch (UserErrorException e) {
      close(raw);
      throw e;
    }
  }

  /**
   * Rejects a file that is not text, and gzip data in a file whose name does not end in {@code
   * .gz}: Flink decompresses files by their names.
   *
   * @throws UserErrorException if it is such a file
   */
  public static void requireText(Path file) {
    if (!Files.isRegularFile(file)) {
      return;
    }
    try (InputStream raw = Files.newInputStream(file)) {
      openText(file.toString()).close();
      if (!file.toString().endsWith(".gz") && startsWith(raw.readNBytes(2), 0, 0x1F, 0x8B)) {
        throw new UserErrorException(
            "cannot read " + file + ": it is in gzip format, but its name does not end in .gz");
      }
    } catch (IOException e) {
      throw UserErrorException.cannot("read", file, e);
    }
  }

  private static PushbackInputStream withHead(InputStream stream) {
    return new PushbackInputStream(stream, HEAD_BYTES);
  }

  /** GZIPInputStream ends at a member after which no byte is available, even if a pipe is slow. */
  private static InputStream neverEmpty(InputStream stream) {
    return new FilterInputStream(stream) {
      @Override
      public int available() throws IOException {
        return Math.max(1, super.available());
      }
    };
  }

  private static byte[] head(PushbackInputStream stream) throws IOException {
    byte[] head = stream.readNBytes(HEAD_BYTES);
    stream.unread(head);
    return head;
  }

  private static @Nullable String kindOfBinary(byte[] head) {
    if (startsWith(head, 0, 'P', 'K', 3, 4)) {
      return "a zip archive";
    } else if (startsWith(head, 257, 'u', 's', 't', 'a', 'r')) {
      return "a tar archive";
    } else if (startsWith(head, 0, 'B', 'Z', 'h')) {
      return "compressed by bzip2";
    } else if (startsWith(head, 0, 0xFD, '7', 'z', 'X', 'Z', 0)) {
      return "compressed by xz";
    } else if (startsWith(head, 0, 0x28, 0xB5, 0x2F, 0xFD)) {
      return "compressed by zstd";
    } else if (startsWith(head, 0, 0xFF, 0xFE) || startsWith(head, 0, 0xFE, 0xFF)) {
      return "text in UTF-16";
    }
    int zeros = 0;
    for (byte b : head) {
      zeros += b == 0 ? 1 : 0;
    }
    return zeros > 0 && zeros >= head.length / 4 ? "binary, with many zero bytes" : null;
  }

  private static boolean startsWith(byte[] head, int from, int... bytes) {
    for (int i = 0; i < bytes.length; i++) {
      if (from + i >= head.length || (head[from + i] & 0xFF) != bytes[i]) {
        return false;
      }
    }
    return true;
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
