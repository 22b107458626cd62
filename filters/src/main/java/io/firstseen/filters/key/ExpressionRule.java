package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.filters.key.PercentEscapes.Characters;
import java.util.Arrays;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The rule {@code url-expression}, version 1, specified in {@code
 * docs/format/url-expression-v1.md}: {@code host[:port]/path[?query]} without the scheme, as entry
 * of a list and as the most specific expression of a URL.
 */
final class ExpressionRule {
  private static final Set<String> SCHEMES = Set.of("http", "https", "ftp", "ws", "wss");
  private static final int FTP_PORT = 21;

  /** An escaped one of these means something else than the character itself. */
  private static final Characters QUERY_UNESCAPED = PercentEscapes.IN_QUERY.without("&=+;");

  private static final Pattern BACKSLASH = Pattern.compile("%5[Cc]");

  private ExpressionRule() {}

  static byte[] canonicalise(byte[] key) throws InvalidKeyException {
    int start = NormalUrl.afterScheme(key);
    if (NormalUrl.isExpression(key, start)) {
      return start == 0 ? key : Arrays.copyOfRange(key, start, key.length);
    }
    if (NormalUrl.isHost(key)) {
      byte[] host = Arrays.copyOf(key, key.length + 1);
      host[key.length] = '/';
      return host;
    }
    return parsed(Canonicaliser.decode(key, "key")).getBytes(US_ASCII);
  }

  /** The canonical form, without a fast path. */
  static String parsed(String key) throws InvalidKeyException {
    WebUrl url = WebUrl.parse(ListLine.listed(key), SCHEMES);
    StringBuilder out = new StringBuilder(key.length() + 8);
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

  /** Without a scheme in the form, the ports of http and https can only both be left out. */
  private static boolean isDefaultPort(WebUrl url) {
    return switch (url.port()) {
      case -1, 80, 443 -> true;
      case FTP_PORT -> "ftp".equals(url.scheme());
      default -> false;
    };
  }
}
