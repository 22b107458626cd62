package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;

/**
 * Recognises, without parsing or allocating, URLs that the normaliser behind {@link UrlNormaliser}
 * returns unchanged. In a real stream these are most canonical URLs and most hosts. One pass of the
 * normaliser takes microseconds, this takes a nanosecond for each byte. It may miss a normal URL
 * but never accepts another one; tests compare the two. Also recognises plain hosts, as in
 * blocklists.
 *
 * <p>Accepted are: a scheme in lower case; a host of lower-case letters, digits, {@code -}, {@code
 * _} and inner dots; no port, or one other than the scheme's default; a path of characters that
 * need no escape and of normalised escapes, in which no slash is followed by a slash or a dot; a
 * query, if any, of such characters, with parameters in order of name and without empty names or
 * values; and no fragment. Everything is ASCII.
 */
final class NormalUrl {
  private static final byte[][] SCHEMES = {ascii("http://"), ascii("https://"), ascii("ftp://")};
  private static final byte[][] OWN_PORTS = {ascii("80"), ascii("443"), ascii("21")};
  private static final int MAX_PORT_DIGITS = 5;

  private static final String DIGITS = "0123456789";
  private static final String LOWER = "abcdefghijklmnopqrstuvwxyz";
  private static final String UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

  /** RFC 3986's sub-delims and the rest of pchar, without those that separate query parameters. */
  private static final String MARKS = "!$'()*+,;:@";

  /** The parts of a URL in which a byte may occur; one bit each. */
  private static final int IN_HOST = 1;

  private static final int IN_PATH = 2;
  private static final int IN_QUERY = 4;
  private static final int UNRESERVED = 8;
  private static final byte[] USES = new byte[256];

  static {
    allow(IN_HOST, LOWER + DIGITS + "-_");
    allow(IN_PATH | IN_QUERY, LOWER + UPPER + DIGITS + "-_~" + MARKS);
    allow(IN_PATH, "&=");
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

  /** Whether {@code url} is certainly the bytes of a URL in normal form. */
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

  /** Whether {@code key} is only a plain host, which {@link #withScheme} turns into a URL. */
  static boolean isHost(byte[] key) {
    return endOfHost(key, 0) == key.length && key[0] != '-';
  }

  /** The normal URL of a host: {@code http://host/}. */
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

  /** The end of the host that starts at {@code from}, or -1 if it is not plainly normal. */
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
    return at == label ? -1 : at;
  }

  /**
   * The start of the path after the optional port at {@code from}; -1 if the port is not plainly
   * normal.
   */
  private static int endOfPort(byte[] url, int from, byte[] ownPort) {
    if (from == url.length || url[from] != ':') {
      return from;
    }
    int first = from + 1;
    int at = first;
    while (at < url.length && url[at] >= '0' && url[at] <= '9') {
      at++;
    }
    int digits = at - first;
    boolean plain = digits >= 1 && digits <= MAX_PORT_DIGITS && url[first] != '0';
    boolean own = digits == ownPort.length && continues(url, first, ownPort);
    return plain && !own ? at : -1;
  }

  /** The end of the path that starts at {@code from}, or -1 if it is not plainly normal. */
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
   * Whether the rest is empty, or a question mark and parameters in order of name without empty
   * names or values.
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
   * The index of the next {@code &} or {@code =} or of the end, or -1 if a character is not normal.
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
   * Whether there is a percent sign with two upper-case digits, for a character that must be
   * escaped.
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
