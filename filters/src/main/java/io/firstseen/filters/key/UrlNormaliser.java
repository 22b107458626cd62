package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.filters.key.PercentEscapes.Characters;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The rule {@code url}, versions 2 and 3, specified in {@code docs/format/url-v3.md}: one form for
 * the spellings of a URL that name the same page.
 *
 * <p>Scheme and host are in lower case, the host as {@link Hosts} has it; a default port, user,
 * fragment, dot segments and doubled slashes are removed; escapes are normalised; query parameters
 * are sorted by name (values of one name keep their order), and empty parameters are removed.
 * {@link StrippedParameters} removes further parameters. A key that starts with a host is treated
 * as an {@code http} URL.
 */
final class UrlNormaliser {
  private static final Map<String, Integer> DEFAULT_PORTS =
      Map.of("http", 80, "https", 443, "ftp", 21);

  private UrlNormaliser() {}

  /**
   * Returns the canonical form of {@code url}.
   *
   * @param inQuery the characters that its query may contain unescaped
   * @throws InvalidKeyException if the URL has no canonical form
   */
  static byte[] normalise(String url, Characters inQuery) throws InvalidKeyException {
    WebUrl parts = WebUrl.parse(url, DEFAULT_PORTS.keySet());
    String scheme = parts.scheme() == null ? "http" : parts.scheme();
    StringBuilder out = new StringBuilder(url.length() + 16);
    out.append(scheme).append("://").append(Hosts.canonical(parts.host()));
    if (parts.port() >= 0 && parts.port() != DEFAULT_PORTS.get(scheme)) {
      out.append(':').append(parts.port());
    }
    out.append(
        WebUrl.resolved(
            PercentEscapes.normalised(
                parts.path(), PercentEscapes.IN_PATH, PercentEscapes.UNRESERVED)));
    String query = sorted(parts.query(), inQuery);
    if (!query.isEmpty()) {
      out.append('?').append(query);
    }
    return out.toString().getBytes(US_ASCII);
  }

  private static String sorted(String query, Characters inQuery) {
    if (query.isEmpty()) {
      return query;
    }
    String normal = PercentEscapes.normalised(query, inQuery, PercentEscapes.UNRESERVED);
    List<String> parameters =
        Arrays.stream(normal.split("&", -1))
            .filter(parameter -> !name(parameter).isEmpty())
            .sorted(Comparator.comparing(UrlNormaliser::name))
            .map(UrlNormaliser::withoutEmptyValue)
            .toList();
    return String.join("&", parameters);
  }

  private static String name(String parameter) {
    int equals = parameter.indexOf('=');
    return equals < 0 ? parameter : parameter.substring(0, equals);
  }

  private static String withoutEmptyValue(String parameter) {
    return parameter.indexOf('=') == parameter.length() - 1 ? name(parameter) : parameter;
  }
}
