package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.MessageDigest;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostsTest {
  /** Of the forms of hosts with all characters that Unicode 13 assigns; JDK 17 and 25 agree. */
  private static final String FORMS_OF_UNICODE_13 =
      "ce5420929ae86016af53091f56b54f4d32e1403d515df5eb03c50815daf527a6";

  private static String formOrNothing(String host) {
    try {
      return Hosts.canonical(host);
    } catch (InvalidKeyException refused) {
      return "";
    }
  }

  /** Fails on a JDK that maps a character differently: the rules must not be used there. */
  @Test
  void charactersOfUnicode13AreMappedAsOnJdk17() throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    int mapped = 0;
    for (int[] range : TextRuleTest.assignedInUnicode13()) {
      for (int codePoint = range[0]; codePoint <= range[range.length - 1]; codePoint++) {
        String form = formOrNothing("a" + Character.toString(codePoint) + "b.example");
        mapped += form.isEmpty() ? 0 : 1;
        digest.update(form.getBytes(UTF_8));
        digest.update((byte) '\n');
      }
    }
    assertThat(mapped).isEqualTo(281_241);
    assertThat(HexFormat.of().formatHex(digest.digest())).isEqualTo(FORMS_OF_UNICODE_13);
  }

  /** Samples of RFC 3492, section 7.1: Arabic, Chinese and Czech. */
  @ParameterizedTest
  @CsvSource({
    "ليهمابتكلموشعربي؟, egbpdaj6bu4bxfgehfvwxn",
    "他们为什么不说中文, ihqwcrb4cv8a8dqg056pqjye",
    "Pročprostěnemluvíčesky, Proprostnemluvesky-uyb24dma41a",
  })
  void punycodeIsThatOfTheRfc(String label, String code) {
    StringBuilder out = new StringBuilder();
    Punycode.encode(label, out);
    assertThat(out).hasToString(code);
  }

  @Test
  void aHostBeyondAsciiIsBounded() throws InvalidKeyException {
    String tail = ".example";
    String longest = "\u00FC".repeat(Hosts.MAX_INTERNATIONAL - tail.length()) + tail;
    assertThat(Hosts.canonical(longest)).startsWith("xn--").endsWith(tail);
    assertThatThrownBy(() -> Hosts.canonical("\u00FC" + longest))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("'" + "\u00FC".repeat(40) + "…'", "1024 characters");
    assertThat(Hosts.canonical("a".repeat(60_000) + tail)).hasSize(60_000 + tail.length());
  }

  @Test
  void aRefusalShowsAShortenedHost() {
    assertThatThrownBy(() -> Hosts.canonical("a".repeat(60_000) + " .example"))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("'" + "a".repeat(40) + "…'", "' '");
  }
}
