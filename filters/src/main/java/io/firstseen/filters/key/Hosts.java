package io.firstseen.filters.key;

import java.text.Normalizer;
import java.util.Locale;

/**
 * The canonical form of a host: an IPv4 address in dotted decimal, an IPv6 literal in brackets, or
 * a domain in lower case and Punycode. {@code docs/format/url-v3.md} has the steps.
 *
 * <p>The mapping of international names is that of UTS #46 without its transitional exceptions, as
 * in browsers, made of the JDK's normalisation and case mappings. What UTS #46 disallows may pass:
 * no browser can visit it.
 */
final class Hosts {
  private static final int ZERO_WIDTH_NON_JOINER = 0x200C;
  private static final int ZERO_WIDTH_JOINER = 0x200D;
  private static final int FIRST_AFTER_CONTROLS = 0xA0;

  /** Normalising and Punycode take quadratic time; no name of the Internet is as long. */
  static final int MAX_INTERNATIONAL = 1_024;

  /** Beside letters, digits, hyphen and underscore. */
  private static final String MARKS = "~$&'()+;=";

  /** Allowed by browsers, but with a meaning in lists; they are escaped in the form. */
  private static final String ESCAPED_MARKS = "!*,\"`{}";

  private Hosts() {}

  /**
   * The canonical form.
   *
   * @param host as it stands in a URL
   * @throws InvalidKeyException if it is no host
   */
  static String canonical(String host) throws InvalidKeyException {
    return canonical(host, false);
  }

  /**
   * The canonical form, with an IPv6 address that stands for an IPv4 address ({@link
   * IpLiterals#embeddedIpv4}) as that one.
   */
  static String canonicalWithEmbedded(String host) throws InvalidKeyException {
    return canonical(host, true);
  }

  private static String canonical(String host, boolean unwrap) throws InvalidKeyException {
    if (host.startsWith("[")) {
      int[] pieces =
          host.endsWith("]") ? IpLiterals.ipv6(host.substring(1, host.length() - 1)) : null;
      if (pieces == null) {
        throw new InvalidKeyException("host " + Quoted.of(host) + " is not an IPv6 address");
      }
      String ipv4 = unwrap ? IpLiterals.embeddedIpv4(pieces) : null;
      return ipv4 != null ? ipv4 : IpLiterals.bracketed(pieces);
    }
    String written = unescaped(host);
    if (!isAscii(written) && written.codePointCount(0, written.length()) > MAX_INTERNATIONAL) {
      throw new InvalidKeyException(
          "host %s beyond ASCII must have at most %d characters"
              .formatted(Quoted.of(host), MAX_INTERNATIONAL));
    }
    String domain = mapped(written);
    if (domain.endsWith(".")) {
      domain = domain.substring(0, domain.length() - 1);
    }
    if (domain.isEmpty()) {
      throw new InvalidKeyException("URL has no host");
    }
    String ascii = labels(domain, host);
    if (!IpLiterals.endsInNumber(ascii)) {
      return ascii;
    }
    String address = IpLiterals.ipv4(ascii);
    if (address == null) {
      throw new InvalidKeyException(
          "host " + Quoted.of(host) + " ends in a number and is not an IPv4 address");
    }
    return address;
  }

  private static String unescaped(String host) throws InvalidKeyException {
    return host.indexOf('%') < 0
        ? host
        : Canonicaliser.decode(PercentEscapes.decode(host), "host " + Quoted.of(host));
  }

  /** The mapping of UTS #46: lower case, compatibility forms composed, ignored characters gone. */
  static String mapped(String domain) {
    if (isAscii(domain)) {
      return lowerAscii(domain);
    }
    StringBuilder seen = new StringBuilder(domain.length());
    domain
        .codePoints()
        .filter(codePoint -> !isIgnored(codePoint))
        .forEach(
            codePoint -> seen.appendCodePoint(isStyledFinalSigma(codePoint) ? 'σ' : codePoint));
    StringBuilder folded = new StringBuilder(seen.length());
    nfkc(seen).codePoints().forEach(codePoint -> foldCase(codePoint, folded));
    return nfkc(folded).replace('\u3002', '.');
  }

  private static boolean isAscii(String domain) {
    return domain.chars().allMatch(c -> c < 0x80);
  }

  private static String lowerAscii(String domain) {
    StringBuilder out = new StringBuilder(domain.length());
    for (int at = 0; at < domain.length(); at++) {
      char c = domain.charAt(at);
      out.append(c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c);
    }
    return out.toString();
  }

