package io.firstseen.filters.key;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** IPv4 addresses as browsers read them, and IPv6 literals (WHATWG URL, sections 3.5 and 3.6). */
final class IpLiterals {
  private static final int PIECES = 8;
  private static final long IPV4_END = 1L << 32;

  private IpLiterals() {}

  /** Returns whether a host must be an IPv4 address, because its last label is a number. */
  static boolean endsInNumber(String host) {
    String last = host.substring(host.lastIndexOf('.') + 1);
    return isAll(last, 10)
        || (last.startsWith("0x") && (last.length() == 2 || isAll(last.substring(2), 16)));
  }

  /**
   * Returns the dotted decimal form of one to four numbers, each decimal, octal ({@code 0…}) or
   * hexadecimal ({@code 0x…}), of which the last fills the remaining bytes; null if the text is not
   * an address.
   */
  static @Nullable String ipv4(String host) {
    String[] parts = host.split("\\.", -1);
    if (parts.length > 4) {
      return null;
    }
    long address = 0;
    for (int i = 0; i < parts.length; i++) {
      long number = number(parts[i]);
      boolean last = i == parts.length - 1;
      int bits = last ? 8 * (5 - parts.length) : 8;
      if (number < 0 || number >= 1L << bits) {
        return null;
      }
      address = (address << bits) | number;
    }
    return dotted(address);
  }

  private static String dotted(long address) {
    return (address >> 24 & 0xFF)
        + "."
        + (address >> 16 & 0xFF)
        + "."
        + (address >> 8 & 0xFF)
        + "."
        + (address & 0xFF);
  }

  /** Returns the value of a number, at most 2^32; -1 if the text is not a number. */
  private static long number(String text) {
    int radix = 10;
    String digits = text;
    if (text.startsWith("0x")) {
      radix = 16;
      digits = text.substring(2);
    } else if (text.length() > 1 && text.startsWith("0")) {
      radix = 8;
      digits = text.substring(1);
    }
    if (digits.isEmpty()) {
      return radix == 16 ? 0 : -1;
    }
    if (!isAll(digits, radix)) {
      return -1;
    }
    long value = 0;
    for (int at = 0; at < digits.length() && value < IPV4_END; at++) {
      value = value * radix + Character.digit(digits.charAt(at), radix);
    }
    return Math.min(value, IPV4_END);
  }

  private static boolean isAll(String text, int radix) {
    return !text.isEmpty()
        && text.chars().allMatch(c -> c < 0x80 && Character.digit(c, radix) >= 0);
  }

  /**
   * Returns the eight pieces of an IPv6 address without brackets; null if the text is not an IPv6
   * address.
   */
  static int @Nullable [] ipv6(String text) {
    int gap = text.indexOf("::");
    if (gap < 0) {
      int[] pieces = pieces(text);
      return pieces != null && pieces.length == PIECES ? pieces : null;
    }
    int[] left = pieces(text.substring(0, gap));
    int[] right = pieces(text.substring(gap + 2));
    if (left == null
        || right == null
        || left.length + right.length >= PIECES
        || text.substring(0, gap).indexOf('.') >= 0) {
      return null;
    }
    int[] all = new int[PIECES];
    System.arraycopy(left, 0, all, 0, left.length);
    System.arraycopy(right, 0, all, PIECES - right.length, right.length);
    return all;
  }

  /** Returns the pieces between colons. A dotted IPv4 address may replace the last two. */
  private static int @Nullable [] pieces(String text) {
    if (text.isEmpty()) {
      return new int[0];
    }
    String[] groups = text.split(":", -1);
    String last = groups[groups.length - 1];
    boolean dotted = last.indexOf('.') >= 0;
    int[] pieces = new int[groups.length + (dotted ? 1 : 0)];
    int hexadecimal = dotted ? groups.length - 1 : groups.length;
    for (int i = 0; i < hexadecimal; i++) {
      if (groups[i].length() > 4 || !isAll(groups[i], 16)) {
        return null;
      }
      pieces[i] = Integer.parseInt(groups[i], 16);
    }
    if (dotted) {
      String address = ipv4(last);
      // Only four decimal numbers without leading zeros are already in dotted form.
      if (!last.equals(address)) {
        return null;
      }
      String[] bytes = address.split("\\.", -1);
      for (int i = 0; i < 2; i++) {
        pieces[hexadecimal + i] =
            Integer.parseInt(bytes[2 * i]) << 8 | Integer.parseInt(bytes[2 * i + 1]);
      }
    }
    return pieces;
  }

  /** Returns the form of RFC 5952, section 4, in brackets. */
  static String bracketed(int[] pieces) {
    int gap = -1;
    int gapLength = 1;
    for (int i = 0; i < PIECES; i++) {
      int end = i;
      while (end < PIECES && pieces[end] == 0) {
        end++;
      }
      if (end - i > gapLength) {
        gap = i;
        gapLength = end - i;
      }
      i = Math.max(i, end - 1);
    }
    StringBuilder out = new StringBuilder("[");
    for (int i = 0; i < PIECES; i++) {
      if (i == gap) {
        out.append("::");
        i += gapLength - 1;
      } else {
        if (i > 0 && out.charAt(out.length() - 1) != ':') {
          out.append(':');
        }
        out.append(Integer.toHexString(pieces[i]).toLowerCase(Locale.ROOT));
      }
    }
    return out.append(']').toString();
  }

  /**
   * Returns the IPv4 address behind an IPv6 address of {@code ::ffff:0:0/96} (mapped, RFC 4291) or
   * {@code 64:ff9b::/96} (NAT64, RFC 6052); null for any other address.
   */
  static @Nullable String embeddedIpv4(int[] pieces) {
    boolean zeros = pieces[2] == 0 && pieces[3] == 0 && pieces[4] == 0;
    boolean mapped = pieces[0] == 0 && pieces[1] == 0 && pieces[5] == 0xFFFF;
    boolean nat64 = pieces[0] == 0x64 && pieces[1] == 0xFF9B && pieces[5] == 0;
    return zeros && (mapped || nat64) ? dotted((long) pieces[6] << 16 | pieces[7]) : null;
  }
}
