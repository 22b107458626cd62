package io.firstseen.filters.key;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A URL, or a text that starts with a host, cut into its parts as browsers cut it (WHATWG URL,
 * section 4.4). User and fragment are omitted; host, path and query are unchanged.
 *
 * @param scheme in lower case; null if the text has none
 * @param port in [0, 65535], or -1 if there is none
 * @param path empty, or from the first slash on; backslashes are slashes
 * @param query without its question mark; empty if there is none
 */
record WebUrl(@Nullable String scheme, String host, int port, String path, String query) {
  private static final int MAX_PORT = 65_535;
  private static final Pattern PORT = Pattern.compile("0*([0-9]{1,5})");
  private static final Pattern TABS_AND_NEWLINES = Pattern.compile("[\t\n\r]");
  private static final Pattern FRAGMENT = Pattern.compile("#.*", Pattern.DOTALL);

  /** The slash after a scheme distinguishes it from a host with a port. */
  private static final Pattern SCHEME = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*):[/\\\\]+");

  /** A URL that a browser opens may have a scheme without slashes, or no scheme. */
  private static final Pattern VISITED_SCHEME =
      Pattern.compile("(https?|ftp|wss?):[/\\\\]*", Pattern.CASE_INSENSITIVE);

  private static final Pattern VIEW_SOURCE =
      Pattern.compile("\\A(?:view-source:[\\x00- ]*+)++", Pattern.CASE_INSENSITIVE);
  private static final Pattern NO_SCHEME = Pattern.compile("[/\\\\]{2,}");

  private static final Pattern AUTHORITY_END = Pattern.compile("[/\\\\?]|\\z");
  private static final Pattern BARE_IPV6 =
      Pattern.compile("[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*");

  /**
   * Cuts {@code text}.
   *
   * @param schemes the accepted schemes
   * @throws InvalidKeyException if the text is not a URL with one of these schemes and does not
   *     start with a host
   */
  static WebUrl parse(String text, Set<String> schemes) throws InvalidKeyException {
    return parseCleaned(cleaned(text), schemes);
  }

  private static String cleaned(String text) {
    return FRAGMENT.matcher(TABS_AND_NEWLINES.matcher(text.trim()).replaceAll("")).replaceFirst("");
  }

  /**
   * Cuts a URL that a browser opens, which is more tolerant about schemes than {@link #parse}.
   *
   * @throws InvalidKeyException as {@link #parse} does
   */
  static WebUrl visited(String text, Set<String> schemes) throws InvalidKeyException {
    String url = VIEW_SOURCE.matcher(cleaned(text)).replaceFirst("");
    Matcher scheme = VISITED_SCHEME.matcher(url);
    if (scheme.lookingAt()) {
      return parseFromHost(scheme.group(1).toLowerCase(Locale.ROOT), url.substring(scheme.end()));
    }
    Matcher none = NO_SCHEME.matcher(url);
    return none.lookingAt()
        ? parseFromHost("http", url.substring(none.end()))
        : parseCleaned(url, schemes);
  }

  private static WebUrl parseCleaned(String url, Set<String> schemes) throws InvalidKeyException {
    Matcher start = SCHEME.matcher(url);
    if (start.lookingAt()) {
      String scheme = start.group(1).toLowerCase(Locale.ROOT);
      if (!schemes.contains(scheme)) {
        throw new InvalidKeyException(
            "URL must start with %s or a host, got %s"
                .formatted(
                    String.join(", ", schemes.stream().sorted().map(s -> s + "://").toList()),
                    Quoted.of(scheme + ":")));
      }
      return parseFromHost(scheme, url.substring(start.end()));
    }
    if (BARE_IPV6.matcher(url).matches()) {
      return new WebUrl(null, "[" + url + "]", -1, "", "");
    }
    return parseFromHost(null, url);
  }

  WebUrl withHost(String newHost) {
    return new WebUrl(scheme, newHost, port, path, query);
  }

  private static WebUrl parseFromHost(@Nullable String scheme, String rest)
      throws InvalidKeyException {
    Matcher end = AUTHORITY_END.matcher(rest);
    String authority = end.find() ? rest.substring(0, end.start()) : rest;
    int at = authority.lastIndexOf('@');
    if (at >= 0 && scheme == null) {
      throw new InvalidKeyException(
          Quoted.of(authority) + " has an at sign and no scheme, as an e-mail address has");
    }
    String server = authority.substring(at + 1);
    int portAt = server.indexOf(':', server.startsWith("[") ? Math.max(0, server.indexOf(']')) : 0);
    String host = portAt < 0 ? server : server.substring(0, portAt);
    if (host.isEmpty()) {
      throw new InvalidKeyException("URL has no host");
    }
    if (scheme == null) {
      Hosts.requirePlain(host);
    }
    int queryAt = rest.indexOf('?', authority.length());
    int pathEnd = queryAt < 0 ? rest.length() : queryAt;
    return new WebUrl(
        scheme,
        host,
        portAt < 0 ? -1 : port(server.substring(portAt + 1), scheme != null),
        rest.substring(authority.length(), pathEnd).replace('\\', '/'),
        queryAt < 0 ? "" : rest.substring(queryAt + 1));
  }

  private static int port(String digits, boolean mayBeEmpty) throws InvalidKeyException {
    if (digits.isEmpty() && mayBeEmpty) {
      return -1;
    }
    Matcher number = PORT.matcher(digits);
    int port = number.matches() ? Integer.parseInt(number.group(1)) : MAX_PORT + 1;
    if (port > MAX_PORT) {
      throw new InvalidKeyException(
          "port must be a number in [0, %d], got %s".formatted(MAX_PORT, Quoted.of(digits)));
    }
    return port;
  }

  /**
   * Removes empty segments and dot segments from a path that starts with a slash. The result ends
   * with a slash if the last segment was removed.
   */
  static String resolved(String path) {
    Deque<String> kept = new ArrayDeque<>();
    String last = "";
    for (String segment : Arrays.asList(path.split("/", -1))) {
      last = segment;
      if (segment.equals("..")) {
        kept.pollLast();
      } else if (!segment.isEmpty() && !segment.equals(".")) {
        kept.addLast(segment);
      }
    }
    String joined = "/" + String.join("/", kept);
    boolean directory = last.isEmpty() || last.equals(".") || last.equals("..");
    return directory && !kept.isEmpty() ? joined + "/" : joined;
  }
}
