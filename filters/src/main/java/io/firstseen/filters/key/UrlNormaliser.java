package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;

import crawlercommons.filters.basic.BasicURLNormalizer;
import crawlercommons.filters.basic.BasicURLNormalizer.IdnNormalization;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rule {@code url}, version 1: crawler-commons' {@link BasicURLNormalizer}, configured here and
 * nowhere else, with every loose end tied.
 *
 * <p>What the normaliser does: scheme and host in lower case, international host names in Punycode
 * (IDNA 2003), a trailing dot of the host, the scheme's own port, user information and fragment
 * removed; dot segments and doubled slashes of the path resolved; percent-escapes in their one
 * spelling; query parameters sorted by name (values of one name keep their order), empty ones
 * removed. No parameter is removed for its name.
 *
 * <p>What is added here:
 *
 * <ul>
 *   <li><b>Schemes.</b> Only {@code http}, {@code https} and {@code ftp} are accepted. The
 *       normaliser lets through whatever scheme the JVM has a handler for, so its answer would
 *       depend on what else is installed.
 *   <li><b>Bare hosts.</b> A key without a scheme that starts with a host, such as {@code
 *       s2audio.com.br} or {@code example.com:8080/path}, is read as an {@code http} URL (so does
 *       the normaliser): its canonical form is {@code http://s2audio.com.br/}, and it meets the
 *       same key spelled as a URL. A user before the host is refused there: an e-mail address is
 *       not the address of its domain.
 *   <li><b>A host is required.</b>
 *   <li><b>Fixed point.</b> One pass of the normaliser is not always stable: {@code http://h%2541/}
 *       becomes {@code http://h%41/}, and that {@code http://ha/}. It is repeated until nothing
 *       changes; a URL that still changes after {@value #MAX_ROUNDS} rounds is refused.
 * </ul>
 *
 * <p>The normaliser answers null to malformed URLs and throws on some; both are refusals here. It
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

  /** A key without a scheme that starts with a host gets one; others must be of one we take. */
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

  /** One pass of the library. */
  static String once(String url) throws InvalidKeyException {
    String normal;
    try {
      normal = NORMALIZER.filter(url);
    } catch (RuntimeException e) {
      throw new InvalidKeyException("URL chokes the normaliser: " + e.getClass().getSimpleName());
    }
    if (normal == null) {
      throw new InvalidKeyException("URL is malformed");
    }
    return normal;
  }
}
