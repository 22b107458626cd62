package io.firstseen.jobs.files;

import io.firstseen.events.EventParser;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SourceEvent;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.enumerate.NonSplittingRecursiveEnumerator;
import org.apache.flink.connector.file.src.reader.SimpleStreamFormat;
import org.apache.flink.connector.file.src.reader.StreamFormat;
import org.apache.flink.core.fs.FSDataInputStream;

/** A bounded source of the events in one file, in order. */
public final class EventFiles {
  /** The maximum length of a line in bytes; a longer line is an event with a problem. */
  public static final int MAX_LINE_BYTES = 1 << 20;

  // The file name extensions that Flink's source decompresses, except .gz.
  private static final Pattern OTHER_COMPRESSION =
      Pattern.compile("(gz|gzip|deflate|bz2|xz|zst)$", Pattern.CASE_INSENSITIVE);

  private EventFiles() {}

  /**
   * The events of a file, line by line; places are {@code name:line}. A file whose name ends in
   * {@code .gz} is decompressed.
   *
   * <p>Lines end with LF or CR LF; the last line may end with the file. An empty line, like any
   * line that the format does not allow, is an event with a problem. The event of a line longer
   * than {@link #MAX_LINE_BYTES} contains only the start of the line.
   *
   * @throws UserErrorException if the file is missing or unreadable, if a {@code .gz} file is not
   *     in gzip format, or if the file has a different compression
   */
  public static FileSource<SourceEvent> source(Path file, FileFormat format, EventParser parser) {
    if (!Files.exists(file)) {
      throw new UserErrorException(file + " does not exist");
    }
    if (Files.isDirectory(file)) {
      throw new UserErrorException(file + " is a directory, not a file");
    }
    if (!Files.isReadable(file)) {
      throw new UserErrorException("cannot read " + file + ": permission denied");
    }
    requireKnownCompression(file);
    requireGzipIfNamedSo(file);
    String name = String.valueOf(file.getFileName());
    var lines =
        new SimpleStreamFormat<SourceEvent>() {
          private static final long serialVersionUID = 1;

          @Override
          public StreamFormat.Reader<SourceEvent> createReader(
              Configuration config, FSDataInputStream stream) {
            return new EventLines(stream, format, parser, name);
          }

          @Override
          public TypeInformation<SourceEvent> getProducedType() {
            return TypeInformation.of(SourceEvent.class);
          }
        };
    // By default, Flink skips names that start with a dot or an underscore, and fails on an empty
    // file.
    return FileSource.forRecordStreamFormat(lines, new org.apache.flink.core.fs.Path(file.toUri()))
        .setFileEnumerator(
            () ->
                new NonSplittingRecursiveEnumerator(path -> new File(path.getPath()).length() > 0))
        .build();
  }

  /**
   * Rejects a file that Flink would decompress by its name, unless the name ends in {@code .gz}.
   *
   * @throws UserErrorException if Flink would decompress the file
   */
  public static void requireKnownCompression(Path file) {
    if (!file.toString().endsWith(".gz") && OTHER_COMPRESSION.matcher(file.toString()).find()) {
      throw new UserErrorException(
          "cannot read %s: the only supported compression is .gz".formatted(file));
    }
  }

  private static void requireGzipIfNamedSo(Path file) {
    if (!file.toString().endsWith(".gz")) {
      return;
    }
    try (InputStream raw = Files.newInputStream(file)) {
      if (Files.size(file) > 0) {
        new GZIPInputStream(raw).close();
      }
    } catch (ZipException e) {
      throw new UserErrorException(file + " is not in gzip format");
    } catch (IOException e) {
      throw UserErrorException.cannot("read", file, e);
    }
  }
}
