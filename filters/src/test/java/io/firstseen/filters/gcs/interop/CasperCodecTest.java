package io.firstseen.filters.gcs.interop;

import static io.firstseen.filters.gcs.interop.Vectors.hex;
import static io.firstseen.filters.gcs.interop.Vectors.values;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class CasperCodecTest {
  private final CasperCodec codec = new CasperCodec();

  static Stream<JsonNode> cookies() {
    return Vectors.elements(Vectors.read("casper").get("vectors"));
  }

  private static CasperCodec codecOf(JsonNode cookie) {
    return new CasperCodec(
        cookie.get("capacityBits").intValue(), cookie.get("remainderBits").intValue());
  }

  @ParameterizedTest
  @MethodSource("cookies")
  void writesTheCookie(JsonNode cookie) {
    List<byte[]> paths = new ArrayList<>(Vectors.texts(cookie.get("paths")));
    paths.addAll(Vectors.texts(cookie.get("paths")));
    Collections.reverse(paths);
    assertThat(hex(codecOf(cookie).encode(paths))).isEqualTo(cookie.get("encoded").textValue());
    assertThat(codecOf(cookie).encodeCookie(paths))
        .isEqualTo(cookie.get("cookieValue").textValue());
  }

  @ParameterizedTest
  @MethodSource("cookies")
  void readsTheCookie(JsonNode cookie) throws Exception {
    CodedSet set = codecOf(cookie).decodeCookie(cookie.get("cookieValue").textValue());
    assertThat(set.header()).isEmpty();
    assertThat(values(set)).containsExactly(Vectors.numbers(cookie.get("keys")));
    assertThat(Vectors.texts(cookie.get("paths"))).allMatch(set::mightContain);
    assertThat(set.mightContain("/absent.js".getBytes(UTF_8))).isFalse();
  }

  @Test
  void noPathsAreAnEmptyValue() throws Exception {
    assertThat(codec.encodeCookie(List.of())).isEmpty();
    CodedSet set = codec.decodeCookie("");
    assertThat(set.count()).isZero();
    assertThat(set.mightContain("/index.html".getBytes(UTF_8))).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "1, 31", "8, 0", "13, 7", "26, 20", "31, 26", "31, 31", "20, 27"})
  void holdsEveryPathAtEveryWidth(int capacityBits, int remainderBits) throws Exception {
    CasperCodec other = new CasperCodec(capacityBits, remainderBits);
    for (int n = 0; n < 40; n++) {
      List<byte[]> paths = IntStream.range(0, n).mapToObj(i -> ("/" + i).getBytes(UTF_8)).toList();
      CodedSet set = other.decode(other.encode(paths));
      assertThat(paths).allMatch(set::mightContain);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 6, 'capacity bits must be in [1, 31], got 0'",
    "32, 6, 'capacity bits must be in [1, 31], got 32'",
    "13, -1, 'remainder bits must be in [0, 31], got -1'",
    "13, 32, 'remainder bits must be in [0, 31], got 32'"
  })
  void refusesOtherWidths(int capacityBits, int remainderBits, String sentence) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new CasperCodec(capacityBits, remainderBits))
        .withMessage(sentence);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "AAAAAAAAAAAAAAAAAAAAqA= | not base64url",
        "AAAAAAAAAAAAAAAAAAAAqA== | padding; last byte",
        "AAAAAAAAAAAAAAAAAAAAqB | padding; last byte",
        "AAAA+AAA | not base64url",
        "AAAAAAAAAAAAAAAAAAAA | bit 0; past the end; bit 120",
        "AAAAAAAAAAAAAAAAAAAAqAA | bit 127; past the end; bit 136",
        "AAAAAAAAAAAAAAAAAAAAAAKg | value; at most 8191; bit 0"
      })
  void refusesDamagedCookies(String value, String facts) {
    assertThatThrownBy(() -> codec.decodeCookie(value))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContainingAll(facts.split("; "));
  }
}
