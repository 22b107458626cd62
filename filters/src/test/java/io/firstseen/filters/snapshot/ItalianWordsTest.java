package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/** The sizes on real words, so that a change of them shows. */
class ItalianWordsTest {
  private static final SetParameters SET =
      SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 1.0 / 1024);

  @Test
  void takesFewerThanTwelveBitsAWordInAll() throws Exception {
    List<String> words = words();
    assertThat(words).hasSize(60_453);
    long[] hashes = words.stream().mapToLong(ItalianWordsTest::hash).toArray();
    Snapshot snapshot = Snapshot.build(hashes, new SnapshotParameters(SET, "italian", 0, 0, 0, 0));
    snapshot.verify();
    SnapshotHeader header = snapshot.header();
    assertThat(header.hashCount()).as("distinct words").isEqualTo(60_444);
    assertThat(header.universe()).isEqualTo(new Universe(1679, 36_864));
    assertThat(header.count()).isEqualTo(60_407);
    // The rate is 2^-10, so the bound is 10 + 1.475 bits per value.
    assertThat(header.payloadBits()).isEqualTo(690_414);
    assertThat(snapshot.asByteBuffer().remaining()).isEqualTo(88_698);
    assertThat(Arrays.stream(hashes).allMatch(snapshot::mightContain)).isTrue();
    // Words with an underscore are not in the list; 62 false answers are expected.
    long present =
        words.stream().map(word -> word + "_").filter(w -> snapshot.mightContain(hash(w))).count();
    assertThat(present).isBetween(20L, 90L);
  }

  private static long hash(String word) {
    try {
      return SET.hash(null, word.getBytes(StandardCharsets.UTF_8), KeyHash.fixed());
    } catch (Exception e) {
      throw new AssertionError(word, e);
    }
  }

  private static List<String> words() {
    try (InputStream in = ItalianWordsTest.class.getResourceAsStream("words.italian.gz");
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(new GZIPInputStream(in), StandardCharsets.UTF_8))) {
      return lines.lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
