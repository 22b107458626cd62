package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Vectors are in {@code docs/format/vectors/url.json}, held by {@link UrlVectorsTest}. */
class StrippedParametersTest {
  private static final String PATTERNS = "a,b*,c.d";
  private static final Canonicaliser STRIPPING = Canonicaliser.URL.stripping(PATTERNS);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "utm_*,gclid | gclid,utm_*",
        "gclid,utm_*,gclid | gclid,utm_*",
        "b,a,B,*,a*,-,_,~,.,0 | *,-,.,0,B,_,a,a*,b,~",
        "x | x",
      })
  void haveOneText(String given, String text) {
    Canonicaliser stripping = Canonicaliser.URL.stripping(given);
    assertThat(stripping.strippedParameters()).isEqualTo(text);
    assertThat(stripping).isEqualTo(Canonicaliser.URL.stripping(text));
    assertThat(stripping).hasSameHashCodeAs(Canonicaliser.URL.stripping(text));
    assertThat(stripping).hasToString("url without " + text);
    assertThat(stripping).isNotEqualTo(Canonicaliser.URL);
    assertThat(stripping).isNotEqualTo(Canonicaliser.URL.stripping(text + ",other"));
    assertThat(stripping.version()).isEqualTo(Canonicaliser.URL.version());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "a,", ",a", "a,,b", "*a", "a*b", "a**", "a b", "a%5F", "a=b", "\u00fc"})
  void otherPatternsAreRefused(String text) {
    assertThatThrownBy(() -> Canonicaliser.URL.stripping(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "a stripped parameter must be a name of letters, digits and '-._~', with '*' only at"
                + " its end, got '");
  }

  @Test
  void areOfUpTo1000Characters() {
    String longest = "a".repeat(498) + "," + "b".repeat(501);
    assertThat(Canonicaliser.URL.stripping(longest + "," + "b".repeat(501)).strippedParameters())
        .isEqualTo(longest);
    assertThatThrownBy(() -> Canonicaliser.URL.stripping(longest + "b"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("stripped parameters", "1000 characters", "1001");
  }

  /** They come with manifests, so anyone with write access to the topic can choose them. */
  @Test
  void takeLittleMemoryToRead() {
    String longest =
        "*,~" + IntStream.range(0, 199).mapToObj(",%04d"::formatted).collect(Collectors.joining());
    assertThat(longest).hasSize(998);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    Canonicaliser.URL.stripping(longest);
    long before = threads.getCurrentThreadAllocatedBytes();
    Canonicaliser.URL.stripping(longest);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(256 << 10);
  }

  @Test
  void areOfUrlsOnly() {
    for (String id : List.of("none", "text", "url-expression")) {
      assertThatThrownBy(() -> Canonicaliser.of(id).stripping("a"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll("canonicaliser url", "not " + id);
    }
  }

  @Test
  void commonIsTheListOfThePage() {
    String common = Canonicaliser.URL.stripping("common").strippedParameters();
    assertThat(Path.of("../docs/format/url-v3.md")).content().contains("`" + common + "`");
    assertThat(Canonicaliser.URL.stripping("zzz,common,gclid").strippedParameters())
        .isEqualTo(common + ",zzz");
    assertThat(Canonicaliser.URL.stripping(common).strippedParameters()).isEqualTo(common);
  }

  /** As it travels in the operators of a job. */
  @Test
  void isTheSameAfterSerialization() throws Exception {
    for (Canonicaliser canonicaliser : List.of(STRIPPING, Canonicaliser.TEXT)) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
        out.writeObject(canonicaliser);
      }
      ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
      Canonicaliser read = (Canonicaliser) in.readObject();
      assertThat(read).isEqualTo(canonicaliser);
      byte[] key = "http://h/?a=1&z=2".getBytes(UTF_8);
      assertThat(read.canonicalise(key)).isEqualTo(canonicaliser.canonicalise(key));
    }
  }

  @Test
  void aUrlInNormalFormIsReturnedAsItIs() throws InvalidKeyException {
    for (String url : List.of("http://h/", "http://h/a?ab=a&c=b&c.de&z=a=b")) {
      byte[] key = url.getBytes(UTF_8);
      assertThat(STRIPPING.canonicalise(key)).isSameAs(key);
    }
  }

  /** The form is bounded, not what it was before. */
  @Test
  void whatIsLongOnlyWithItsParametersIsValid() throws InvalidKeyException {
    String value = "\u00fc".repeat(20_000);
    assertThat(STRIPPING.canonicalise(("http://h/?a=" + value).getBytes(UTF_8)))
        .asString(UTF_8)
        .isEqualTo("http://h/");
    byte[] kept = ("http://h/?z=" + value).getBytes(UTF_8);
    assertThatThrownBy(() -> STRIPPING.canonicalise(kept))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("canonical key", "65536 bytes", "120012");
  }

  /** Against the words of the page, on texts with all that matters in a query. */
  @Test
  void leavesOutWhatThePageSays() throws InvalidKeyException {
    SplittableRandom random = new SplittableRandom(24);
    List<String> parts =
        List.of("a", "b", "c.d", "bc", "A", "z", "=", "&", "?", "%61", "%2e", ".", "#", "%26", "+");
    int changed = 0;
    for (int i = 0; i < 20_000; i++) {
      String query =
          IntStream.range(0, random.nextInt(12))
              .mapToObj(unused -> parts.get(random.nextInt(parts.size())))
              .collect(Collectors.joining());
      byte[] key = ("http://h/?" + query).getBytes(UTF_8);
      String with = new String(Canonicaliser.URL.canonicalise(key), UTF_8);
      String without = new String(STRIPPING.canonicalise(key), UTF_8);
      assertThat(without).as(query).isEqualTo(stripped(with));
      assertThat(STRIPPING.canonicalise(without.getBytes(UTF_8)))
          .asString(UTF_8)
          .isEqualTo(without);
      changed += without.equals(with) ? 0 : 1;
    }
    assertThat(changed).isGreaterThan(3_000);
  }

  private static String stripped(String url) {
    String[] halves = url.split("\\?", 2);
    if (halves.length == 1) {
      return url;
    }
    String kept =
        Stream.of(halves[1].split("&"))
            .filter(
                parameter -> {
                  String name = parameter.split("=", 2)[0];
                  return !name.equals("a") && !name.startsWith("b") && !name.equals("c.d");
                })
            .collect(Collectors.joining("&"));
    return kept.isEmpty() ? halves[0] : halves[0] + "?" + kept;
  }
}