  private static String nfkc(CharSequence text) {
    return Normalizer.normalize(text, Normalizer.Form.NFKC);
  }

  /** The joiners tell words apart in some scripts, and so stay. */
  private static boolean isIgnored(int codePoint) {
    return codePoint >= FIRST_AFTER_CONTROLS
        && codePoint != ZERO_WIDTH_NON_JOINER
        && codePoint != ZERO_WIDTH_JOINER
        && TextFolding.isInvisible(codePoint);
  }

  /** A final sigma stays one, but not its variants. */
  private static boolean isStyledFinalSigma(int codePoint) {
    return switch (codePoint) {
      case 0x3F2, 0x1D6D3, 0x1D70D, 0x1D747, 0x1D781, 0x1D7BB -> true;
      default -> false;
    };
  }

  private static void foldCase(int codePoint, StringBuilder out) {
    switch (codePoint) {
      case 'ß', 'ς', 'ı' -> out.appendCodePoint(codePoint);
      case 'ẞ' -> out.append('ß');
      case 'İ' -> out.append("i\u0307");
      default -> {
        String upper = Character.toString(codePoint).toUpperCase(Locale.ROOT);
        upper
            .codePoints()
            .forEach(c -> out.appendCodePoint(isCherokee(c) ? c : Character.toLowerCase(c)));
      }
    }
  }

  /** Upper case is the older one, and so the folded one. */
  private static boolean isCherokee(int codePoint) {
    return codePoint >= 0x13A0 && codePoint <= 0x13F5;
  }

  private static String labels(String domain, String host) throws InvalidKeyException {
    StringBuilder out = new StringBuilder(domain.length());
    int from = 0;
    while (from <= domain.length()) {
      int dot = domain.indexOf('.', from);
      int to = dot < 0 ? domain.length() : dot;
      String label = domain.substring(from, to);
      if (label.isEmpty()) {
        throw new InvalidKeyException("host " + Quoted.of(host) + " has an empty label");
      }
      appendLabel(label, dot < 0, host, out);
      if (dot >= 0) {
        out.append('.');
      }
      from = to + 1;
    }
    return out.toString();
  }

  private static void appendLabel(String label, boolean last, String host, StringBuilder out)
      throws InvalidKeyException {
    boolean ascii = true;
    boolean escaped = false;
    for (int at = 0; at < label.length(); at++) {
      char c = label.charAt(at);
      boolean mark = ESCAPED_MARKS.indexOf(c) >= 0;
      escaped |= mark;
      ascii &= c < 0x80;
      boolean plain = c >= 0x80 || isLetterOrDigit(c) || c == '-' || c == '_';
      if (!plain && (last || !(mark || MARKS.indexOf(c) >= 0))) {
        throw new InvalidKeyException(
            "host %s must not hold %s%s"
                .formatted(
                    Quoted.of(host),
                    Quoted.of(String.valueOf(c)),
                    last ? " in its last label" : ""));
      }
    }
    int start = out.length();
    if (ascii) {
      out.append(label);
    } else if (label.startsWith("xn--")) {
      throw new InvalidKeyException(
          "host " + Quoted.of(host) + " mixes Punycode and other characters in a label");
    } else {
      Punycode.encode(label, out.append("xn--"));
    }
    if (escaped) {
      escapeMarks(out, start);
    }
  }

  private static void escapeMarks(StringBuilder out, int start) {
    String plain = out.substring(start);
    out.setLength(start);
    for (int at = 0; at < plain.length(); at++) {
      char c = plain.charAt(at);
      if (ESCAPED_MARKS.indexOf(c) >= 0) {
        out.append('%').append(Integer.toHexString(c).toUpperCase(Locale.ROOT));
      } else {
        out.append(c);
      }
    }
  }

  /** Refuses a host without a scheme that has a mark which may mean something else in a list. */
  static void requirePlain(String host) throws InvalidKeyException {
    for (int at = 0; at < host.length(); at++) {
      if (ESCAPED_MARKS.indexOf(host.charAt(at)) >= 0) {
        throw new InvalidKeyException(
            "host %s without a scheme must not hold %s"
                .formatted(Quoted.of(host), Quoted.of(String.valueOf(host.charAt(at)))));
      }
    }
  }

  private static boolean isLetterOrDigit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  }
}
