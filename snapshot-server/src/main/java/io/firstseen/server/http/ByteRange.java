package io.firstseen.server.http;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A part of some content.
 *
 * @param start its first byte
 * @param length the number of its bytes, at least 1
 * @param total the total number of bytes of the content
 */
record ByteRange(int start, int length, int total) {
  // RFC 9110, section 14.1.2: one range, at least one of its ends given.
  private static final Pattern ONE =
      Pattern.compile("bytes=\\s*([0-9]*)-([0-9]*)\\s*", Pattern.CASE_INSENSITIVE);

  /**
   * Reads a Range header. Empty if the whole content is to be sent, because the header is absent or
   * this server does not support it.
   *
   * @throws HttpFailure with 416 if the range lies beyond the content
   */
  static Optional<ByteRange> parse(String header, int total) throws HttpFailure {
    if (header == null) {
      return Optional.empty();
    }
    Matcher matcher = ONE.matcher(header.strip());
    if (!matcher.matches() || (matcher.group(1).isEmpty() && matcher.group(2).isEmpty())) {
      return Optional.empty();
    }
    long first;
    long last;
    if (matcher.group(1).isEmpty()) {
      first = Math.max(0, total - number(matcher.group(2)));
      last = total - 1L;
    } else {
      first = number(matcher.group(1));
      last = matcher.group(2).isEmpty() ? Long.MAX_VALUE : number(matcher.group(2));
      if (last < first) {
        return Optional.empty();
      }
    }
    last = Math.min(last, total - 1L);
    if (first > last) {
      throw new HttpFailure(
          416,
          "the range must begin within the " + total + " bytes, got '" + header.strip() + "'",
          Map.of("content-range", "bytes */" + total));
    }
    return Optional.of(new ByteRange((int) first, (int) (last - first + 1), total));
  }

  private static long number(String digits) {
    // More than 12 digits exceed any content, and may overflow a long.
    return digits.length() > 12 ? Long.MAX_VALUE / 2 : Long.parseLong(digits);
  }

  String contentRange() {
    return "bytes " + start + "-" + (start + length - 1) + "/" + total;
  }
}
