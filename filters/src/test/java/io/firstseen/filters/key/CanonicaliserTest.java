package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CanonicaliserTest {
  private static List<Canonicaliser> all() {
    return Canonicaliser.ALL;
  }

  private static byte[] filled(int bytes) {
    byte[] key = new byte[bytes];
    Arrays.fill(key, (byte) 'a');
    return key;
  }

  @Test
  void noneTakesAnyBytesAsTheyAre() throws InvalidKeyException {
    byte[] bytes = {(byte) 0xFF, 0, (byte) 0xC0, ' '};
    assertThat(Canonicaliser.NONE.canonicalise(bytes)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @MethodSource("all")
  void anEmptyKeyIsInvalid(Canonicaliser canonicaliser) {
    assertThatThrownBy(() -> canonicaliser.canonicalise(new byte[0]))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("key", "empty");
  }

  @ParameterizedTest
  @MethodSource("all")
  void aKeyOver64KiBIsInvalid(Canonicaliser canonicaliser) {
    assertThatThrownBy(() -> canonicaliser.canonicalise(filled(65_537)))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("key", "65536 bytes", "65537");
  }

  @Test
  void aKeyOf64KiBIsValid() throws InvalidKeyException {
    assertThat(Canonicaliser.NONE.canonicalise(filled(65_536))).hasSize(65_536);
    assertThat(Canonicaliser.TEXT.canonicalise(filled(65_536))).hasSize(65_536);
    String url = "http://example.com/" + "a".repeat(65_536 - "http://example.com/".length());
    assertThat(Canonicaliser.URL.canonicalise(url.getBytes(UTF_8))).hasSize(65_536);
  }

  @Test
  void aCanonicalFormOver64KiBIsInvalid() {
    // Each of these grows: three bytes to 33, two to six.
    byte[] text = "\uFDFA".repeat(2_000).getBytes(UTF_8);
    assertThatThrownBy(() -> Canonicaliser.TEXT.canonicalise(text))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("canonical key", "65536 bytes", "66000");
    byte[] url = ("http://h/" + "\u00FC".repeat(20_000)).getBytes(UTF_8);
    assertThatThrownBy(() -> Canonicaliser.URL.canonicalise(url))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("canonical key", "65536 bytes", "120009");
  }

  /** A stray continuation, a cut sequence, an overlong slash, a surrogate, past U+10FFFF, FF. */
  @ParameterizedTest
  @ValueSource(strings = {"80", "c3", "c0af", "eda080", "f4908080", "ff"})
  void whatIsNotUtf8IsInvalid(String hex) {
    byte[] key = HexFormat.of().parseHex("6162" + hex + "2f");
    for (Canonicaliser canonicaliser : all().subList(1, 4)) {
      assertThatThrownBy(() -> canonicaliser.canonicalise(key))
          .isInstanceOf(InvalidKeyException.class)
          .hasMessageContainingAll("key", "UTF-8", "byte 2");
    }
  }

  @ParameterizedTest
  @CsvSource({"none, 0, 1", "url, 1, 3", "text, 2, 1", "url-expression, 3, 2"})
  void isFoundByItsIdAndItsCode(String id, int code, int version) {
    Canonicaliser canonicaliser = all().get(code);
    assertThat(Canonicaliser.of(id)).isEqualTo(canonicaliser);
    assertThat(Canonicaliser.of(id + "-" + version)).isEqualTo(canonicaliser);
    assertThat(Canonicaliser.of(code, version)).isEqualTo(canonicaliser);
    assertThat(Canonicaliser.of(code, 65_535)).as("unknown version").isEqualTo(canonicaliser);
    assertThat(canonicaliser.id()).isEqualTo(id);
    assertThat(canonicaliser).hasToString(id);
    assertThat(canonicaliser.code()).isEqualTo(code);
    assertThat(canonicaliser.version()).isEqualTo(version);
    assertThat(canonicaliser.strippedParameters()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"url, 1, 2", "url-expression, 3, 1"})
  void anOlderVersionIsAnotherCanonicaliserOfTheSameRule(String id, int code, int version) {
    Canonicaliser older = Canonicaliser.of(id + "-" + version);
    assertThat(Canonicaliser.of(code, version)).isEqualTo(older);
    assertThat(older.id()).isEqualTo(id);
    assertThat(older.version()).isEqualTo(version);
    assertThat(older.is(Canonicaliser.of(id))).isTrue();
    assertThat(older).isNotEqualTo(Canonicaliser.of(id));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "URL", "domain", "url-1", "url-4"})
  void anotherIdIsRefused(String id) {
    assertThatThrownBy(() -> Canonicaliser.of(id))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(
            "none, url, text, url-expression", "url-2", "url-expression-1", "'" + id + "'");
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 4})
  void anotherCodeIsRefused(int code) {
    assertThatThrownBy(() -> Canonicaliser.of(code, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("canonicaliser", "[0, 3]", "got " + code);
  }

  @Test
  void invalidKeysComeWithoutAStackTrace() {
    InvalidKeyException e = new InvalidKeyException("why");
    assertThat(e).hasMessage("why");
    assertThat(e.getStackTrace()).isEmpty();
  }
}
