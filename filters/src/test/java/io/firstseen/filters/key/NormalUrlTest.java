package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NormalUrlTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://s2audio.com.br/",
        "https://s-297878780.duckdns.org/a/B_c~d/e.html",
        "ftp://203.0.113.9:2121/",
        "http://xn--bcher-kva.de/%C3%BC%2F%25",
        "http://_dmarc.a-b.c:8080/x;y=1,2/@(a)*!$&'+",
        "http://h:65535/",
        "http://1.a/",
        "http://a.1x/",
        "http://h/a..b",
        "http://h/a./b../c",
        "http://h/a.",
        "http://h/?a",
        "http://h/a/?a=1&a=0&b&c==/../?d&d=%26",
      })
  void normalUrlsAreRecognised(String url) throws InvalidKeyException {
    assertThat(NormalUrl.matches(url.getBytes(UTF_8))).isTrue();
    assertThat(UrlNormaliser.normalise(url, PercentEscapes.IN_BROWSER_QUERY))
        .isEqualTo(url.getBytes(UTF_8));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "h",
        "http://",
        "http:///",
        "http://h",
        "HTTP://h/",
        "gopher://h/",
        "http://H/",
        "http://.h/",
        "http://h./",
        "http://a..b/",
        "http://h:/",
        "http://h:80/",
        "https://h:443/",
        "ftp://h:21/",
        "http://h:080/",
        "http://h:65536/",
        "http://1.2.3/",
        "http://1.2.3.256/",
        "http://1.2.3.04/",
        "http://a.0x/",
        "http://h:8x/",
        "http://u@h/",
        "http://ü/",
        "http://h%41/",
        "http://[::1]/",
        "http://h//",
        "http://h/.",
        "http://h/./a",
        "http://h/../a",
        "http://h/ ",
        "http://h/ü",
        "http://h/%",
        "http://h/%4",
        "http://h/%41",
        "http://h/%c3",
        "http://h/%zz",
        "http://h/\\",
        "http://h/?",
        "http://h/?a=",
        "http://h/?a=&b=1",
        "http://h/?=1",
        "http://h/?&",
        "http://h/?a=1&",
        "http://h/?a=1&&b=2",
        "http://h/?b=1&a=2",
        "http://h/?a=%41",
        "http://h/?a= ",
        "http://h?a=1",
        "http://h/?a#b",
        "http://h/a#b",
        "http://h/\u0000",
      })
  void whatMayNotBeNormalIsLeftToTheNormaliser(String url) {
    assertThat(NormalUrl.matches(url.getBytes(UTF_8))).isFalse();
  }
}
