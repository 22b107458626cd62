package io.firstseen.cli.shared;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

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
import java.util.List;
import java.util.Map;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/** The input of a verb: a file or standard input, decompressed if it is in gzip format. */
public final class InputFile {
  public static final String STANDARD_INPUT = "-";

  private static final String GZIP_SUFFIX = ".gz";
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int HEAD_BYTES = 512;

  /** Files that are not text, by their first bytes; longer prefixes first. */
  private static final List<Map.Entry<String, String>> KINDS =
      List.of(
          Map.entry("PK\3\4", "a zip archive"),
          Map.entry("PK\5\6", "a zip archive"),
          Map.entry("7z\u00BC\u00AF'\u001C", "a 7z archive"),
          Map.entry("Rar!\u001A\7", "a rar archive"),
          Map.entry("BZh", "compressed by bzip2"),
          Map.entry("\u00FD7zXZ\0", "compressed by xz"),
          Map.entry("]\0\0", "compressed by lzma"),
          Map.entry("(\u00B5/\u00FD", "compressed by zstd"),
          Map.entry("\4\"M\u0018", "compressed by lz4"),
          Map.entry("\u001F\u009D", "compressed by compress"),
          Map.entry("x\1", "compressed by zlib"),
          Map.entry("x\u009C", "compressed by zlib"),
          Map.entry("x\u00DA", "compressed by zlib"),
          Map.entry("\u00FF\6\0\0sNaPpY", "compressed by snappy"),
          Map.entry("PAR1\u0015", "a Parquet file"),
          Map.entry("Obj\1", "an Avro file"),
          Map.entry("SQLite format 3\0", "an SQLite database"),
          Map.entry("%PDF-", "a PDF document"),
          Map.entry("\u00FF\u00FE\0\0", "text in UTF-32"),
          Map.entry("\0\0\u00FE\u00FF", "text in UTF-32"),
          Map.entry("\u00FF\u00FE", "text in UTF-16"),
          Map.entry("\u00FE\u00FF", "text in UTF-16"));

  private InputFile() {}

  /** Refuses an output file that is the input, which writing would destroy. */
  public static void requireOther(String pathOrDash, @Nullable Path output) throws IOException {
    if (output != null
        && !pathOrDash.equals(STANDARD_INPUT)
        && Files.isRegularFile(output)
        && Files.isRegularFile(path(pathOrDash))
        && Files.isSameFile(output, path(pathOrDash))) {
      throw new UserErrorException(output + " cannot be both input and output");
    }
  }

  public static Path nameOf(String pathOrDash) {
    return pathOrDash.equals(STANDARD_INPUT) ? Path.of("standard input") : path(pathOrDash);
  }

  /** Opens an input of any bytes, which is decompressed if its name ends in {@code .gz}. */
  public static InputStream open(String pathOrDash) {
    InputStream raw = openRaw(pathOrDash);
    try {
      return pathOrDash.endsWith(GZIP_SUFFIX) ? gunzip(raw) : raw;
    } catch (IOException e) {
      IOUtils.closeQuietly(raw);
      throw UserErrorException.cannot("read", nameOf(pathOrDash), e);
    }
  }

  /** Opens an input of text, in gzip format or not; a user error if it is anything else. */
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
      IOUtils.closeQuietly(raw);
      throw UserErrorException.cannot("read", name, e);
    } catch (UserErrorException e) {
      IOUtils.closeQuietly(raw);
      throw e;
    }
  }

  /** Decompresses all members of gzip data, and fails on anything behind them. */
  private static InputStream gunzip(InputStream stream) throws IOException {
    return new GzipCompressorInputStream(new BufferedInputStream(stream, BUFFER_BYTES), true);
  }

  private static boolean isGzip(byte[] head) {
    return new String(head, ISO_8859_1).startsWith("\u001F\u008B");
  }

  /**
   * Whether Flink's file source reads a text as {@link #openText} does. Flink decompresses files by
   * their names, and ignores damage in gzip data, so such a file is first decompressed here.
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
    String text = new String(head, ISO_8859_1);
    for (Map.Entry<String, String> kind : KINDS) {
      if (text.startsWith(kind.getKey())) {
        return kind.getValue();
      }
    }
    if (text.startsWith("ustar", 257)) {
      return "a tar archive";
    }
    return text.chars().filter(c -> c == 0).count() * 4 >= Math.max(text.length(), 1)
        ? "binary, with many zero bytes"
        : null;
  }

  /** The path of that name; a user error if it is not valid. */
  public static Path path(String name) {
    try {
      return Path.of(name);
    } catch (InvalidPathException e) {
      throw new UserErrorException("cannot read " + name + ": " + e.getReason());
    }
  }
}
