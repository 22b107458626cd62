package io.firstseen.benchmarks.key;

import java.util.Locale;
import java.util.SplittableRandom;

/** Kinds of URLs to canonicalise, canonical and others, generated from a seed. */
public enum UrlKind {
  /** Canonical, 85 bytes, a path and two parameters. */
  CANONICAL,
  /** Canonical, with neither path nor parameters: {@code http://host.example/}. */
  CANONICAL_HOST,
  /** Canonical except for the scheme and the slash: a bare host, as in blocklists. */
  BARE_HOST,
  /** The host in upper case. */
  UPPER_CASE_HOST,
  /** Parameters out of order. */
  UNSORTED,
  /** A character in the path that needs an escape. */
  UNESCAPED,
  /** Characters beyond ASCII in host and path. */
  INTERNATIONAL;

  static final int BYTES = 85;

  /** The URL with a number, the same at every call. */
  public String url(int number) {
    SplittableRandom random = new SplittableRandom(number);
    String host =
        "www.%s%s.example".formatted(word(random, 6 + random.nextInt(8)), random.nextInt(100));
    String path = "/%s/%s.html".formatted(word(random, 7), word(random, 5));
    String canonical = "https://" + host + path + "?id=" + number + "&session=";
    canonical += word(random, BYTES - canonical.length());
    return switch (this) {
      case CANONICAL -> canonical;
      case CANONICAL_HOST -> "http://" + host + "/";
      case BARE_HOST -> host;
      case UPPER_CASE_HOST -> canonical.replace(host, host.toUpperCase(Locale.ROOT));
      case UNSORTED -> canonical.replace("?id=", "?z=");
      case UNESCAPED -> canonical.replace(".html", " 1.html");
      case INTERNATIONAL -> canonical.replace("www.", "bücher.").replace(".html", "ü.html");
    };
  }

  private static String word(SplittableRandom random, int length) {
    return random
        .ints(length, 'a', 'z' + 1)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
