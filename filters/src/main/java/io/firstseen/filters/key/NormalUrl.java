package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;

/**
 * Recognises, without allocating, URLs that {@link UrlNormaliser} returns unchanged. In real
 * streams it recognises most hosts and most of the URLs that are canonical. It takes one nanosecond
 * per byte. It may miss a normal URL but never accepts another one; tests compare the two. Also
 * recognises plain hosts, as in blocklists.
 *
 * <p>Accepted are: a scheme in lower case; a host of lower-case letters, digits, {@code -}, {@code
 * _} and inner dots, and four decimal numbers if its last label is a number; no port, or one other
 * than the scheme's default; a path of unescaped characters and normalised escapes, in which no
 * slash is followed by a slash or a dot; a query, if any, of such characters, with parameters in
 * order of name and without empty names or values; and no fragment. Everything is ASCII.
 */
final class NormalUrl {
  private static final byte[][] SCHEMES = {ascii("http://"), ascii("https://"), ascii("ftp://")};
  private static final byte[][] OWN_PORTS = {ascii("80"), ascii("443"), ascii("21")};
  private static final int MAX_PORT = 65_535;

  private static final String DIGITS = "0123456789";
  private static final String LOWER = "abcdefghijklmnopqrstuvwxyz";
  private static final String UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

  /** RFC 3986's sub-delims and the rest of pchar, without those that have a meaning in a query. */
  private static final String MARKS = "!$()*+,;:@";

  /** The parts of a URL in which a byte may occur, one bit per part. */
  private static final int IN_HOST = 1;

  private static final int IN_PATH = 2;
  private static final int IN_QUERY = 4;
  private static final int UNRESERVED = 8;
  private static final byte[] USES = new byte[256];

  static {
    allow(IN_HOST, LOWER + DIGITS + "-_");
    allow(IN_PATH | IN_QUERY, LOWER + UPPER + DIGITS + "-_~" + MARKS);
    allow(IN_PATH, "&='");
    allow(IN_QUERY, "./?");
    allow(UNRESERVED, LOWER + UPPER + DIGITS + "-._~");
  }

  private NormalUrl() {}

