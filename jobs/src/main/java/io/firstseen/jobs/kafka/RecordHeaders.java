package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * The headers of records that the jobs write. Event time is in a header because the broker
 * interprets a record's timestamp: it rejects times that are too far ahead, and deletes by age.
 */
public final class RecordHeaders {
  /** Event time in milliseconds since the epoch, 8 bytes, big-endian. */
  public static final String TIMESTAMP = "firstseen.timestamp";

  /** For duplicates: {@code duplicate}, {@code false-duplicate} or {@code unknown-delete}. */
  public static final String OUTCOME = "firstseen.outcome";

  /**
   * With {@code --near}, on the accepted topic the id of the text, on the duplicates topic the id
   * of the text that it matches, or the last digits of the id.
   */
  public static final String MATCH = "firstseen.match";

  /** With {@code --near}, on the duplicates topic: the number of equal bands. */
  public static final String BANDS = "firstseen.bands";

  /** On the dead-letters topic: the reason why the record is unusable. */
  public static final String REASON = "firstseen.reason";

  /** On the dead-letters topic: the place of the record in the input. */
  public static final String PLACE = "firstseen.place";

  private RecordHeaders() {}

  static void writeTimestamp(Headers headers, long timestampMillis) {
    headers.add(TIMESTAMP, ByteBuffer.allocate(Long.BYTES).putLong(timestampMillis).array());
  }

  static void writeText(Headers headers, String name, String text) {
    headers.add(name, text.getBytes(UTF_8));
  }

  /** The event time of the header; {@code recordTimestampMillis} without the header. */
  static long timestampMillis(Headers headers, long recordTimestampMillis) {
    Header header = headers.lastHeader(TIMESTAMP);
    return header != null && header.value() != null && header.value().length == Long.BYTES
        ? ByteBuffer.wrap(header.value()).getLong()
        : recordTimestampMillis;
  }
}
