package io.firstseen.benchmarks.lists;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Ten URLs of visits to a host, all of which a list that names the host must match. */
final class MadeUpVisits {
  private static final Pattern IPV4 = Pattern.compile("[0-9]+(\\.[0-9]+){3}");

  private MadeUpVisits() {}

  /** Visits to a host in canonical form, a domain or an IPv4 address. */
  static List<String> to(String host) {
    boolean address = IPV4.matcher(host).matches();
    return List.of(
        "http://" + host + "/",
        "https://" + host + "/login",
        "HTTPS://" + host.toUpperCase(Locale.ROOT) + ".:443",
        "http://user:secret@" + host + ":8080/a/./b/../c.php?x=1&y#part",
        "http://" + escaped(host) + "/%7Euser/%c3%bc",
        "ftp://" + host + "/pub/1/2/3/4/5/6/file",
        " https:\\\\" + host + "\\a b?q=ü ",
        "ws://" + host + "?id=1",
        address ? "http://" + hexadecimal(host) + "/a" : "https://www." + host + "/a",
        address ? "http://" + octal(host) + ":81/" : "http://A.b.c-d.e_f." + host + ":81/a/b?c");
  }

  private static String escaped(String host) {
    StringBuilder out = new StringBuilder();
    for (byte c : host.getBytes(US_ASCII)) {
      out.append(c == '.' ? "." : "%" + Integer.toHexString(c));
    }
    return out.toString();
  }

  private static String hexadecimal(String address) {
    long number = 0;
    for (String part : address.split("\\.", -1)) {
      number = number << 8 | Integer.parseInt(part);
    }
    return "0x%x".formatted(number);
  }

  private static String octal(String address) {
    StringBuilder out = new StringBuilder();
    for (String part : address.split("\\.", -1)) {
      out.append(out.isEmpty() ? "" : ".").append("0%o".formatted(Integer.parseInt(part)));
    }
    return out.toString();
  }
}
