package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.filters.key.PercentEscapes.Characters;
import java.util.Arrays;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rule {@code url-expression}, versions 1 and 2, specified in {@code
 * docs/format/url-expression-v2.md}: {@code host[:port]/path[?query]} without the scheme, as entry
 * of a list and as the most specific expression of a URL. An entry may use the notation of lists; a
 * URL that is looked up may not.
 */
final class ExpressionRule {
  private static final Set<String> SCHEMES = Set.of("http", "https", "ftp", "ws", "wss");
  private static final int LONGEST_SCHEME = 5;
  private static final int FTP_PORT = 21;

  /** The longest URL that Chromium opens. */
  private static final int MAX_URL_BYTES = 2 << 20;

  /**
   * Escapes of these characters are decoded in a query; other characters have a different meaning
   * when escaped.
   */
  private static final Characters QUERY_UNESCAPED = PercentEscapes.IN_QUERY.without("&=+;");

  private static final Pattern MARKS = Pattern.compile("[~$&'()+;=]");
  private static final Pattern BACKSLASH = Pattern.compile("%5[Cc]");

  private ExpressionRule() {}

  /** Returns the canonical form of an entry, which is a line of a list. */
  static byte[] ofEntry(byte[] line, int version) throws InvalidKeyException {
    byte[] form = mayMeanMore(line) ? null : plain(line);
    return form != null
        ? form
        : parsedEntry(Canonicaliser.decode(line, "key"), version).getBytes(US_ASCII);
  }

  /** Returns the canonical form of a URL that is looked up in lists. */
  static byte[] ofVisit(byte[] url) throws InvalidKeyException {
    if (url.length == 0) {
      throw new InvalidKeyException("key is empty");
    }
    if (url.length > MAX_URL_BYTES) {
      throw new InvalidKeyException(
          "URL must be at most " + MAX_URL_BYTES + " bytes, got " + url.length);
    }
    byte[] form = startsWithScheme(url) ? null : plain(url);
    return form != null ? form : parsedVisit(url).getBytes(US_ASCII);
  }

  /** Returns whether a key is the canonical form of a URL, which never contains list notation. */
  static boolean isForm(byte[] key) {
    try {
      return key.length <= Keys.MAX_KEY_BYTES && Arrays.equals(ofVisit(key), key);
    } catch (InvalidKeyException e) {
      return false;
    }
  }

  /** Returns whether what is before a colon is a scheme without slashes, not a host with a port. */
  private static boolean startsWithScheme(byte[] url) {
    for (int at = 0; at < Math.min(url.length, LONGEST_SCHEME + 1); at++) {
      if (url[at] == ':') {
        boolean slash = at + 1 < url.length && url[at + 1] == '/';
        return !slash && SCHEMES.contains(new String(url, 0, at, US_ASCII));
      }
    }
    return false;
  }

  /** Returns the form of a key for which no further rule applies; null for other keys. */
  private static byte @Nullable [] plain(byte[] key) {
    int start = NormalUrl.afterScheme(key);
    if (NormalUrl.isExpression(key, start)) {
      return start == 0 ? key : Arrays.copyOfRange(key, start, key.length);
    }
    if (NormalUrl.isHost(key)) {
      byte[] host = Arrays.copyOf(key, key.length + 1);
      host[key.length] = '/';
      return host;
    }
    return null;
  }

