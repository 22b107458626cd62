package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import crawlercommons.filters.basic.BasicURLNormalizer;
import crawlercommons.filters.basic.BasicURLNormalizer.IdnNormalization;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Canonicalises entries of real blocklists, with and without the fast path. {@code
 * -Dfirstseen.streams=DIR} selects all streams of a directory.
 */
class RealUrlsTest {
  /** Spellings of a key; the streams contain the first two. */
  private static final List<String> SPELLINGS =
      List.of(
          "%s",
          "http://%s/",
          "https://%s/signin/index.php?id=1&user=a%%40b&user=c",
          "HTTPS://%s.:443/a/../b?user=1&id=",
          "ftp://%s:2121/%%c3%%bc#part");

  private static final BasicURLNormalizer CRAWLER_COMMONS =
      BasicURLNormalizer.newBuilder()
          .idnNormalization(IdnNormalization.PUNYCODE)
          .queryParamsToRemove(Set.of())
          .build();

  /** Returns the keys in a spelling; in the quick tier, each key has one of the spellings. */
  private static Stream<String> spelled(Set<String> keys, String spelling) {
    boolean quick = Integer.getInteger("firstseen.scale", 1) == 1;
    int index = SPELLINGS.indexOf(spelling);
    return keys.stream()
        .filter(key -> !quick || Math.floorMod(key.hashCode(), SPELLINGS.size()) == index)
        .map(spelling::formatted);
  }

  static List<Path> streams() throws IOException {
    Path directory = Path.of(System.getProperty("firstseen.streams", "../examples"));
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".tsv.gz")).sorted().toList();
    }
  }

  static Set<String> keysOf(Path stream) throws IOException {
    Set<String> keys = new TreeSet<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(Files.newInputStream(stream)), UTF_8))) {
      lines.lines().map(line -> line.split("\t", 3)[2]).forEach(keys::add);
    }
    return keys;
  }

  @ParameterizedTest
  @MethodSource("streams")
  void keysOfRealStreams(Path stream) throws IOException {
    Set<String> keys = keysOf(stream);
    assertThat(keys).hasSizeGreaterThan(1_000);
    for (String spelling : SPELLINGS) {
      mostAreTakenByTheFastPath(spelled(keys, spelling).toList(), 99);
    }
  }

  @Test
  void realUrls() throws IOException {
    try (InputStream in = RealUrlsTest.class.getResourceAsStream("phishing-urls.txt")) {
      List<String> urls = new String(in.readAllBytes(), UTF_8).lines().toList();
      assertThat(urls).hasSize(189);
      mostAreTakenByTheFastPath(urls, 90);
    }
  }

  /** The rule was crawler-commons' once; on what people list it still gives the same. */
  @Test
  void crawlerCommonsGivesTheSameOnRealHosts() throws IOException, InvalidKeyException {
    for (Path stream : streams()) {
      Set<String> keys = keysOf(stream);
      // Of two dots at its end the library leaves one.
      keys.removeIf(key -> key.endsWith("."));
      for (String spelling : SPELLINGS.subList(1, SPELLINGS.size())) {
        for (String url : spelled(keys, spelling).toList()) {
          assertThat(new String(Canonicaliser.URL.canonicalise(url.getBytes(UTF_8)), UTF_8))
              .isEqualTo(CRAWLER_COMMONS.filter(url));
        }
      }
    }
  }

  /** Once they are canonical, as they are on the accepted stream. */
  private static void mostAreTakenByTheFastPath(List<String> urls, int percent) {
    List<byte[]> canonical =
        urls.stream()
            .map(url -> WithoutFastPath.mustAgree(url.getBytes(UTF_8)))
            .filter(answer -> answer.contains("://"))
            .map(form -> form.getBytes(UTF_8))
            .toList();
    assertThat(canonical).hasSizeGreaterThan(urls.size() * percent / 100);
    assertThat(canonical.stream().filter(NormalUrl::matches))
        .hasSizeGreaterThan(canonical.size() * percent / 100);
  }
}
