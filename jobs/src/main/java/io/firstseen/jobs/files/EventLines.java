package io.firstseen.jobs.files;

import io.firstseen.events.EventParser;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import java.io.IOException;
import java.io.InputStream;
import org.apache.flink.connector.file.src.reader.StreamFormat;
import org.jspecify.annotations.Nullable;

/** The events of a stream of lines, in order. {@link EventFiles#source} defines lines. */
public final class EventLines implements StreamFormat.Reader<SourceEvent> {
  private final InputStream stream;
  private final LineReader lines;
  private final FileFormat format;
  private final EventParser parser;
  private final String name;

  /**
   * @param stream the decompressed lines
   * @param name the prefix of the events' places
   */
  public EventLines(InputStream stream, FileFormat format, EventParser parser, String name) {
    this.stream = stream;
    this.lines = new LineReader(stream, EventFiles.MAX_LINE_BYTES);
    this.format = format;
    this.parser = parser;
    this.name = name;
  }

  /**
   * Returns the next event; null at the end of the stream.
   *
   * @throws UserErrorException if the stream cannot be read
   */
  @Override
  public @Nullable SourceEvent read() {
    byte[] line;
    try {
      line = lines.next();
    } catch (IOException e) {
      throw new UserErrorException(
          "cannot read %s beyond line %d: %s"
              .formatted(name, lines.lineNumber(), UserErrorException.reason(e)));
    }
    if (line == null) {
      return null;
    }
    Place place = Place.of(name + ":" + lines.lineNumber());
    return lines.wasTooLong()
        ? SourceEvent.malformed(
            "line is longer than %d bytes".formatted(EventFiles.MAX_LINE_BYTES), line, place)
        : format.parse(parser, line, place);
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
