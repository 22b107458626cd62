package io.firstseen.filters.gcs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.gcs.interop.CodedSet;
import io.firstseen.filters.gcs.interop.OriginalCodec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/** The figures of the articles that Golomb-coded sets became known by, and what is better. */
class OriginalFiguresTest {
  private static final int P = 1024;

  @Test
  void theItalianWordsTakeElevenAndAHalfBitsEach() throws Exception {
    List<byte[]> words = italianWords();
    assertThat(words).hasSize(60_453);
    byte[] file = new OriginalCodec(P).encode(words);
    assertThat(file).hasSize(87_486);
    CodedSet set = new OriginalCodec(P).decode(file);
    assertThat(set.count()).isEqualTo(60_417);
    assertThat(words.stream().skip(60_400)).allMatch(set::mightContain);
    // A Rice code is the Golomb code of a power of two.
    assertThat(payloadBits(set, P)).isEqualTo(699_820);
    assertThat((double) payloadBits(set, P) / words.size()).isCloseTo(11.58, within(0.005));
    assertThat(payloadBits(set, 512)).as("the better power of two").isEqualTo(697_394);
    assertThat(payloadBits(set, 710)).as("the best divisor, mean · ln 2").isEqualTo(693_199);
    assertThat(informationBits((long) P * words.size(), set.count())).isEqualTo(691_333);
    assertThat(Math.round((double) P * words.size() / set.count() * Math.log(2))).isEqualTo(710);
  }

  /** log2 of the number of sets of {@code count} values out of {@code range}. */
  private static long informationBits(long range, long count) {
    double bits = 0;
    for (long i = 0; i < count; i++) {
      bits += Math.log((double) (range - i) / (i + 1)) / Math.log(2);
    }
    return Math.round(bits);
  }

  private static long payloadBits(CodedSet set, long golombParameter) {
    GolombCode code = new GolombCode(golombParameter);
    long bits = 0;
    long before = 0;
    for (PrimitiveIterator.OfLong values = set.values(); values.hasNext(); ) {
      long value = values.nextLong();
      long quotient = code.quotient(value - before);
      long remainder = value - before - quotient * golombParameter;
      bits += quotient + code.minBits() + (code.hasMore(remainder) ? 1 : 0);
      before = value;
    }
    return bits;
  }

  private static List<byte[]> italianWords() throws IOException {
    try (InputStream in =
            OriginalFiguresTest.class.getResourceAsStream(
                "/io/firstseen/filters/snapshot/words.italian.gz");
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(new GZIPInputStream(in), UTF_8))) {
      return lines.lines().map(line -> line.getBytes(UTF_8)).toList();
    }
  }
}
