package io.firstseen.filters.key;

import crawlercommons.filters.basic.BasicURLNormalizer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rule {@code url}: crawler-commons' basic normaliser, configured here and nowhere else. */
final class UrlNormaliser {
  private static final int MAX_ROUNDS = 8;
  private static final Pattern SCHEME = Pattern.compile("\\s*(?i:https?|ftp):.*", Pattern.DOTALL);
  private static final BasicURLNormalizer NORMALIZER = BasicURLNormalizer.newBuilder().build();

  private UrlNormaliser() {}

  static String normalise(String url) throws InvalidKeyException {
    Matcher scheme = SCHEME.matcher(url);
    if (!scheme.matches()) {
      throw new InvalidKeyException("URL must start with http:, https: or ftp:");
    }
    String current = url;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      String next = once(current);
      if (next.equals(current)) {
        return next;
      }
      current = next;
    }
    throw new InvalidKeyException("URL has no stable form after " + MAX_ROUNDS + " rounds");
  }

  private static String once(String url) throws InvalidKeyException {
    String normal;
    try {
      normal = NORMALIZER.filter(url);
    } catch (RuntimeException e) {
      throw new InvalidKeyException("URL cannot be normalised: " + e.getClass().getSimpleName());
    }
    if (normal == null || normal.isEmpty()) {
      throw new InvalidKeyException("URL is malformed");
    }
    return normal;
  }
}
