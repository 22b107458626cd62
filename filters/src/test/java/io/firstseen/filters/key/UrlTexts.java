package io.firstseen.filters.key;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/** Texts that are nearly URLs or lines of lists. */
final class UrlTexts {
  private UrlTexts() {}

  static Arbitrary<String> any() {
    Arbitrary<String> start =
        Arbitraries.of(
            "http://",
            "http://",
            "HTTPS://",
            "ftp://",
            "wss:\\\\",
            "",
            "",
            "",
            "//",
            "x:",
            "||",
            "0.0.0.0 ",
            "*.");
    Arbitrary<String> host =
        Arbitraries.of(
            "example.com",
            "EXAMPLE.com.",
            "h",
            "h%41",
            "h%2541",
            "h%252541",
            "a..b",
            "..",
            "-",
            "ü",
            "xn--",
            "xn--bcher-kva.de",
            "ﬁ.ß",
            "1.2.3.4",
            "[::1]",
            "a_b",
            "h%2Fb",
            "h%40b",
            "h%3Fb",
            "h%23b",
            "h%3A80",
            "\u200b",
            "ＡＢＣ",
            "。",
            "İ",
            "a*b.c",
            "!,.c",
            "b%2Ac.d",
            "0x7F.1",
            "[::ffff:1.2.3.4]",
            "::1",
            "a.b.c.d.e.f.g.co.uk",
            "u:p@h");
    Arbitrary<String> port =
        Arbitraries.of("", "", "", ":", ":80", ":443", ":080", ":0", ":99999", ":x");
    Arbitrary<String> rest =
        Arbitraries.of(
                "/", "//", "/.", "/..", "/...", "/./", "/../", "a", "B", "%", "%2", "%2e", "%2E%2e",
                "%2f", "%25", "%2541", "%zz", "?", "&", "=", "a=1", "b", ";", "#", " ", "ü",
                "\u0000", "\t", "\\", "[", "]", "|", "^", "*", "/*", "/24", "'", "\"", "+", "@",
                ":", "😀", "\ud800")
            .list()
            .ofMaxSize(10)
            .map(parts -> String.join("", parts));
    Arbitrary<String> mark = Arbitraries.of("/", "/", "/", "?", "#", "");
    return Combinators.combine(start, host, port, mark, rest)
        .as((s, h, p, m, r) -> s + h + p + m + r);
  }
}
