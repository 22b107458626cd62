package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;

import crawlercommons.filters.basic.BasicURLNormalizer;
import crawlercommons.filters.basic.BasicURLNormalizer.IdnNormalization;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rule {@code url}, version 1: crawler-commons' {@link BasicURLNormalizer}, with the additions
 * below. It is configured only here.
 *
 * <p>The normaliser converts scheme and host to lower case and international host names to Punycode
 * (IDNA 2003). It removes a trailing dot of the host, the scheme's default port, user information
 * and fragment. It resolves dot segments and doubled slashes of the path and normalises
 * percent-escapes. It sorts query parameters by name (values of one name keep their order) and
 * removes empty ones. It removes no parameter because of its name.
 *
 * <p>Additions:
 *
 * <ul>
 *   <li><b>Schemes.</b> Only {@code http}, {@code https} and {@code ftp} are accepted. The
 *       normaliser accepts every scheme for which the JVM has a handler, so its result would depend
 *       on the installation.
 *   <li><b>Bare hosts.</b> A key without a scheme that starts with a host, such as {@code
 *       s2audio.com.br} or {@code example.com:8080/path}, is read as an {@code http} URL, as the
 *       normaliser does. Its canonical form is {@code http://s2audio.com.br/}, equal to that of the
 *       same key spelled as a URL. A user before a bare host is refused, because an e-mail address
 *       is not the URL of its domain.
 *   <li><b>A host is required.</b>
 *   <li><b>Fixed point.</b> One pass of the normaliser is not always stable: {@code http://h%2541/}
 *       becomes {@code http://h%41/}, and that becomes {@code http://ha/}. So it is repeated until
 *       nothing changes; a URL that still changes after {@value #MAX_ROUNDS} rounds is refused.
 * </ul>
 *
 * <p>The normaliser returns null for malformed URLs and throws for some; both are refused here. It
 * refuses IPv6 hosts.
 */
final class UrlNormaliser {
  static final int MAX_ROUNDS = 8;

  private static final Pattern SCHEME = Pattern.compile("(?i:https?|ftp)://");

  /** Host and port, then the end or a path, query or fragment; no user. */
  private static final Pattern BARE_HOST =
      Pattern.compile("[\\p{L}\\p{N}_][^/?#@:]*+(?::[0-9]++)?+(?=[/?#]|\\z)");

  private static final Pattern SCHEME_AND_HOST = Pattern.compile("(?:https?|ftp)://[^/?#@:]");

  private static final BasicURLNormalizer NORMALIZER =
      BasicURLNormalizer.newBuilder()
          .idnNormalization(IdnNormalization.PUNYCODE)
          .queryParamsToRemove(Set.of())
          .build();

  private UrlNormaliser() {}

  /**
   * The canonical form of {@code url}, in UTF-8.
   *
   * @throws InvalidKeyException if it has none
   */
  static byte[] normalise(String url) throws InvalidKeyException {
    String current = withScheme(url.trim());
    for (int round = 0; round < MAX_ROUNDS; round++) {
      byte[] bytes = current.getBytes(UTF_8);
      if (NormalUrl.matches(bytes)) {
        return bytes;
      }
      String next = once(current);
      if (next.equals(current)) {
        if (!SCHEME_AND_HOST.matcher(next).lookingAt()) {
          throw new InvalidKeyException("URL has no host");
        }
        return bytes;
      }
      current = next;
    }
    throw new InvalidKeyException(
        "URL still changes after " + MAX_ROUNDS + " rounds of normalising");
  }

  /**
   * Adds {@code http://} to a key that starts with a bare host; refuses keys with another scheme
   * than the accepted ones.
   */
  static String withScheme(String url) throws InvalidKeyException {
    if (SCHEME.matcher(url).lookingAt()) {
      return url;
    }
    Matcher bare = BARE_HOST.matcher(url);
    if (bare.lookingAt()) {
      return "http://" + url + (bare.end() == url.length() ? "/" : "");
    }
    throw new InvalidKeyException("URL must start with http://, https://, ftp:// or a host");
  }

  /** One pass of the library's normaliser. */
  static String once(String url) throws InvalidKeyException {
    String normal;
    try {
      normal = NORMALIZER.filter(url);
    } catch (RuntimeException e) {
      throw new InvalidKeyException(
          "the normaliser fails on this URL: " + e.getClass().getSimpleName());
    }
    if (normal == null) {
      throw new InvalidKeyException("URL is malformed");
    }
    return normal;
  }
}