  private static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }

  private static void allow(int use, String characters) {
    for (byte c : ascii(characters)) {
      USES[c] |= (byte) use;
    }
  }

  private static boolean is(int use, byte c) {
    return (USES[c & 0xFF] & use) != 0;
  }

  /** Returns true only if {@code url} is a URL in normal form. */
  static boolean matches(byte[] url) {
    for (int scheme = 0; scheme < SCHEMES.length; scheme++) {
      if (continues(url, 0, SCHEMES[scheme])) {
        int host = SCHEMES[scheme].length;
        int port = endOfHost(url, host);
        if (port < 0) {
          return false;
        }
        int path = endOfPort(url, port, OWN_PORTS[scheme]);
        int query = path < 0 ? -1 : endOfPath(url, path);
        return query >= 0 && isNormalQuery(url, query);
      }
    }
    return false;
  }

  /**
   * Returns the index at which the host starts in {@code url}, after an accepted scheme; 0 if it
   * does not start with one.
   */
  static int afterScheme(byte[] url) {
    for (byte[] scheme : SCHEMES) {
      if (continues(url, 0, scheme)) {
        return scheme.length;
      }
    }
    return 0;
  }

  /**
   * Returns whether the bytes from {@code from} on are certainly an expression in normal form: as
   * {@link #matches} has it, but with any parameters in any order, and without escapes and default
   * ports.
   */
  static boolean isExpression(byte[] url, int from) {
    int path = endOfHost(url, from);
    if (path >= 0 && path < url.length && url[path] == ':') {
      int port = path;
      for (byte[] own : OWN_PORTS) {
        path = path < 0 ? -1 : endOfPort(url, port, own);
      }
    }
    int query = path < 0 ? -1 : endOfPath(url, path);
    if (query < 0) {
      return false;
    }
    int at = query + 1;
    while (at < url.length && (is(IN_QUERY, url[at]) || url[at] == '&' || url[at] == '=')) {
      at++;
    }
    boolean ends = query == url.length || (at == url.length && at > query + 1);
    return ends && !hasEscape(url, path, query);
  }

  private static boolean hasEscape(byte[] url, int from, int to) {
    for (int at = from; at < to; at++) {
      if (url[at] == '%') {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether {@code key} is only a plain host, which {@link #withScheme} turns into a URL.
   */
  static boolean isHost(byte[] key) {
    return endOfHost(key, 0) == key.length;
  }

  /** Returns the normal URL of a host: {@code http://host/}. */
  static byte[] withScheme(byte[] host) {
    byte[] http = SCHEMES[0];
    byte[] url = Arrays.copyOf(http, http.length + host.length + 1);
    System.arraycopy(host, 0, url, http.length, host.length);
    url[url.length - 1] = '/';
    return url;
  }

  private static boolean continues(byte[] url, int from, byte[] part) {
    int to = from + part.length;
    return to <= url.length && Arrays.equals(url, from, to, part, 0, part.length);
  }

  /** Returns the end of the host that starts at {@code from}, or -1 if it is not plainly normal. */
  private static int endOfHost(byte[] url, int from) {
    int at = from;
    int label = from;
    while (at < url.length) {
      byte c = url[at];
      if (c == '.' && at > label) {
        label = at + 1;
      } else if (!is(IN_HOST, c)) {
        break;
      }
      at++;
    }
    // -1 for an empty host, a host that starts or ends with a dot, or two dots in a row.
    if (at == label || (isDigit(url[label]) && !endsPlainly(url, from, label, at))) {
      return -1;
    }
    return at;
  }

  /**
   * Returns whether a host whose last label starts with a digit is not an address, or is an address
   * in dotted decimal.
   */
  private static boolean endsPlainly(byte[] url, int from, int label, int to) {
    boolean hexadecimal = label + 1 < to && url[label] == '0' && url[label + 1] == 'x';
    int digits = label;
    while (digits < to && isDigit(url[digits])) {
      digits++;
    }
    return digits < to ? !hexadecimal : isDottedDecimal(url, from, to);
  }

  private static boolean isDottedDecimal(byte[] url, int from, int to) {
    int numbers = 1;
    int value = 0;
    int start = from;
    for (int at = from; at < to; at++) {
      if (url[at] == '.') {
        numbers++;
        value = 0;
        start = at + 1;
      } else if (!isDigit(url[at]) || (at > start && value == 0)) {
        return false;
      } else {
        value = 10 * value + url[at] - '0';
        if (value > 255) {
          return false;
        }
      }
    }
    return numbers == 4;
  }

  private static boolean isDigit(byte c) {
    return c >= '0' && c <= '9';
  }

  /**
   * Returns the start of the path after the optional port at {@code from}; -1 if the port is not
   * plainly normal.
   */
  private static int endOfPort(byte[] url, int from, byte[] ownPort) {
    if (from == url.length || url[from] != ':') {
      return from;
    }
    int first = from + 1;
    int at = first;
    int port = 0;
    while (at < url.length && isDigit(url[at]) && port <= MAX_PORT) {
      port = 10 * port + url[at] - '0';
      at++;
    }
    int digits = at - first;
    boolean plain = digits >= 1 && port <= MAX_PORT && url[first] != '0';
    boolean own = digits == ownPort.length && continues(url, first, ownPort);
    return plain && !own ? at : -1;
  }

  /** Returns the end of the path that starts at {@code from}, or -1 if it is not plainly normal. */
  private static int endOfPath(byte[] url, int from) {
    if (from == url.length || url[from] != '/') {
      return -1;
    }
    int at = from + 1;
    while (at < url.length) {
      byte c = url[at];
      if (is(IN_PATH, c)) {
        at++;
      } else if (c == '/' || c == '.') {
        if (url[at - 1] == '/') {
          return -1;
        }
        at++;
      } else if (c == '?') {
        break;
      } else if (isNormalEscape(url, at)) {
        at += 3;
      } else {
        return -1;
      }
    }
    return at;
  }

  /**
   * Returns whether the rest is empty, or a question mark and parameters in order of name without
   * empty names or values.
   */
  private static boolean isNormalQuery(byte[] url, int from) {
    int previous = from;
    int previousEnd = from;
    int at = from;
    while (at < url.length) {
      int name = at + 1;
      int nameEnd = endOfQueryPart(url, name);
      if (nameEnd <= name || Arrays.compare(url, name, nameEnd, url, previous, previousEnd) < 0) {
        return false;
      }
      at = nameEnd;
      // The first equals sign separates name and value; the others belong to the value.
      while (at >= 0 && at < url.length && url[at] == '=') {
        at = endOfQueryPart(url, at + 1);
      }
      if (at < 0 || at == nameEnd + 1) {
        return false;
      }
      previous = name;
      previousEnd = nameEnd;
    }
    return true;
  }

  /**
   * Returns the index of the next {@code &} or {@code =} or of the end, or -1 if a character is not
   * normal.
   */
  private static int endOfQueryPart(byte[] url, int from) {
    int at = from;
    while (at < url.length) {
      byte c = url[at];
      if (is(IN_QUERY, c)) {
        at++;
      } else if (c == '&' || c == '=') {
        break;
      } else if (isNormalEscape(url, at)) {
        at += 3;
      } else {
        return -1;
      }
    }
    return at;
  }

  /**
   * Returns whether there is a percent sign with two upper-case digits, for a character that must
   * be escaped.
   */
  private static boolean isNormalEscape(byte[] url, int at) {
    if (url[at] != '%' || at + 2 >= url.length) {
      return false;
    }
    int high = upperHex(url[at + 1]);
    int low = upperHex(url[at + 2]);
    return high >= 0 && low >= 0 && !is(UNRESERVED, (byte) (high << 4 | low));
  }

  private static int upperHex(byte c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  }
}
