package io.firstseen.filters.key;

import java.text.Normalizer;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The canonical form of a host: an IPv4 address in dotted decimal, an IPv6 literal in brackets, or
 * a domain in lower case and Punycode. {@code docs/format/url-v3.md} has the steps.
 *
 * <p>International names are mapped according to UTS #46 without its transitional exceptions, as in
 * browsers, using the JDK's normalisation and case mappings. Names that UTS #46 disallows may be
 * accepted, because no browser can visit them.
 */
final class Hosts {
  private static final int ZERO_WIDTH_NON_JOINER = 0x200C;
  private static final int ZERO_WIDTH_JOINER = 0x200D;
  private static final int FIRST_AFTER_CONTROLS = 0xA0;

  /**
   * The maximum length of a host, because normalisation and Punycode take quadratic time. Names on
   * the Internet are shorter.
   */
  static final int MAX_INTERNATIONAL = 1_024;

  /** Characters that browsers allow but that have a meaning in lists. */
  private static final String ESCAPED_MARKS = "!*,\"`{}";

  /** Characters that are allowed in addition to letters, digits, hyphen and underscore. */
  private static final String MARKS = "~$&'()+;=" + ESCAPED_MARKS;

  private static final Pattern ESCAPED_MARK = Pattern.compile("[" + ESCAPED_MARKS + "]");

  private Hosts() {}

  /**
   * Returns the canonical form.
   *
   * @param host as written in a URL
   * @throws InvalidKeyException if it is not a valid host
   */
  static String canonical(String host) throws InvalidKeyException {
    return canonical(host, false);
  }

  /**
   * Returns the canonical form; an IPv6 address that {@linkplain IpLiterals#embeddedIpv4 embeds} an
   * IPv4 address becomes this IPv4 address.
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
    if (!TextFolding.isAscii(written)
        && written.codePointCount(0, written.length()) > MAX_INTERNATIONAL) {
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

  /**
   * Applies the mapping of UTS #46: converts to lower case, composes compatibility forms and
   * removes ignored characters.
   */
  static String mapped(String domain) {
    if (TextFolding.isAscii(domain)) {
      return domain.toLowerCase(Locale.ROOT);
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

  private static String nfkc(CharSequence text) {
    return Normalizer.normalize(text, Normalizer.Form.NFKC);
  }

  /** The joiners distinguish words in some scripts, so they are kept. */
  private static boolean isIgnored(int codePoint) {
    return codePoint >= FIRST_AFTER_CONTROLS
        && codePoint != ZERO_WIDTH_NON_JOINER
        && codePoint != ZERO_WIDTH_JOINER
        && TextFolding.isInvisible(codePoint);
  }

  /**
   * Returns whether a character is a compatibility variant of the final sigma. Unlike the final
   * sigma, variants are mapped.
   */
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

  /**
   * Returns whether a character is an upper-case Cherokee letter. Cherokee letters fold to upper
   * case, because Unicode encoded it first.
   */
  private static boolean isCherokee(int codePoint) {
    return codePoint >= 0x13A0 && codePoint <= 0x13F5;
  }

  private static String labels(String domain, String host) throws InvalidKeyException {
    StringBuilder out = new StringBuilder(domain.length());
    String[] labels = domain.split("\\.", -1);
    for (int i = 0; i < labels.length; i++) {
      if (labels[i].isEmpty()) {
        throw new InvalidKeyException("host " + Quoted.of(host) + " has an empty label");
      }
      appendLabel(labels[i], i == labels.length - 1, host, out.append(i == 0 ? "" : "."));
    }
    return ESCAPED_MARK
        .matcher(out)
        .replaceAll(mark -> "%%%02X".formatted((int) mark.group().charAt(0)));
  }

  private static void appendLabel(String label, boolean last, String host, StringBuilder out)
      throws InvalidKeyException {
    boolean ascii = true;
    for (int at = 0; at < label.length(); at++) {
      char c = label.charAt(at);
      ascii &= c < 0x80;
      boolean plain = c >= 0x80 || isLetterOrDigit(c) || c == '-' || c == '_';
      if (!plain && (last || MARKS.indexOf(c) < 0)) {
        throw new InvalidKeyException(
            "host %s must not hold %s%s"
                .formatted(
                    Quoted.of(host),
                    Quoted.of(String.valueOf(c)),
                    last ? " in its last label" : ""));
      }
    }
    if (ascii) {
      out.append(label);
    } else if (label.startsWith("xn--")) {
      throw new InvalidKeyException(
          "host " + Quoted.of(host) + " mixes Punycode and other characters in a label");
    } else {
      Punycode.encode(label, out.append("xn--"));
    }
  }

  static void requirePlain(String host) throws InvalidKeyException {
    Matcher mark = ESCAPED_MARK.matcher(host);
    if (mark.find()) {
      throw new InvalidKeyException(
          "host %s without a scheme must not hold %s"
              .formatted(Quoted.of(host), Quoted.of(mark.group())));
    }
  }

  private static boolean isLetterOrDigit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  }
}
