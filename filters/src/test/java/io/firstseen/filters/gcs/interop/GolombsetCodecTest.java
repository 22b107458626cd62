package io.firstseen.filters.gcs.interop;

import static io.firstseen.filters.gcs.interop.Vectors.hex;
import static io.firstseen.filters.gcs.interop.Vectors.keys;
import static io.firstseen.filters.gcs.interop.Vectors.values;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class GolombsetCodecTest {
  private final GolombsetCodec codec = new GolombsetCodec();

  static Stream<JsonNode> sets() {
    return Vectors.elements(Vectors.read("golombset").get("vectors"));
  }

  @ParameterizedTest
  @MethodSource("sets")
  void writesWhatTheLibraryWrites(JsonNode set) {
    assertThat(hex(codec.encode(Vectors.numbers(set.get("keys")))))
        .isEqualTo(set.get("encoded").textValue());
  }

  @ParameterizedTest
  @MethodSource("sets")
  void readsWhatTheLibraryWrites(JsonNode set) throws Exception {
    CodedSet decoded = codec.decode(hex(set.get("encoded").textValue()));
    assertThat(values(decoded)).containsExactly(Vectors.numbers(set.get("keys")));
  }

  @Test
  void keysAreDecimalNumbersInAnyOrder() throws Exception {
    byte[] bytes = codec.encode(keys("50", "6", "19", "83", "09", "6"));
    assertThat(hex(bytes)).isEqualTo("21849bb07f");
    CodedSet set = codec.decode(bytes);
    assertThat(set.header()).isEqualTo(Map.of("k", 4L));
    assertThat(keys("6", "9", "19", "50", "83", "00")).filteredOn(set::mightContain).hasSize(5);
    assertThatIllegalArgumentException().isThrownBy(() -> set.mightContain("x".getBytes(UTF_8)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "-1", "+1", "1.5", "1 ", "x", "18446744073709551616", "000000000000000000001"})
  void refusesOtherKeys(String key) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> codec.encode(keys(key)))
        .withMessage("a key must be a whole number in [0, 2^64 - 1], got '" + key + "'");
  }

  @Test
  void aLongKeyIsNotShownWhole() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> codec.encode(keys("1".repeat(1000))))
        .withMessageEndingWith(", got '" + "1".repeat(40) + "…'");
  }

  @Test
  void anEmptySetIsItsParameterAndPadding() throws Exception {
    assertThat(hex(codec.encode(List.of()))).isEqualTo("07");
    assertThat(codec.decode(hex("07")).count()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"0, 03", "1, 05", "2, 0c"})
  void aSetOfOne(long value, String digits) throws Exception {
    byte[] bytes = codec.encode(new long[] {value});
    assertThat(hex(bytes)).isEqualTo(digits);
    assertThat(values(codec.decode(bytes))).containsExactly(value);
  }

  /** A run of 2^33 bits, with what the library can say in 31 bits. */
  @ParameterizedTest
  @ValueSource(strings = {"18446744073709551615", "0 18446744073709551614 18446744073709551615"})
  void refusesAGapTooWideToWrite(String numbers) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> codec.encode(keys(numbers.split(" ", -1))))
        .withMessage(
            "the set must encode to at most 268435456 bytes, it needs more with 31 remainder bits");
  }

  @Test
  void numbersAreUnsigned() throws Exception {
    long[] wide = {1L << 60, 1L << 37, 0};
    CodedSet set = codec.decode(codec.encode(wide));
    assertThat(values(set)).containsExactly(0, 1L << 37, 1L << 60);
    assertThat(set.header()).isEqualTo(Map.of("k", 31L));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | parameter; 5 bits; got 0 bytes",
        "21849bb0 | bit 26; past the end; bit 32",
        "21849bb07e | bit 33; past the end; bit 40",
        "21849bb07fff | bit 33; past the end; bit 48",
        "21849bb000 | bit 38; past the end; bit 40"
      })
  void refusesDamagedSets(String digits, String facts) {
    assertThatThrownBy(() -> codec.decode(hex(digits)))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContainingAll(facts.split("; "));
  }
}