  /**
   * Returns whether a line may be a pattern, a range of addresses, or too deep for an entry,
   * although the same text would be a plain URL.
   */
  private static boolean mayMeanMore(byte[] line) {
    byte last = line[line.length - 1];
    int slashes = 0;
    int dots = 0;
    for (byte b : line) {
      slashes += b == '/' ? 1 : 0;
      dots += b == '.' ? 1 : 0;
      if (b == '*' || b == '$') {
        return true;
      }
    }
    return slashes >= UrlExpressions.MAX_DIRECTORIES
        || dots >= UrlExpressions.MAX_LABELS
        || (isDigit(line[0]) && (isDigit(last) || last == '/'));
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  /** Returns the canonical form of a URL, without a fast path. */
  static String parsedVisit(byte[] url) throws InvalidKeyException {
    return form(WebUrl.visited(PercentEscapes.utf8OrEscapes(url), SCHEMES));
  }

  /** Returns the canonical form of an entry, without a fast path. */
  static String parsedEntry(String line, int version) throws InvalidKeyException {
    String listed = ListLine.listed(line, version);
    WebUrl url = WebUrl.parse(listed, SCHEMES);
    if (url.scheme() == null) {
      requireNoPattern(url, listed);
      if (version > 1) {
        requireHost(url.host());
      }
    } else {
      url = url.withHost(listedHost(url.host()));
    }
    String form = form(url);
    form =
        form.endsWith("/*") && form.indexOf('?') < 0 ? form.substring(0, form.length() - 1) : form;
    if (version > 1) {
      requireReachable(form);
    }
    return form;
  }

  /** Rejects entries that cannot be among the {@link UrlExpressions} of any URL. */
  private static void requireReachable(String form) throws InvalidKeyException {
    int pathStart = form.indexOf('/');
    long labels = 1 + form.substring(0, pathStart).chars().filter(c -> c == '.').count();
    if (labels > UrlExpressions.MAX_LABELS) {
      throw new InvalidKeyException(
          "an entry's host must have at most %d labels, as URLs have, got %d"
              .formatted(UrlExpressions.MAX_LABELS, labels));
    }
    long slashes = form.substring(pathStart).chars().filter(c -> c == '/').count();
    if (form.endsWith("/") && form.indexOf('?') < 0 && slashes > UrlExpressions.MAX_DIRECTORIES) {
      throw new InvalidKeyException(
          "an entry's directory must have at most %d segments, by which URLs are looked up, got %d"
              .formatted(UrlExpressions.MAX_DIRECTORIES - 1, slashes - 1));
    }
  }

  /** Rejects hosts that have a meaning in other notations: special characters and numbers. */
  private static void requireHost(String host) throws InvalidKeyException {
    if (host.startsWith("[")) {
      return;
    }
    if (MARKS.matcher(host).find()) {
      throw new InvalidKeyException(
          "host " + Quoted.of(host) + " without a scheme must not have any of ~$&'()+;=");
    }
    String withoutRoot = host.replaceFirst("\\.$", "");
    long dots = withoutRoot.chars().filter(c -> c == '.').count();
    if (dots != 3 && IpLiterals.endsInNumber(withoutRoot)) {
      throw new InvalidKeyException(
          Quoted.of(host) + " is a number; an address has four parts, or http:// before it");
    }
  }

  /** Rejects every star except the star of a trailing {@code /*}. */
  private static void requireNoPattern(WebUrl url, String listed) throws InvalidKeyException {
    boolean directory = url.path().endsWith("/*") && url.query().isEmpty();
    int star = url.path().indexOf('*');
    boolean pattern = star >= 0 && !(directory && star == url.path().length() - 1);
    if (pattern || url.query().indexOf('*') >= 0) {
      throw new InvalidKeyException(
          Quoted.of(listed)
              + " is a pattern; list its directory, or the page with http:// before it");
    }
  }

  /**
   * Returns the host of a URL in a line. Rejects other stars, because no real host contains one.
   */
  private static String listedHost(String host) throws InvalidKeyException {
    String listed = ListLine.withoutWildcard(host);
    if (listed.indexOf('*') >= 0) {
      throw new InvalidKeyException("host " + Quoted.of(host) + " is a pattern; list the domain");
    }
    return listed;
  }

  private static String form(WebUrl url) throws InvalidKeyException {
    StringBuilder out = new StringBuilder(url.path().length() + url.host().length() + 8);
    out.append(Hosts.canonicalWithEmbedded(url.host()));
    if (!isDefaultPort(url)) {
      out.append(':').append(url.port());
    }
    String path = BACKSLASH.matcher(url.path()).replaceAll("/");
    out.append(
        WebUrl.resolved(
            PercentEscapes.normalised(path, PercentEscapes.IN_PATH, PercentEscapes.IN_PATH)));
    if (!url.query().isEmpty()) {
      out.append('?')
          .append(PercentEscapes.normalised(url.query(), PercentEscapes.IN_QUERY, QUERY_UNESCAPED));
    }
    return out.toString();
  }

  /**
   * Returns whether the port is a default port. The form has no scheme, so the default ports of
   * both http and https are omitted.
   */
  private static boolean isDefaultPort(WebUrl url) {
    return switch (url.port()) {
      case -1, 80, 443 -> true;
      case FTP_PORT -> "ftp".equals(url.scheme());
      default -> false;
    };
  }
}
