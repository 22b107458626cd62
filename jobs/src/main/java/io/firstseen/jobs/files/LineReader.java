package io.firstseen.jobs.files;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Splits a stream into lines of bytes. A line ends with LF or CR LF, which are not part of the
 * line; the last line may end with the stream. A byte order mark at the start of the stream, {@code
 * EF BB BF}, is not part of the first line. Only the start of an overlong line is kept, so memory
 * is bounded.
 */
public final class LineReader {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final InputStream in;
  private final int maxLineBytes;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private int position;
  private int limit;
  private long lines;
  private boolean tooLong;
  private boolean isStarted;

  public LineReader(InputStream in, int maxLineBytes) {
    this.in = in;
    this.maxLineBytes = maxLineBytes;
  }

  /** Returns the next line; null at the end of the stream. */
  public byte @Nullable [] next() throws IOException {
    tooLong = false;
    if (!fill()) {
      return null;
    }
    lines++;
    int end = endOfLine();
    if (end < limit) {
      byte[] line = cut(Arrays.copyOfRange(buffer, position, end));
      position = end + 1;
      return line;
    }
    ByteArrayOutputStream start = new ByteArrayOutputStream(2 * BUFFER_BYTES);
    boolean isEnded;
    do {
      end = endOfLine();
      isEnded = end < limit;
      // The byte after the limit may be the CR before the LF.
      int room = maxLineBytes + 1 - start.size();
      int length = end - position;
      tooLong |= length > room;
      start.write(buffer, position, Math.min(length, room));
      position = isEnded ? end + 1 : limit;
    } while (!isEnded && fill());
    return cut(start.toByteArray());
  }

  /** Removes the CR at the end, and truncates the line at the limit. */
  private byte[] cut(byte[] line) {
    int length = line.length;
    if (!tooLong && length > 0 && line[length - 1] == '\r') {
      length--;
    }
    if (length > maxLineBytes) {
      tooLong = true;
      length = maxLineBytes;
    }
    return length == line.length ? line : Arrays.copyOf(line, length);
  }

  private int endOfLine() {
    int end = position;
    while (end < limit && buffer[end] != '\n') {
      end++;
    }
    return end;
  }

  private boolean fill() throws IOException {
    if (!isStarted) {
      isStarted = true;
      if (!passByteOrderMark()) {
        return false;
      }
    }
    if (position < limit) {
      return true;
    }
    position = 0;
    limit = 0;
    int read = in.read(buffer, 0, buffer.length);
    limit = Math.max(read, 0);
    return read > 0;
  }

  /** Returns false if the stream is empty. */
  private boolean passByteOrderMark() throws IOException {
    for (int i = 0; i < BYTE_ORDER_MARK.length; i++) {
      if (i == limit) {
        // A pipe may deliver one byte at a time.
        limit += Math.max(in.read(buffer, limit, buffer.length - limit), 0);
      }
      if (i == limit || buffer[i] != BYTE_ORDER_MARK[i]) {
        return limit > 0;
      }
    }
    position = BYTE_ORDER_MARK.length;
    return true;
  }

  /** The number of the line read last, from 1. */
  public long lineNumber() {
    return lines;
  }

  /** Whether the line read last was too long and only its start was returned. */
  public boolean wasTooLong() {
    return tooLong;
  }
}
