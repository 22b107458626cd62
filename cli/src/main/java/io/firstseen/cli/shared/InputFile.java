package io.firstseen.cli.shared;

import io.firstseen.jobs.files.EventFiles;
import io.firstseen.operators.UserErrorException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PushbackInputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;
import org.jspecify.annotations.Nullable;

/** The input of a verb: a file or standard input, decompressed if it is in gzip format. */
public final class InputFile {
  /** Stands for standard input. */
  public static final String STANDARD_INPUT = "-";

  private static final String GZIP_SUFFIX = ".gz";
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
   * Opens an input of any bytes, which is decompressed if its name ends in {@code .gz}.
   *
   * @throws UserErrorException if it cannot be opened
   */
  public static InputStream open(String pathOrDash) {
    InputStream raw = openRaw(pathOrDash);
    try {
      return pathOrDash.endsWith(GZIP_SUFFIX) ? gunzip(raw) : raw;
    } catch (IOException e) {
      close(raw);
      throw UserErrorException.cannot("read", nameOf(pathOrDash), e);
    }
  }

  /**
   * Opens an input of text. Data in gzip format is decompressed whatever the name of the file.
   *
   * @throws UserErrorException if it cannot be opened, is an archive, compressed otherwise or
   *     twice, UTF-16, or binary, or is not in gzip format but named so
   */
  public static InputStream openText(String pathOrDash) {
    return text(openRaw(pathOrDash), nameOf(pathOrDash));
  }

  private static InputStream openRaw(String pathOrDash) {
    if (pathOrDash.equals(STANDARD_INPUT)) {
      return System.in;
    }
    Path path = path(pathOrDash);
    if (Files.isDirectory(path)) {
      throw new UserErrorException("cannot read " + path + ": it is a directory");
    }
    EventFiles.requireKnownCompression(path);
    try {
      return Files.newInputStream(path);
    } catch (IOException e) {
      throw UserErrorException.cannot("read", path, e);
    }
  }

  static InputStream text(InputStream raw, Path name) {
    try {
      PushbackInputStream stream = withHead(raw);
      byte[] head = head(stream);
      if (isGzip(head)) {
        stream = withHead(gunzip(stream));
        head = head(stream);
      } else if (head.length > 0 && name.toString().endsWith(GZIP_SUFFIX)) {
        throw new UserErrorException(name + " is not in gzip format");
      }
      String kind = isGzip(head) ? "compressed twice by gzip" : kindOfBinary(head);
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

  /** Decompresses all members of gzip data, and fails on anything behind them. */
  private static InputStream gunzip(InputStream stream) throws IOException {
    return new GzipCompressorInputStream(new BufferedInputStream(stream, BUFFER_BYTES), true);
  }

  private static boolean isGzip(byte[] head) {
    return startsWith(head, 0, 0x1F, 0x8B);
  }

  /**
   * Whether Flink's file source reads a file as {@link #openText} does: Flink decompresses files by
   * their names, and ends at a damaged member of gzip data without an error. So a file that is
   * named so is decompressed here once before.
   *
   * @throws UserErrorException if {@link #openText} rejects the file
   */
  public static boolean isReadByName(Path file) {
    try (InputStream raw = openRaw(file.toString());
        InputStream text = openText(file.toString())) {
      boolean isNamedGzip = file.toString().endsWith(GZIP_SUFFIX);
      if (isNamedGzip) {
        text.transferTo(OutputStream.nullOutputStream());
      }
      return isNamedGzip || !isGzip(raw.readNBytes(2));
    } catch (IOException e) {
      throw UserErrorException.cannot("read", file, e);
    }
  }

  private static PushbackInputStream withHead(InputStream stream) {
    return new PushbackInputStream(stream, HEAD_BYTES);
  }

  private static byte[] head(PushbackInputStream stream) throws IOException {
    byte[] head = stream.readNBytes(HEAD_BYTES);
    stream.unread(head);
    return head;
  }

  private static @Nullable String kindOfBinary(byte[] head) {
    if (startsWith(head, 0, 'P', 'K', 3, 4) || startsWith(head, 0, 'P', 'K', 5, 6)) {
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
