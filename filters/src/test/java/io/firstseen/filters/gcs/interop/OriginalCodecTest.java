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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OriginalCodecTest {
  private static final String HEADER_OF_26 = "0000001a00000040";

  private final JsonNode nato = Vectors.read("nato");
  private final List<byte[]> words = Vectors.texts(nato.get("words"));
  private final byte[] file = hex(HEADER_OF_26 + nato.get("bytes").textValue());

  @Test
  void writesTheTwentySixWordsInTwentyFiveBytes() {
    byte[] bytes = new OriginalCodec(64).encode(words);
    assertThat(hex(bytes)).isEqualTo(hex(file));
    assertThat(bytes).hasSize(8 + 25);
  }

  @Test
  void readsTheTwentySixWords() throws Exception {
    CodedSet set = new OriginalCodec(1024).decode(file);
    assertThat(set.header()).isEqualTo(Map.of("n", 26L, "p", 64L));
    assertThat(values(set)).containsExactly(Vectors.numbers(nato.get("sorted")));
    assertThat(words).allMatch(set::mightContain);
    assertThat(set.mightContain("apple".getBytes(UTF_8))).isFalse();
  }

  @Test
  void countsRepeatsInNAndWritesThemOnce() throws Exception {
    List<byte[]> twice = new ArrayList<>(words);
    twice.addAll(words);
    Collections.reverse(twice);
    CodedSet set = new OriginalCodec(64).decode(new OriginalCodec(64).encode(twice));
    assertThat(set.header().get("n")).isEqualTo(52);
    assertThat(set.count()).isEqualTo(26);
    assertThat(words).allMatch(set::mightContain);
  }

  @Test
  void anEmptySetHoldsNothing() throws Exception {
    byte[] bytes = new OriginalCodec(1024).encode(List.of());
    assertThat(hex(bytes)).isEqualTo("0000000000000400");
    CodedSet set = new OriginalCodec(1024).decode(bytes);
    assertThat(set.count()).isZero();
    assertThat(set.mightContain(words.get(0))).isFalse();
  }

  /** The value 0 is never written: with P = 1 it is the only one of a single key. */
  @Test
  void aKeyWhoseValueIsZeroIsNotMissed() throws Exception {
    byte[] bytes = new OriginalCodec(1).encode(keys("alpha"));
    assertThat(hex(bytes)).isEqualTo("0000000100000001");
    CodedSet set = new OriginalCodec(1).decode(bytes);
    assertThat(set.count()).isZero();
    assertThat(set.mightContain("alpha".getBytes(UTF_8))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 32, 128, 1 << 20, 1 << 26, 1 << 27, 1L << 31})
  void holdsEveryKeyAtEveryP(long p) throws Exception {
    for (int n = 1; n < 200; n += 7) {
      List<byte[]> keys =
          IntStream.range(0, n).mapToObj(i -> ("key " + i).getBytes(UTF_8)).toList();
      CodedSet set = new OriginalCodec(p).decode(new OriginalCodec(p).encode(keys));
      assertThat(set.header()).isEqualTo(Map.of("n", (long) n, "p", p));
      assertThat(keys).allMatch(set::mightContain);
      // 0 is always there.
      double rate = (n + 1.0) / (n * (double) p);
      long falsePositives =
          IntStream.range(0, 100)
              .filter(i -> set.mightContain(("no " + i).getBytes(UTF_8)))
              .count();
      assertThat(falsePositives).isLessThanOrEqualTo((long) (100 * rate + 30));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 3, 1000, 1L << 32})
  void refusesOtherPs(long p) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new OriginalCodec(p))
        .withMessage("P must be a power of two in [1, 2^31], got " + p);
  }

  /** Neither the length nor the number of values stands in the file. */
  @Test
  void cannotTellThatAFileWasCutBetweenTwoValues() throws Exception {
    CodedSet set = new OriginalCodec(64).decode(Arrays.copyOf(file, file.length - 1));
    assertThat(set.count()).isEqualTo(25);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0000001a000000 | header; 8 bytes; got 7",
        "0000001a00000041cba9 | P; power of two; [1, 2^31]; got 65",
        "0000001a00000000cba9 | P; power of two; [1, 2^31]; got 0",
        "0000001a00000040cba920f780663a061f2065198ab1032d624c50331e66ae | bit 246; past the end; bit 248",
        "0000001a00000040cba920f780663a061f2065198ab1032d624c50331e66ae9819 | bit 261; past the end; bit 264",
        "0000001a00000040cba920f780663a061f2065198ab1032d624c50331e66ae981800 | difference; at least 1; bit 261",
        // As an early C++ tool wrote it, with the last byte not aligned.
        "0000001a00000040cba920f780663a061f2065198ab1032d624c50331e66ae9803 | difference; at least 1; bit 254",
        "0000001900000040cba920f780663a061f2065198ab1032d624c50331e66ae9818 | value; at most 1599; bit 246",
        "00000002000004000020040080 | at most N = 2; are 3",
        "000000000000008001 | value; at most 0; bit 64"
      })
  void refusesDamagedFiles(String digits, String facts) {
    assertThatThrownBy(() -> new OriginalCodec(64).decode(hex(digits)))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContainingAll(facts.split("; "));
  }
}
