package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.jobs.events.EventParser;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.util.Arrays;
import java.util.Locale;

/** The format of events in a file, one per line. */
public enum FileFormat {
  /** A key; each line is an add at the time when it is read. */
  LINES {
    @Override
    SourceEvent parse(EventParser parser, byte[] line, Place place) {
      return parser.parseLine(line, place);
    }

    @Override
    public byte[] write(SourceEvent event) {
      if (event.operation() != Operation.ADD) {
        throw new IllegalArgumentException("a line of a key can only add it, got " + event);
      }
      return event.key();
    }
  },

  /** {@code epochSeconds TAB add|del TAB key}; a delete is written as {@code del}. */
  TSV {
    @Override
    SourceEvent parse(EventParser parser, byte[] line, Place place) {
      return parser.parseTsv(line, place);
    }

    @Override
    public byte[] write(SourceEvent event) {
      byte[] key = event.key();
      String op = event.operation() == Operation.ADD ? "\tadd\t" : "\tdel\t";
      byte[] head = (event.timestampMillis() / 1000 + op).getBytes(US_ASCII);
      byte[] line = Arrays.copyOf(head, head.length + key.length);
      System.arraycopy(key, 0, line, head.length, key.length);
      return line;
    }
  },

  /** A JSON object with {@code ts}, {@code op}, {@code key} and perhaps {@code scope}. */
  JSONL {
    @Override
    SourceEvent parse(EventParser parser, byte[] line, Place place) {
      return parser.parseJson(line, place);
    }

    @Override
    public byte[] write(SourceEvent event) {
      return event.payload();
    }
  };

  /** The event of a line. */
  abstract SourceEvent parse(EventParser parser, byte[] line, Place place);

  /** The line of a well-formed event of this format: the one that it was parsed from. */
  public abstract byte[] write(SourceEvent event);

  /** The name in options: {@code lines}, {@code tsv} or {@code jsonl}. */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
