package io.firstseen.filters.near;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.firstseen.filters.key.KeyHash;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextSignatureTest {
  private static final KeyHash HASH = KeyHash.fixed();

  private static long[] bands(NearRule rule, String text) {
    return new TextSignature(rule, HASH).bands(text.getBytes(UTF_8), HASH.hash(new byte[0]));
  }

  private static long[] elements(NearRule rule, byte[] text) {
    return new TextSignature(rule, HASH).elements(text);
  }

  private static long equal(long[] first, long[] second) {
    return IntStream.range(0, first.length).filter(i -> first[i] == second[i]).count();
  }

  private static Set<String> shingles(NearRule rule, String text) {
    Set<String> shingles = new HashSet<>();
    List<String> units =
        rule.unit() == NearRule.Unit.WORDS
            ? List.of(text.split(" "))
            : text.codePoints().mapToObj(Character::toString).toList();
    String between = rule.unit() == NearRule.Unit.WORDS ? " " : "";
    for (int i = 0; i + rule.shingle() <= units.size(); i++) {
      shingles.add(String.join(between, units.subList(i, i + rule.shingle())));
    }
    return shingles;
  }

  private static double jaccard(NearRule rule, String first, String second) {
    Set<String> common = shingles(rule, first);
    Set<String> others = shingles(rule, second);
    int both = common.size() + others.size();
    common.retainAll(others);
    return (double) common.size() / (both - common.size());
  }

  private static String words(SplittableRandom random, int count) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      words.add(Long.toString(random.nextLong(1L << 24), 36));
    }
    return String.join(" ", words);
  }

  private static String changed(SplittableRandom random, String text, double share) {
    List<String> words = new ArrayList<>();
    for (String word : text.split(" ")) {
      words.add(random.nextDouble() < share ? words(random, 1) : word);
    }
    return String.join(" ", words);
  }

  /** Both parts of the rate of two matches: two bands with one tag, and the whole text. */
  @ParameterizedTest
  @CsvSource({"short, 1e-9", "short, 1e-5", "long, 1e-9", "long, 0.1", "'words:2,2x4,2', 1e-7"})
  void aFilterWithTheRateOfABandHasTheRateOfATextAtMost(String name, double rate) {
    NearRule rule = NearRule.of(name);
    double band = rule.bandRate(rate);
    assertThat(rule.filterRate(Math.scalb(band, -rule.tagBits()), Long.MAX_VALUE))
        .isCloseTo(rate, withinPercentage(0.001));
    if (rule.matches() == 2) {
      double chance = Math.scalb(1.0, -rule.tagBits());
      double noTwo = Math.pow(1 - band * band * chance, rule.bands() * (rule.bands() - 1) / 2.0);
      assertThat(1 - noTwo * (1 - band * chance)).isCloseTo(rate, withinPercentage(0.1));
    }
  }

  /** The share of pairs that match is the mean of the S-curve at their similarities. */
  @ParameterizedTest
  @CsvSource({
    "short, 25, 0.1",
    "short, 25, 0.4",
    "long, 300, 0.03",
    "long, 300, 0.12",
    "'characters:5,20x5,1', 25, 0.25",
    "'words:2,20x4,2', 100, 0.15"
  })
  void pairsMatchAsOftenAsTheCurveSays(String name, int count, double share) {
    NearRule rule = NearRule.of(name);
    SplittableRandom random = new SplittableRandom(7);
    double expected = 0;
    int matching = 0;
    int pairs = 400;
    for (int i = 0; i < pairs; i++) {
      String text = words(random, count);
      String other = changed(random, text, share);
      double similarity = jaccard(rule, text, other);
      assertThat(
              new TextSignature(rule, HASH).similarity(text.getBytes(UTF_8), other.getBytes(UTF_8)))
          .isEqualTo(similarity);
      expected += rule.matchProbability(similarity) / pairs;
      matching += equal(bands(rule, text), bands(rule, other)) >= rule.matches() ? 1 : 0;
    }
    double deviation = Math.sqrt(expected * (1 - expected) / pairs);
    assertThat((double) matching / pairs)
        .isCloseTo(expected, Assertions.within(4 * deviation + 0.002));
  }

  @ParameterizedTest
  @ValueSource(strings = {"short", "long"})
  void oneTextHasOneSignatureInEachScope(String name) {
    NearRule rule = NearRule.of(name);
    String text = "claim your free prize now before it expires";
    assertThat(bands(rule, text)).isEqualTo(bands(rule, text)).doesNotHaveDuplicates();
    long[] ofScope = new TextSignature(rule, HASH).bands(text.getBytes(UTF_8), 1);
    assertThat(equal(bands(rule, text), ofScope)).isZero();
    TextSignature other = new TextSignature(rule, KeyHash.sipHash24(new byte[16]));
    assertThat(equal(bands(rule, text), other.bands(text.getBytes(UTF_8), 0))).isZero();
  }

  @Test
  void aTextWithFewerUnitsThanAShingleIsOneShingle() {
    assertThat(equal(bands(NearRule.LONG, "two words"), bands(NearRule.LONG, "two words")))
        .isEqualTo(NearRule.LONG.bands());
    assertThat(equal(bands(NearRule.LONG, "two words"), bands(NearRule.LONG, "two swords")))
        .isZero();
    assertThat(equal(bands(NearRule.SHORT, "é"), bands(NearRule.SHORT, "è"))).isZero();
  }

  @Test
  void thePageHasTheBandsAndTheCurvesOfTheRules() throws IOException {
    String page = Files.readString(Path.of("../docs/format/near-v1.md"));
    for (String name : List.of("short", "long", "short+fold", "long+fold")) {
      assertThat(page)
          .contains("`%s` is `%s`".formatted(name, NearRule.of(name)))
          .contains(
              "| `%s` | `%016x` |"
                  .formatted(name, bands(NearRule.of(name), "claim your free prize now.")[0]));
    }
    byte[] text = "claim your free prize now.".getBytes(UTF_8);
    assertThat(page).contains("`%016x` with `short`".formatted(elements(NearRule.SHORT, text)[0]));
    assertThat(elements(NearRule.LONG, text))
        .startsWith(bands(NearRule.LONG, "claim your free prize now."))
        .endsWith(HASH.hash(text))
        .hasSize(21);
    List<double[]> rows =
        Pattern.compile("(?m)^\\| (0\\.\\d+) \\| (\\S+) \\| (\\S+) \\|$")
            .matcher(page)
            .results()
            .map(
                row ->
                    IntStream.rangeClosed(1, 3).mapToDouble(i -> Double.parseDouble(row.group(i))))
            .map(DoubleStream::toArray)
            .toList();
    assertThat(rows).hasSize(10);
    for (double[] row : rows) {
      assertThat(row[1]).isCloseTo(NearRule.SHORT.matchProbability(row[0]), withinPercentage(6));
      assertThat(row[2]).isCloseTo(NearRule.LONG.matchProbability(row[0]), withinPercentage(6));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "medium",
        "words:3,14x8",
        "words:0,14x8,1",
        "words:3,65x8,1",
        "words:3,14x17,1",
        "words:3,14x8,3",
        "words:3,1x8,2",
        "short+",
        "short+fold+fold",
        "words:3,14x8+fold,1"
      })
  void otherNamesAreRejected(String name) {
    assertThatThrownBy(() -> NearRule.of(name)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theNameOfARuleIsReadBack() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("fa-IR-u-nu-arabext"));
    try {
      assertThat(NearRule.SHORT.toString()).isEqualTo("characters:4,32x5,2");
    } finally {
      Locale.setDefault(before);
    }
    for (NearRule rule : List.of(NearRule.SHORT, NearRule.LONG, NearRule.LONG.folding())) {
      assertThat(NearRule.of(rule.toString())).isEqualTo(rule);
    }
  }
}
