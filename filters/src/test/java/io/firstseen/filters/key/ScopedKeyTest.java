package io.firstseen.filters.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ScopedKeyTest {
  private static final HexFormat HEX = HexFormat.of();

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Test
  void anOrdinaryKeyWithoutAScopeIsItself() throws InvalidKeyException {
    byte[] key = ascii("http://example.com/");
    assertThat(ScopedKey.join(null, key)).isSameAs(key);
    assertThat(ScopedKey.join(new byte[0], key)).isSameAs(key);
    assertThat(ScopedKey.key(key)).isEqualTo(key);
    assertThat(ScopedKey.scope(key)).isEmpty();
  }

  /** The bytes are on the accepted topic; they must never change. */
  @ParameterizedTest
  @CsvSource({
    "'', ff, ff00ff",
    "'', ff00ff, ff00ff00ff",
    "61, 62, ff016162",
    "61, ff, ff0161ff",
    "ff, '', ff01ff"
  })
  void theJoinedFormIsPinned(String scope, String key, String joined) throws InvalidKeyException {
    assertThat(HEX.formatHex(ScopedKey.join(HEX.parseHex(scope), HEX.parseHex(key))))
        .isEqualTo(joined);
  }

  @ParameterizedTest
  @CsvSource({"127, ff7f", "128, ff8001", "16383, ffff7f", "16384, ff808001", "65536, ff808004"})
  void longScopesStateTheirLengthInLeb128(int scopeBytes, String start) throws InvalidKeyException {
    byte[] scope = new byte[scopeBytes];
    Arrays.fill(scope, (byte) 's');
    byte[] joined = ScopedKey.join(scope, ascii("key"));
    assertThat(HEX.formatHex(joined)).startsWith(start + "73");
    assertThat(joined).hasSize(start.length() / 2 + scopeBytes + 3);
    assertThat(ScopedKey.scope(joined)).isEqualTo(scope);
    assertThat(ScopedKey.key(joined)).isEqualTo(ascii("key"));
  }

  @Test
  void aScopeThatIsTooLongIsInvalid() {
    assertThatThrownBy(() -> ScopedKey.join(new byte[65_537], ascii("key")))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("scope", "65536 bytes", "65537");
  }

  @Test
  void noTwoPairsOfASmallUniverseCollide() throws InvalidKeyException {
    Set<String> joined = new HashSet<>();
    Set<String> concatenated = new HashSet<>();
    List<byte[]> universe = allStringsUpToThreeBytes();
    for (byte[] scope : universe) {
      for (byte[] key : universe) {
        joined.add(HEX.formatHex(ScopedKey.join(scope, key)));
        concatenated.add(HEX.formatHex(scope) + HEX.formatHex(key));
      }
    }
    int pairs = universe.size() * universe.size();
    assertThat(joined).hasSize(pairs);
    // The control: the same universe does trip the naive rule.
    assertThat(concatenated).hasSizeLessThan(pairs);
  }

  /** Over bytes that the rule itself uses: lengths 0 to 2, a continued length, the mark. */
  private static List<byte[]> allStringsUpToThreeBytes() {
    byte[] alphabet = {0, 1, 2, (byte) 0x80, (byte) 0xFF};
    List<byte[]> all = new ArrayList<>(List.of(new byte[0]));
    for (int from = 0; all.get(from).length < 3; from++) {
      for (byte last : alphabet) {
        byte[] longer = Arrays.copyOf(all.get(from), all.get(from).length + 1);
        longer[longer.length - 1] = last;
        all.add(longer);
      }
    }
    return all;
  }

  @Property(seed = "2")
  void whatWasJoinedComesApart(
      @ForAll("treacherousBytes") byte[] scope, @ForAll("treacherousBytes") byte[] key)
      throws InvalidKeyException {
    byte[] joined = ScopedKey.join(scope, key);
    assertThat(ScopedKey.scope(joined)).isEqualTo(scope);
    assertThat(ScopedKey.key(joined)).isEqualTo(key);
  }

  @Property(seed = "3")
  void onlyWhatJoinProducesIsTakenApart(@ForAll("treacherousBytes") byte[] bytes)
      throws InvalidKeyException {
    byte[] scope;
    byte[] key;
    try {
      scope = ScopedKey.scope(bytes);
      key = ScopedKey.key(bytes);
    } catch (IllegalArgumentException refused) {
      return;
    }
    assertThat(ScopedKey.join(scope, key)).isEqualTo(bytes);
  }

  @Provide
  Arbitrary<byte[]> treacherousBytes() {
    return Arbitraries.of(0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF, 0x61)
        .list()
        .ofMaxSize(300)
        .map(
            values -> {
              ByteArrayOutputStream bytes = new ByteArrayOutputStream();
              values.forEach(bytes::write);
              return bytes.toByteArray();
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ff", // no length
        "ff80", // a length without an end
        "ff0261", // a scope shorter than stated
        "ff0061", // no scope and an ordinary key: stands for itself, unmarked
        "ff00", // no scope and no key
        "ff810061", // a length that is not in its shortest form
        "ff80800461", // a length past the end
        "ff8080808001", // a length of five bytes
      })
  void otherBytesAreRefused(String hex) {
    byte[] bytes = HEX.parseHex(hex);
    assertThatThrownBy(() -> ScopedKey.scope(bytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("a joined key must");
    assertThatThrownBy(() -> ScopedKey.key(bytes)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aStatedLengthOver64KiBIsRefusedThoughTheBytesAreThere() {
    byte[] bytes = new byte[4 + 65_537];
    System.arraycopy(HEX.parseHex("ff818004"), 0, bytes, 0, 4);
    assertThatThrownBy(() -> ScopedKey.scope(bytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("joined key", "65536", "65537");
    bytes[1] = (byte) 0x80;
    assertThat(ScopedKey.scope(bytes)).hasSize(65_536);
  }
}
