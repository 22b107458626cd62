package io.firstseen.filters.key;

/**
 * Recognises, without parsing, URLs that the normaliser behind {@link UrlNormaliser} returns as
 * they are: most canonical forms and most hosts of a real stream. One pass of the normaliser costs
 * microseconds, this costs nanoseconds. It may overlook a normal URL, never wrongly accept one; a
 * property test holds the two together.
 *
 * <p>Accepted are: a scheme in lower case; a host of lower-case letters, digits, {@code -}, {@code
 * _} and inner dots; no port, or one other than the scheme's own; a path of characters that need no
 * escape, or escapes in their one spelling, in which no slash stands next to a slash or a dot; a
 * query, if any, of such characters, its parameters in order of name and neither names nor values
 * empty; and no fragment.
 */
final class NormalUrl {
  private static final String[] SCHEMES = {"http://", "https://", "ftp://"};
  private static final String[] OWN_PORTS = {"80", "443", "21"};
  private static final int MAX_PORT_DIGITS = 5;

  /** Besides letters and digits: RFC 3986's unreserved, sub-delims, and the rest of pchar. */
  private static final String UNESCAPED_MARKS = "-._~!$&'()*+,;=:@";

  private NormalUrl() {}

  /** Whether {@code url} is certainly in normal form. */
  static boolean matches(String url) {
    for (int scheme = 0; scheme < SCHEMES.length; scheme++) {
      if (url.startsWith(SCHEMES[scheme])) {
        int host = SCHEMES[scheme].length();
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

  /** Where the host that starts at {@code from} ends, or -1 if it is not plainly normal. */
  private static int endOfHost(String url, int from) {
    int at = from;
    char previous = '.';
    for (; at < url.length(); at++) {
      char c = url.charAt(at);
      boolean dot = c == '.';
      if (dot ? previous == '.' : !(isLower(c) || isDigit(c) || c == '-' || c == '_')) {
        break;
      }
      previous = c;
    }
    // An empty host, one that starts or ends with a dot, or two dots in a row.
    return previous == '.' ? -1 : at;
  }

  /** Where the path starts behind the port, if any, that starts at {@code from}; or -1. */
  private static int endOfPort(String url, int from, String ownPort) {
    if (from == url.length() || url.charAt(from) != ':') {
      return from;
    }
    int first = from + 1;
    int at = first;
    while (at < url.length() && isDigit(url.charAt(at))) {
      at++;
    }
    int digits = at - first;
    boolean plain = digits >= 1 && digits <= MAX_PORT_DIGITS && url.charAt(first) != '0';
    boolean own = digits == ownPort.length() && url.startsWith(ownPort, first);
    return plain && !own ? at : -1;
  }

  /** Where the path that starts at {@code from} ends, or -1 if it is not plainly normal. */
  private static int endOfPath(String url, int from) {
    if (from == url.length() || url.charAt(from) != '/') {
      return -1;
    }
    char previous = '/';
    int at = from + 1;
    while (at < url.length() && url.charAt(at) != '?') {
      char c = url.charAt(at);
      if (c == '/' ? previous == '/' || previous == '.' : c == '.' && previous == '/') {
        return -1;
      }
      int length = lengthOfNormal(url, at);
      if (length == 0) {
        return -1;
      }
      at += length;
      previous = c;
    }
    return at;
  }

  /** Nothing; or a question mark and parameters in order of name, no name or value empty. */
  private static boolean isNormalQuery(String url, int from) {
    String previous = "";
    for (int start = from + 1; start <= url.length(); ) {
      int nameEnd = -1;
      int at = start;
      while (at < url.length() && url.charAt(at) != '&') {
        if (url.charAt(at) == '=' && nameEnd < 0) {
          nameEnd = at;
        }
        int length = url.charAt(at) == '?' ? 1 : lengthOfNormal(url, at);
        if (length == 0) {
          return false;
        }
        at += length;
      }
      String name = url.substring(start, nameEnd < 0 ? at : nameEnd);
      if (name.isEmpty() || nameEnd == at - 1 || name.compareTo(previous) < 0) {
        return false;
      }
      previous = name;
      start = at + 1;
    }
    return true;
  }

  /** The length of the unescaped character or normal escape at {@code at}; 0 if it is neither. */
  private static int lengthOfNormal(String url, int at) {
    char c = url.charAt(at);
    if (c == '%') {
      return isNormalEscape(url, at) ? 3 : 0;
    }
    boolean unescaped = c == '/' || isLetter(c) || isDigit(c) || UNESCAPED_MARKS.indexOf(c) >= 0;
    return unescaped ? 1 : 0;
  }

  /** Two digits of upper case that stand for a character which does need its escape. */
  private static boolean isNormalEscape(String url, int percent) {
    if (percent + 2 >= url.length()) {
      return false;
    }
    int high = upperHex(url.charAt(percent + 1));
    int low = upperHex(url.charAt(percent + 2));
    if (high < 0 || low < 0) {
      return false;
    }
    char escaped = (char) (high << 4 | low);
    boolean unreserved = isLetter(escaped) || isDigit(escaped) || "-._~".indexOf(escaped) >= 0;
    return !unreserved;
  }

  private static int upperHex(char c) {
    if (isDigit(c)) {
      return c - '0';
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  }

  private static boolean isLower(char c) {
    return c >= 'a' && c <= 'z';
  }

  private static boolean isLetter(char c) {
    return isLower(c) || (c >= 'A' && c <= 'Z');
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
