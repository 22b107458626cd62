package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.events.EventParser;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.nio.ByteBuffer;

/** The format of events in a file, one per line. */
public enum FileFormat {
  /** A key; each line is an add at the time when the job reads it. */
  LINES,
  /** {@code epochSeconds TAB add|del TAB key}; a delete is written as {@code del}. */
  TSV,
  /** A JSON object with {@code ts}, {@code op}, {@code key} and an optional {@code scope}. */
  JSONL;

  SourceEvent parse(EventParser parser, byte[] line, Place place) {
    return switch (this) {
      case LINES -> parser.parseLine(line, place);
      case TSV -> parser.parseTsv(line, place);
      case JSONL -> parser.parseJson(line, place);
    };
  }

  /** The line from which a well-formed event of this format was parsed. */
  public byte[] write(SourceEvent event) {
    return switch (this) {
      case LINES -> {
        if (event.operation() != Operation.ADD) {
          throw new IllegalArgumentException(
              "a line of format lines can only add a key, got " + event);
        }
        yield event.key();
      }
      case TSV -> {
        byte[] key = event.key();
        String op = event.operation() == Operation.ADD ? "\tadd\t" : "\tdel\t";
        byte[] head = (event.timestampMillis() / 1000 + op).getBytes(US_ASCII);
        yield ByteBuffer.allocate(head.length + key.length).put(head).put(key).array();
      }
      case JSONL -> event.payload();
    };
  }
}
